"""Thousands of event streams, some of which read nothing: what the others notice of those, and the gateway's memory."""
import asyncio
import datetime
import re
import resource
import selectors
import socket
import time

from checks import percentile
from client import Connection
from processes import System

TIME = re.compile(rb'"time":"([^"]+)"')


def open_streams(address, session, count, small_buffer=False):
    """Sockets that have asked for the events of a session, and read nothing yet."""
    streams = []
    for _ in range(count):
        stream = socket.socket()
        if small_buffer:
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stream.connect(address)
        stream.sendall(f"GET /v1/sessions/{session}/events HTTP/1.1\r\nHost: {address[0]}:{address[1]}\r\n\r\n".encode())
        streams.append(stream)
    return streams


def read_all(streams, until):
    """Reads what comes until a time; the seconds between an event's time and its reading, and how many ended."""
    delays, ended = [], 0
    with selectors.DefaultSelector() as selector:
        for stream in streams:
            stream.setblocking(False)
            selector.register(stream, selectors.EVENT_READ)
        offset = time.time() - time.monotonic()
        stamps = {}
        while (rest := until - time.monotonic()) > 0:
            for key, _ in selector.select(min(rest, 0.5)):
                try:
                    data = key.fileobj.recv(1 << 16)
                except BlockingIOError:
                    continue
                now = time.monotonic() + offset
                if not data:
                    ended += 1
                    selector.unregister(key.fileobj)
                for stamp in TIME.findall(data):
                    if stamp not in stamps:
                        stamps[stamp] = datetime.datetime.fromisoformat(stamp.decode().replace("Z", "+00:00")).timestamp()
                    delays.append(now - stamps[stamp])
    return delays, ended


async def measure(system, count, stalled, seconds):
    """Followers of one session, in which a job streams all the time."""
    connection = Connection(system.url)
    session = (await connection.call("POST", "/v1/sessions", {}))["id"]
    dead = open_streams(system.url, session, stalled, small_buffer=True)
    live = open_streams(system.url, session, count - stalled)
    try:
        await asyncio.to_thread(read_all, live, time.monotonic() + 2)
        # Long pieces, so that what a client does not read fills the buffers of the kernel and stays with the gateway.
        until = time.monotonic() + seconds
        await connection.call("POST", f"/v1/sessions/{session}/requests", {
            "skill": "tokens", "text": "x" * 2000,
            "arguments": {"count": seconds * 2, "milliseconds": (seconds - 1) * 1000}})
        delays, ended = await asyncio.to_thread(read_all, live, until)
        return delays, ended, system.gateway.resident()
    finally:
        for stream in dead + live:
            stream.close()
        await connection.close()


async def run(folder, programs, count=2000, share=0.05, seconds=8):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, count + 500)), hard))
    system = System(folder, programs, [("tokens", 1, 16)], streams=count + 100)
    try:
        problems = []
        before, ended, _ = await measure(system, count, 0, seconds)
        with_stalled, ended_too, memory = await measure(system, count, int(count * share), seconds)
        rows = {"followers": count, "stalled": int(count * share), "events": len(with_stalled),
                "p99_none_stalled_s": percentile(before, 0.99), "p99_of_the_others_s": percentile(with_stalled, 0.99),
                "gateway_MiB": memory}
        least = (count - rows["stalled"]) * seconds
        if len(with_stalled) < least:
            problems.append(f"{len(with_stalled)} events came, {least} are the least")
        if ended or ended_too:
            problems.append(f"{ended} and {ended_too} streams ended")
        # On two busy processors 99 of 100 of some milliseconds are chance.
        if before and with_stalled and rows["p99_of_the_others_s"] > max(2 * rows["p99_none_stalled_s"], 0.05):
            problems.append(f"p99 of the others is {rows['p99_of_the_others_s']:.3f} s beside stalled ones, "
                            f"{rows['p99_none_stalled_s']:.3f} s without")
        if memory is None or memory > 300:
            problems.append(f"the gateway has {memory} MiB, the promise is 300")
        problems += [f"ended by itself: {name}: {codes}" for name, codes in system.unasked_ends().items()]
        return rows, problems
    finally:
        system.close()
