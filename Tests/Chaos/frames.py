"""Fuzzed messages, broken ZMTP and broken HTTP against the real router and gateway, while real jobs run."""
import asyncio
import os
import random
import socket
import struct
import sys
import threading
import time

import zmq

from client import Connection
from processes import ROOT, System, wait_until

sys.path.insert(0, str(ROOT / "Tests/conformance"))
from wire import (CALL, CANCEL, CREDIT, EVENT, EVENT_ACK, HEADER, HEARTBEAT, HELLO, MAGIC, MAY_START, NACK,  # noqa: E402
                  REGISTER, RELEASE, SUBMIT, Message, encode_job, new_id, text_id)

BATCH = 100  # messages of one connection, a tenth of them unreadable: after ten the router reads nothing from a peer
JUNK = [b"", b"\0", b"\xff", b"{}", b"[]", b"{", b'{"a":', b"[" * 20_000, b'{"n":1e999999}', b'{"n":' + b"9" * 5000 + b"}",
        b'{"a":1,"a":2}', b"\xc3\x28", b"\xed\xa0\x80", b"NaN", b"-1", b"%s%n%x" * 20, b"../" * 40, b"A" * 65535, b"A" * 65536,
        "\u202e\U0010ffff".encode(), b"\r\nid: 1\r\ndata: x\r\n\r\n"]
NUMBERS = [0, 1, 2, 255, 2**16, 2**31, 2**32 - 1]
LONG = NUMBERS + [2**32, 2**63, 2**64 - 1]


def seeds(folder):
    return [file.read_bytes() for file in sorted((ROOT / "Tests/Fuzz/Corpus" / folder).iterdir())]


class Fuzzer(threading.Thread):
    """One hostile peer after the other: each introduces itself properly, then says what nobody expects."""

    def __init__(self, endpoint, is_worker, frames, seed):
        super().__init__(daemon=True)
        self.endpoint, self.is_worker, self.wanted = endpoint, is_worker, frames
        self.random = random.Random(seed)
        self.seeds = [seed for seed in seeds("message") if len(seed) >= HEADER.size]
        self.jobs = [bytes(16)]
        self.sent = self.connections = 0
        self.over = threading.Event()

    def introduction(self):
        common = {"instance": text_id(new_id()), "host": "h", "pid": os.getpid(), "product": "fuzz"}
        if not self.is_worker:
            return Message(HELLO, common | {"gateway": f"fuzz-{self.random.getrandbits(32)}"})
        return Message(REGISTER, common | {
            "worker": "fuzz", "concurrency": 2, "held": [],
            "manifests": [{"id": "fuzzed", "description": "Is nonsense, for tests.", "timeout": 1}]}, value=2)

    def hostile(self):
        """A readable message with nonsense in it: as a rule of a type that the router acts on."""
        rng = self.random
        types = (EVENT, HEARTBEAT, CREDIT, RELEASE, CALL, NACK) if self.is_worker else (SUBMIT, CANCEL, EVENT_ACK, MAY_START)
        kind = rng.choice(types) if rng.random() < 0.8 else rng.randrange(50)
        seed = rng.choice(self.seeds)
        body = bytearray(seed[HEADER.size:])
        if kind in (SUBMIT, CALL) and rng.random() < 0.5:
            body = bytearray(encode_job("fuzzed", session="s", text="t", arguments={"n": rng.choice(NUMBERS)}))
        if rng.random() < 0.5:
            self.mutate(body)
        job = rng.choice(self.jobs) if rng.random() < 0.5 else new_id()[:14] + rng.choice((b"\0\0", b"\0\1", b"\0\x64"))
        self.jobs = (self.jobs + [job])[-200:]
        head = HEADER.pack(MAGIC, 1, kind, rng.choice((0, 0, 0, 2, 4, 8, 34, 66)), job, rng.choice(NUMBERS), rng.choice(NUMBERS),
                           rng.choice(LONG), rng.choice(LONG))
        return [head + bytes(body)]

    def broken(self):
        """Something that is no message: other flags than frames, cut, changed anywhere."""
        rng = self.random
        frames = [bytearray(rng.choice(self.seeds)) for _ in range(rng.choice((1, 1, 2, 3, 33)))]
        self.mutate(frames[0])
        if rng.random() < 0.3:
            frames[-1] = bytearray(rng.choice(JUNK))
        return [bytes(frame) for frame in frames]

    def mutate(self, frame):
        rng = self.random
        for _ in range(rng.randint(1, 4)):
            choice = rng.randrange(6)
            at = rng.randrange(len(frame)) if frame else 0
            if choice == 0 and frame:
                frame[at] ^= 1 << rng.randrange(8)
            elif choice == 1 and frame:
                del frame[at:]
            elif choice == 2:
                frame += rng.randbytes(rng.choice((1, 7, 300)))
            elif choice == 3 and len(frame) >= 8:
                at = rng.randrange(len(frame) - 7)
                frame[at:at + 8] = struct.pack("<Q", rng.choice(LONG))
            elif choice == 4:
                frame[at:at] = rng.choice(JUNK)[:300]
            elif frame:
                frame[at] = rng.randrange(256)

    def run(self):
        context = zmq.Context()
        try:
            while self.sent < self.wanted and not self.over.is_set():
                peer = context.socket(zmq.DEALER)
                peer.linger = 200
                peer.setsockopt(zmq.SNDTIMEO, 2000)
                peer.connect(self.endpoint)
                self.connections += 1
                listens = self.random.random() < 0.7
                try:
                    peer.send_multipart(self.introduction().frames())
                    for _ in range(BATCH):
                        frames = self.broken() if self.random.random() < 0.1 else self.hostile()
                        peer.send_multipart(frames)
                        self.sent += len(frames)
                    while listens and peer.poll(1):
                        # What is dispatched to it is a job that others may now talk of.
                        answer = peer.recv_multipart()
                        if len(answer[0]) >= HEADER.size:
                            self.jobs = (self.jobs + [answer[0][8:24]])[-200:]
                except zmq.ZMQError:
                    pass
                peer.close()
        finally:
            context.destroy(linger=0)


GREETING = b"\xff" + b"\0" * 8 + b"\x7f\x03\0" + b"NULL".ljust(20, b"\0") + b"\0" * 32
READY = b"\x04\x1c\x05READY\x0bSocket-Type\0\0\0\x06DEALER"
ZMTP = [GREETING[:n] for n in (0, 1, 10, 11, 12, 32, 63)] + [GREETING + READY[:n] for n in (1, 2, 10, 26)] + [
    b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03" + b"x" * 200, b"\0" * 3000, b"\xff" * 3000,
    GREETING.replace(b"NULL", b"CURV") + READY, GREETING.replace(b"\x03\0NULL", b"\x01\0NULL") + READY,
    GREETING + b"\x04\x06\x05READY" + b"\x00\x05hello", GREETING + b"\x00\x05hello",
    GREETING + READY + b"\x02" + struct.pack(">Q", 2**63) + b"few", GREETING + READY + b"\x02" + struct.pack(">Q", 2**40) + b"few",
    GREETING + READY + b"\x04\x07\x07UNKNOWN", GREETING + READY + b"\x04\x05\x04PING" * 500,
    GREETING + READY + b"\x01\x00" * 20_000 + b"\x00\x00", GREETING + READY + b"\x01\x05first"]


def http_requests(rng, address, count):
    """Broken requests, each over a connection of its own."""
    bodies = seeds("request")
    for _ in range(count):
        body = bytearray(rng.choice(bodies))
        for _ in range(rng.randint(0, 3)):
            if body:
                body[rng.randrange(len(body))] = rng.randrange(256)
        path = rng.choice((b"/v1/sessions", b"/v1/route", b"/v1/sessions/%00/requests", b"/v1/sessions/" + b"a" * 9000,
                           b"/v1/jobs?after=-1&limit=x", b"/../etc/passwd", b"/v1/sessions/x/events", b"/\xff\xfe"))
        length = rng.choice((len(body), len(body), len(body) + 5, 2**63, -1))
        request = bytearray(b"%s %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % (
            rng.choice((b"POST", b"POST", b"GET", b"DELETE", b"PUT", b"X" * 300)), path, b"%s:%d" % (
                address[0].encode(), address[1]), length))
        if rng.random() < 0.3:
            request[rng.randrange(len(request))] = rng.randrange(256)
        raw_bytes(address, bytes(request + body))


def raw_bytes(address, data, linger=0.002):
    with socket.socket() as connection:
        connection.settimeout(2)
        try:
            connection.connect(address)
            connection.sendall(data)
            connection.settimeout(linger)
            connection.recv(4096)
        except OSError:
            pass


async def real_job(system, number):
    """A job of a user: the seconds that it took. Raises what went wrong."""
    connection = Connection(system.url)
    begin = time.monotonic()
    try:
        session = (await connection.call("POST", "/v1/sessions", {}))["id"]
        await connection.call("POST", f"/v1/sessions/{session}/requests", {"skill": "calculator", "text": f"{number} * 2"})
        while time.monotonic() < begin + 20:
            snapshot = await connection.call("GET", f"/v1/sessions/{session}")
            answers = [message["text"] for message in snapshot["messages"] if message["role"] == "assistant"]
            if answers:
                if str(number * 2) not in answers[0].replace(",", ""):
                    raise OSError(f"{number} * 2 is {answers[0]!r}")
                return time.monotonic() - begin
            await asyncio.sleep(0.02)
        raise OSError("no answer in 20 s")
    finally:
        await connection.close()


# libzmq 4.3.4 never frees some 34 KB of a connection that ends while messages of it are unread (docs/reliability.md), which
# here are most. What the programs themselves may grow by is beside that.
LEAK_MiB = 40 / 1024
GROWTH_MiB = 64


async def run(folder, programs, count=1_000_000, seed=1):
    system = System(folder, programs, [("calculator", 1, None)])
    fuzzers = [Fuzzer(f"tcp://127.0.0.1:{port}", is_worker, count // 2, f"{seed}/{port == system.backend}")
               for port, is_worker in ((system.frontend, False), (system.backend, True))]
    rng, problems, times = random.Random(f"{seed}/raw"), [], []
    try:
        await real_job(system, 0)
        for fuzzer in fuzzers:
            fuzzer.start()
        begin = time.monotonic()
        warm, raw, requests = None, 0, 0
        while any(fuzzer.is_alive() for fuzzer in fuzzers) and not problems:
            for port in (system.frontend, system.backend):
                await asyncio.to_thread(raw_bytes, ("127.0.0.1", port), rng.choice(ZMTP))
                raw += 1
            await asyncio.to_thread(http_requests, rng, system.url, 5)
            requests += 5
            if warm is None and sum(fuzzer.sent for fuzzer in fuzzers) > count / 10:
                warm = system.router.resident(), system.gateway.resident()
            if time.monotonic() - begin > 2 * (len(times) + 1):
                try:
                    times.append(await real_job(system, len(times) + 1))
                except Exception as error:  # noqa: BLE001 - whatever it is, the system did not serve
                    problems.append(f"a real job failed: {error!r}")
            problems += [f"ended by itself: {name}: {codes}" for name, codes in system.unasked_ends().items()]
        took = time.monotonic() - begin
        # Connections of those that vanished are closed within the heartbeat's time-out.
        wait_until(lambda: (system.router.descriptors() or 0) < 60, 15)
        try:
            times.append(await real_job(system, len(times) + 1))
        except OSError as error:
            problems.append(f"a real job failed after all: {error}")
        rows = {"frames": sum(fuzzer.sent for fuzzer in fuzzers), "connections": sum(fuzzer.connections for fuzzer in fuzzers),
                "broken_zmtp": raw, "broken_http": requests, "seconds": round(took, 1), "real_jobs": len(times),
                "slowest_real_job_s": max(times, default=None),
                "router_MiB": system.router.resident(), "gateway_MiB": system.gateway.resident(),
                "router_descriptors": system.router.descriptors()}
        for name, before, after in zip(("router", "gateway"), warm or (None, None), (rows["router_MiB"], rows["gateway_MiB"])):
            allowed = GROWTH_MiB + LEAK_MiB * rows["connections"] * (name == "router")
            if before is None or after is None or after - before > allowed:
                problems.append(f"the {name} grew from {before} to {after} MiB")
        problems += [f"ended by itself: {name}: {codes}" for name, codes in system.unasked_ends().items()]
        return rows, problems
    finally:
        for fuzzer in fuzzers:
            fuzzer.over.set()
        for fuzzer in fuzzers:
            if fuzzer.ident:
                fuzzer.join(10)
        system.close()
