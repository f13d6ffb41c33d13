#!/usr/bin/env python3
"""The fault catalogue: each fault is made for real, and what came of it is measured.

  faults.py [--only N,N] [--markdown]

Prints one line a fault: its number, the fault, what was measured, and whether that is what is promised. With --markdown
it is the table of docs/reliability.md.
"""
import argparse
import asyncio
import contextlib
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid

import zmq

from checks import check_fences, check_ledger, check_session
from client import TERMINAL, Connection, Follower, Refused, events
from processes import ROOT, System, free_port, wait_until

FAULTS = []


def fault(number, text):
    def register(function):
        FAULTS.append((number, text, function))
        return function
    return register


class Broken(Exception):
    """Not what is promised."""


def require(condition, sentence):
    if not condition:
        raise Broken(sentence)


class User:
    """A session that is followed."""

    def __init__(self, system):
        self.system, self.connection, self.accepted = system, Connection(system.url), []

    async def __aenter__(self):
        self.id = (await self.connection.call("POST", "/v1/sessions", {}))["id"]
        self.follower = Follower(self.system.url, self.id)
        return self

    async def __aexit__(self, *_):
        await self.follower.close()
        await self.connection.close()

    async def ask(self, skill="tokens", text="t", within=10, **arguments):
        body = {"skill": skill, "text": text} | ({"arguments": arguments} if arguments else {})
        key = {"Idempotency-Key": uuid.uuid4().hex}
        for _ in range(100):
            # Where no answer came, the request may have been taken: by the same key it is taken once.
            try:
                answer = await self.connection.call("POST", f"/v1/sessions/{self.id}/requests", body, key, within)
                self.accepted.append(answer["id"])
                return answer["id"]
            except OSError:
                await asyncio.sleep(0.1)
        raise Broken("a request is not answered")

    def ends(self):
        return {event["request"]: event for _, event in self.follower.seen if event["type"] in TERMINAL}

    def of(self, kind):
        return [event for _, event in self.follower.seen if event["type"] == kind]

    async def until(self, condition, within=15, what="it"):
        require(await self.follower.until(condition, within), f"{what} did not happen in {within} s")

    async def all_ended(self, within=30):
        await self.until(lambda: len(self.ends()) == len(self.accepted), within, "the end of every request")
        found, details = check_session(self.id, self.follower.seen, self.accepted, "")
        require(not details, "; ".join(details[:3]))
        fences = check_fences(self.system.state / "sessions.db")
        require(not fences, "; ".join(fences[:3]))
        return [self.ends()[request]["type"].removeprefix("request.") for request in self.accepted]


@contextlib.contextmanager
def running(folder, programs, *workers, **options):
    system = System(folder, programs, workers or [("tokens", 2, 16)], **options)
    try:
        yield system
        require(not system.unasked_ends(), f"ended by itself: {system.unasked_ends()}")
    finally:
        system.close()


def process(system, name):
    return next(one for one in system.processes if one.name == name)


def restart(one):
    one.process.wait()
    one.start()


def all_finished(outcomes):
    require(set(outcomes) == {"finished"}, f"not all finished: {outcomes}")


@fault(1, "kill -9 of a worker that has a job and has said nothing of it")
async def killed_before_accepted(folder, programs):
    with running(folder, programs, ("tokens", 1, 4)) as system:
        async with User(system) as user:
            system.processes[-1].signal(signal.SIGSTOP)
            await user.ask(count=1, milliseconds=10)
            await asyncio.sleep(0.3)
            system.add_worker("tokens", 1, 4)
            wait_until(lambda: len(system.workers().get("tokens", [])) == 2)
            begin = time.monotonic()
            process(system, "tokens-0").signal(signal.SIGKILL)
            all_finished(await user.all_ended())
            require(not user.of("job.retrying"), "it cost an attempt")
            return f"ran elsewhere and ended after {time.monotonic() - begin:.1f} s, no attempt spent"


@fault(3, "kill -9 of a worker after its job has finished, before that is acknowledged")
async def killed_before_acknowledged(folder, programs):
    with running(folder, programs, ("tokens", 2, 4)) as system:
        async with User(system) as user:
            await user.ask(count=2, milliseconds=600)
            await user.until(lambda: user.of("job.started"))
            name = user.of("job.started")[0]["data"]["worker"]
            system.gateway.signal(signal.SIGSTOP)
            await asyncio.sleep(1.0)
            process(system, name).signal(signal.SIGKILL)
            await asyncio.sleep(0.3)
            system.gateway.signal(signal.SIGCONT)
            all_finished(await user.all_ended())
            starts = len(user.of("job.started"))
            require(starts == 1, f"{starts} starts")
            return "stored once, not run again"


@fault(4, "kill -9 of the router with 50 running jobs, three times")
async def router_killed(folder, programs):
    with running(folder, programs, ("tokens", 2, 32), ("ledger", 1, 16)) as system:
        async with User(system) as user:
            delays = []
            for _ in range(3):
                before = len(user.accepted)
                # With this one 50, which is as many as a session may have open.
                for _ in range(49):
                    await user.ask(count=5, milliseconds=1500)
                await user.ask("ledger")
                jobs = set(user.accepted[before:])
                await user.until(lambda: jobs <= {event["request"] for event in user.of("job.started")},
                                 what="the start of 50 jobs")
                system.router.signal(signal.SIGKILL)
                restart(system.router)
                begin, seen = time.monotonic(), len(user.follower.seen)
                await user.until(lambda: len(user.follower.seen) > seen, 20, "an event after the restart")
                delays.append(time.monotonic() - begin)
                await user.until(lambda: len(user.ends()) == len(user.accepted), 40, "the end of every request")
            outcomes = await user.all_ended()
            _, twice = check_ledger(system.ledger)
            require(not twice, "; ".join(twice))
            again = len(user.of("job.started")) - len(outcomes)
            require(again <= 0, f"{again} attempts begun again")
            return (f"{len(outcomes)} accepted, all ended: {outcomes.count('finished')} finished, {outcomes.count('failed')} "
                    f"outcome_unknown (not idempotent); none begun again; next event at most "
                    f"{max(delays):.1f} s after the restart")


@fault(7, "kill -9 of the gateway in mid-stream; the client resumes")
async def gateway_killed(folder, programs):
    with running(folder, programs) as system:
        async with User(system) as user:
            for _ in range(10):
                await user.ask(count=20, milliseconds=3000)
            for _ in range(3):
                await asyncio.sleep(0.7)
                system.gateway.signal(signal.SIGKILL)
                restart(system.gateway)
                await asyncio.sleep(0.5)
            all_finished(await user.all_ended())
            starts = len(user.of("job.started"))
            return f"{user.follower.connections} connections, no gap and no repetition; {starts} starts of 10 jobs"


@fault(8, "kill -9 of everything at once, five times")
async def everything_killed(folder, programs):
    with running(folder, programs, ("tokens", 2, 16), ("ledger", 1, 16)) as system:
        async with User(system) as user:
            for _ in range(5):
                for _ in range(4):
                    await user.ask(count=4, milliseconds=400)
                await user.ask("ledger")
                await asyncio.sleep(0.3)
                for one in system.processes:
                    one.signal(signal.SIGKILL)
                for one in system.processes:
                    restart(one)
                require(wait_until(system.is_ready, 20), "not ready again")
            outcomes = await user.all_ended(60)
            _, twice = check_ledger(system.ledger)
            require(not twice, "; ".join(twice))
            return (f"{len(outcomes)} accepted, {outcomes.count('finished')} finished, {outcomes.count('failed')} "
                    "outcome_unknown; none lost")


@fault(9, "SIGSTOP of a worker for 8 s, then SIGCONT")
async def worker_stopped(folder, programs):
    with running(folder, programs) as system:
        async with User(system) as user:
            await user.ask(count=40, milliseconds=6000)
            await user.until(lambda: user.of("job.started"))
            victim = process(system, user.of("job.started")[0]["data"]["worker"])
            victim.signal(signal.SIGSTOP)
            begin = time.monotonic()
            await user.until(lambda: len(user.of("job.started")) == 2, 10, "a second start")
            moved = time.monotonic() - begin
            require(moved <= 5, f"moved after {moved:.1f} s")
            await asyncio.sleep(8 - moved)
            victim.signal(signal.SIGCONT)
            all_finished(await user.all_ended())
            require(wait_until(lambda: all(worker["busy"] == 0 for worker in system.workers().get("tokens", [])), 3),
                    "the fenced attempt goes on")
            return f"moved after {moved:.1f} s; nothing of the old attempt afterwards"


@fault(13, "SIGTERM of a worker with three running jobs")
async def worker_terminated(folder, programs):
    with running(folder, programs, ("tokens", 1, 4)) as system:
        async with User(system) as user:
            for _ in range(3):
                await user.ask(count=10, milliseconds=1500)
            await user.until(lambda: len(user.of("job.started")) == 3)
            worker, begin = system.processes[-1], time.monotonic()
            worker.signal(signal.SIGTERM)
            all_finished(await user.all_ended())
            code = worker.process.wait(20)
            require(code == 0, f"exit code {code}")
            return f"all finished where they ran; exit 0 after {time.monotonic() - begin:.1f} s"


@fault(14, "SIGTERM of every process, one after the other, under load")
async def rolling_restart(folder, programs):
    with running(folder, programs, ("tokens", 2, 16), ("keywords", 2, None)) as system:
        async with User(system) as user:
            over = asyncio.Event()
            waits = []

            async def load():
                number = 0
                while not over.is_set():
                    number += 1
                    begin = time.monotonic()
                    while True:
                        try:
                            await user.ask(*(("keywords", "gardens need water") if number % 3 == 0 else ("tokens", "t")))
                            break
                        except (OSError, Refused):
                            await asyncio.sleep(0.05)
                    waits.append(time.monotonic() - begin)
                    await asyncio.sleep(0.05)

            loading = asyncio.create_task(load())
            codes = []
            for one in reversed(system.processes):
                await asyncio.sleep(0.5)
                one.signal(signal.SIGTERM)
                codes.append(await asyncio.to_thread(one.process.wait, 60))
                one.start()
                await asyncio.sleep(0.5)
            over.set()
            await loading
            outcomes = await user.all_ended(60)
            require(set(codes) == {0}, f"exit codes {codes}")
            all_finished(outcomes)
            return f"{len(outcomes)} requests, all finished; every exit 0; longest wait for a 202 {max(waits):.1f} s"


@fault(15, "SIGTERM of a worker whose job never ends")
async def hanging_worker_terminated(folder, programs):
    with running(folder, programs, ("tokens", 1, 4)) as system:
        system.add_worker("hang", 0, None, ("--drain", 2))
        require(wait_until(lambda: "hang" in system.skills()), "not ready")
        async with User(system) as user:
            await user.ask("hang")
            await user.until(lambda: user.of("job.started"))
            worker, begin = process(system, "hang-0"), time.monotonic()
            worker.signal(signal.SIGTERM)
            code = await asyncio.to_thread(worker.process.wait, 30)
            took = time.monotonic() - begin
            outcomes = await user.all_ended(40)
            return f"exit {code} after {took:.1f} s with a limit of 2 s; the request ended {outcomes[0]}"


@fault(16, "partition of all workers from the router for 8 s")
async def workers_partitioned(folder, programs):
    with running(folder, programs, ("tokens", 2, 16), ("ledger", 1, 4), is_proxied=True) as system:
        async with User(system) as user:
            for _ in range(5):
                await user.ask(count=20, milliseconds=4000)
            await user.until(lambda: len(user.of("job.started")) == 5)
            system.back_proxy.mode = "blackhole"
            await asyncio.sleep(8)
            system.back_proxy.mode = "pass"
            outcomes = await user.all_ended(60)
            again = len(user.of("job.started")) - 5
            all_finished(outcomes)
            return f"{outcomes.count('finished')} of 5 finished, {again} attempts begun anew, one end each"


@fault(18, "partition of the gateway from the router for 15 s")
async def gateway_partitioned(folder, programs):
    with running(folder, programs, is_proxied=True) as system:
        async with User(system) as user:
            for _ in range(5):
                await user.ask(count=20, milliseconds=4000)
            await user.until(lambda: len(user.of("job.started")) == 5)
            system.front_proxy.mode = "blackhole"
            await asyncio.sleep(15)
            system.front_proxy.mode, begin = "pass", time.monotonic()
            all_finished(await user.all_ended(60))
            return f"all finished {time.monotonic() - begin:.1f} s after it healed, one end each"


@fault(19, "200 ms on every packet of the bus")
async def slow_network(folder, programs):
    with running(folder, programs, is_proxied=True) as system:
        async with User(system) as user:
            system.front_proxy.delay = system.back_proxy.delay = 0.2
            begin = time.monotonic()
            for _ in range(5):
                await user.ask(count=5, milliseconds=500)
            all_finished(await user.all_ended(60))
            require(not user.of("job.retrying"), "taken for dead")
            return f"slower ({time.monotonic() - begin:.1f} s for half a second of work), nobody taken for dead"


@fault(20, "half-open connection: a worker's packets vanish")
async def half_open(folder, programs):
    with running(folder, programs, ("tokens", 1, 4), is_proxied=True) as system:
        system.back_proxy.mode = "blackhole"
        begin = time.monotonic()
        gone = await asyncio.to_thread(wait_until, lambda: not system.workers().get("tokens", [1]), 10)
        require(gone, "not noticed in 10 s")
        noticed = time.monotonic() - begin
        system.back_proxy.mode, begin = "pass", time.monotonic()
        back = await asyncio.to_thread(wait_until, lambda: system.workers().get("tokens"), 10)
        require(back and noticed <= 5, f"noticed after {noticed:.1f} s, back: {bool(back)}")
        return f"noticed after {noticed:.1f} s, back {time.monotonic() - begin:.1f} s after it healed"


@fault(21, "connections reset after every few bytes")
async def cut_connections(folder, programs):
    with running(folder, programs, is_proxied=True) as system:
        async with User(system) as user:
            for cut in (150, 400, 1000, 2500):
                system.back_proxy.cut = system.front_proxy.cut = cut
                system.back_proxy.reset()
                system.front_proxy.reset()
                for _ in range(3):
                    await user.ask(count=5, milliseconds=200)
                await asyncio.sleep(1.5)
            system.back_proxy.cut = system.front_proxy.cut = None
            system.back_proxy.reset()
            system.front_proxy.reset()
            outcomes = await user.all_ended(60)
            codes = sorted({event["data"]["error"]["code"] for event in user.of("request.failed")})
            return (f"{len(outcomes)} requests, {outcomes.count('finished')} finished, one end each"
                    + (f"; the others: {', '.join(codes)}" if codes else ""))


@fault(24, "two workers of one name")
async def same_name(folder, programs):
    with running(folder, programs, ("tokens", 1, 4)) as system:
        system.add_worker("tokens", 0, 4)
        require(wait_until(lambda: len(system.workers().get("tokens", [])) == 2), "the second one is not there")
        async with User(system) as user:
            for _ in range(8):
                await user.ask(count=2, milliseconds=400)
            all_finished(await user.all_ended())
        return "both work, as instances of their own"


@fault(28, "an output of 40 MB, and 100,000 events at once")
async def bursts(folder, programs):
    with running(folder, programs, ("tokens", 1, 4), ("burst", 1, None)) as system:
        async with User(system) as user:
            await user.ask("burst", bytes=40_000_000)
            await user.all_ended(40)
            code = user.of("request.failed")[0]["data"]["error"]["code"] if user.of("request.failed") else "none"
            require(code == "output_too_large", f"code {code}")
            await user.ask("burst", events=100_000)
            async with User(system) as other:
                begin = time.monotonic()
                await other.ask(count=1, milliseconds=10)
                all_finished(await other.all_ended())
                beside = time.monotonic() - begin
            await user.all_ended(60)
            end = user.ends()[user.accepted[1]]["type"].removeprefix("request.")
            return f"output_too_large; the burst {end}; another's job beside it took {beside:.2f} s"


@fault(30, "disk full")
async def disk_full(folder, programs):
    if os.geteuid() != 0:
        return None
    state = pathlib.Path(folder) / "disk"
    state.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", state], capture_output=True).returncode != 0:
        return None
    try:
        with running(folder, programs, state=state) as system:
            async with User(system) as user:
                await user.ask(count=1, milliseconds=10)
                await user.all_ended()
                with open(state / "filler", "wb") as filler:
                    with contextlib.suppress(OSError):
                        while True:
                            filler.write(b"\0" * 65536)
                            filler.flush()
                status, words = 202, b""
                for _ in range(200):
                    try:
                        await user.ask(text="x" * 5000, count=1, milliseconds=1)
                    except Refused as refusal:
                        status, words = refusal.status, refusal.body
                        break
                require(status == 503, f"status {status}, not 503")
                os.unlink(state / "filler")
                begin = time.monotonic()
                while True:
                    try:
                        await user.ask(count=1, milliseconds=10)
                        break
                    except (Refused, OSError):
                        require(time.monotonic() < begin + 20, "does not heal in 20 s")
                        await asyncio.sleep(0.2)
                healed = time.monotonic() - begin
                await user.all_ended(30)
                return f"503 ({words.decode(errors='replace')[:90]}...), healed {healed:.1f} s after there was space again"
    finally:
        subprocess.run(["umount", state], capture_output=True)


@fault(31, "the store locked by another program for 8 s")
async def store_locked(folder, programs):
    with running(folder, programs) as system:
        async with User(system) as user:
            await user.ask(count=1, milliseconds=10)
            await user.all_ended()
            with contextlib.closing(sqlite3.connect(system.state / "sessions.db", isolation_level=None)) as other:
                other.execute("BEGIN EXCLUSIVE")
                begin, status = time.monotonic(), None
                try:
                    await user.ask(count=1, milliseconds=10, within=20)
                except Refused as refusal:
                    status = refusal.status
                waited = time.monotonic() - begin
                await asyncio.sleep(max(0, 8 - waited))
                other.execute("ROLLBACK")
            await user.ask(count=1, milliseconds=10)
            all_finished(await user.all_ended())
            require(status == 503, f"status {status}")
            return f"503 after {waited:.1f} s of waiting, and served again at once"


@fault(34, "a client that leaves and resumes 50 times in mid-stream")
async def resumes(folder, programs):
    with running(folder, programs) as system:
        async with User(system) as user:
            await user.ask(count=100, milliseconds=3000)
            seen, last = [], 0
            for number in range(50):
                async for event in events(system.url, user.id, last):
                    seen.append(event)
                    last = event[0]
                    if len(seen) >= 2 * number + 2 or event[1]["type"] in TERMINAL:
                        break
            await user.all_ended()
            require(seen == user.follower.seen[:len(seen)], "another sequence")
            return f"{len(seen)} events over 50 connections, the same sequence"


@fault(35, "Last-Event-ID: 0, huge, negative, text, of another session")
async def odd_event_ids(folder, programs):
    with running(folder, programs) as system:
        async with User(system) as user:
            await user.ask(count=2, milliseconds=10)
            await user.all_ended()
            found = []
            for value in ("0", "99999999", "-1", "abc", "01"):
                reader, writer = await asyncio.open_connection(*system.url)
                writer.write(f"GET /v1/sessions/{user.id}/events HTTP/1.1\r\nHost: 127.0.0.1:{system.http}\r\n"
                             f"Last-Event-ID: {value}\r\n\r\n".encode())
                status = int((await asyncio.wait_for(reader.readline(), 5)).split()[1])
                text = b""
                with contextlib.suppress(asyncio.TimeoutError):
                    while b"event: " not in text and status == 200:
                        text += await asyncio.wait_for(reader.read(65536), 2)
                kind = text.split(b"event: ")[1].split(b"\n")[0].decode() if b"event: " in text else ""
                found.append(f"{value}: {status} {kind}".strip())
                writer.close()
            require(found[0] == "0: 200 request.accepted" and found[1] == "99999999: 200 gap" and
                    all(" 400" in one for one in found[2:4]), "; ".join(found))
            return "; ".join(found)


@fault(38, "cancel before dispatch, and racing the end, 200 times")
async def cancels(folder, programs):
    with running(folder, programs, ("tokens", 1, 8)) as system:
        async with User(system) as user:
            for number in range(200):
                request = await user.ask(count=1, milliseconds=number % 20)
                await asyncio.sleep((number % 7) * 0.004)
                await user.connection.call("DELETE", f"/v1/sessions/{user.id}/requests/{request}")
            outcomes = await user.all_ended(40)
            system.processes[-1].signal(signal.SIGSTOP)
            request = await user.ask(count=1, milliseconds=10)
            await asyncio.sleep(0.2)
            begin = time.monotonic()
            await user.connection.call("DELETE", f"/v1/sessions/{user.id}/requests/{request}")
            await user.until(lambda: request in user.ends(), 20, "the end of a cancelled request whose worker is stopped")
            took = time.monotonic() - begin
            system.processes[-1].signal(signal.SIGCONT)
            return (f"{outcomes.count('cancelled')} cancelled, {outcomes.count('finished')} finished, one end each; "
                    f"with a stopped worker cancelled after {took:.1f} s")


@fault(40, "64 descriptors for the gateway, 200 connections")
async def few_descriptors(folder, programs):
    import resource
    import socket
    with running(folder, programs) as system:
        async with User(system) as user:
            resource.prlimit(system.gateway.pid, resource.RLIMIT_NOFILE, (64, 64))
            await user.ask(count=20, milliseconds=2000)
            others = []
            for _ in range(200):
                other = socket.socket()
                other.settimeout(1)
                with contextlib.suppress(OSError):
                    other.connect(system.url)
                others.append(other)

            def ticks():
                return sum(map(int, pathlib.Path(f"/proc/{system.gateway.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]))

            before = ticks()
            await asyncio.sleep(2)
            share = (ticks() - before) / os.sysconf("SC_CLK_TCK") / 2
            for other in others:
                other.close()
            all_finished(await user.all_ended())
            require(await asyncio.to_thread(wait_until, system.is_ready, 10), "does not heal")
            require(share < 0.9, f"{share:.0%} of a processor meanwhile")
            return f"the stream that was open went on, healed after; {share:.0%} of a processor meanwhile"


@fault(43, "2,000 requests from one session while another sends five")
async def greedy_session(folder, programs):
    with running(folder, programs, ("tokens", 1, 4)) as system:
        async with User(system) as greedy, User(system) as modest:
            statuses = {}

            async def flood():
                for _ in range(2000):
                    try:
                        await greedy.ask(count=1, milliseconds=100)
                    except Refused as refusal:
                        statuses[refusal.status] = statuses.get(refusal.status, 0) + 1

            flooding = asyncio.create_task(flood())
            await asyncio.sleep(0.5)
            begin = time.monotonic()
            for _ in range(5):
                await modest.ask(count=1, milliseconds=100)
            await modest.until(lambda: modest.ends(), 30, "the first end of the other session")
            first = time.monotonic() - begin
            await modest.all_ended(60)
            whole = time.monotonic() - begin
            flooding.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await flooding
            return f"refused {statuses}; the other's first job ended after {first:.1f} s, all five after {whole:.1f} s"


@fault(44, "ports taken, state folder not writable")
async def cannot_start(folder, programs):
    found = []
    with running(folder, programs) as system:
        for name, command in (
                ("http port", [programs / "skillbus-gateway", "--http", f"127.0.0.1:{system.http}", "--state", folder / "other"]),
                ("state folder in use", [*system.gateway_command()[:1], "--http", "127.0.0.1:0", "--state", system.state]),
                ("bus port", [programs / "skillbus-router", "--frontend", f"tcp://127.0.0.1:{system.frontend}",
                              "--backend", f"tcp://127.0.0.1:{free_port()}"]),
                ("state folder", [programs / "skillbus-gateway", "--http", "127.0.0.1:0", "--state", "/proc/none"])):
            result = await asyncio.to_thread(subprocess.run, list(map(str, command)), capture_output=True, text=True,
                                             timeout=20, stdin=subprocess.DEVNULL)
            lines = [line for line in result.stderr.splitlines() if not line.startswith("{")]
            require(result.returncode != 0 and lines, f"{name}: exit {result.returncode}, {result.stderr[:200]!r}")
            found.append(f"{name}: exit {result.returncode}")
    return "; ".join(found) + ", each with a line that names it"


@fault(46, "the acknowledgements' way is cut for 3 s after a job has finished")
async def acknowledgements_cut(folder, programs):
    with running(folder, programs, ("tokens", 1, 4), is_proxied=True) as system:
        async with User(system) as user:
            await user.ask(count=2, milliseconds=500)
            await user.until(lambda: user.of("job.started"))
            system.back_proxy.mode = "up"
            await user.until(lambda: user.of("request.finished"))
            await asyncio.sleep(3)
            system.back_proxy.mode = "pass"
            await user.ask(count=2, milliseconds=100)
            all_finished(await user.all_ended())
            require(len(user.of("job.finished")) == 2, "stored twice")
            return "sent again, stored once"


@fault(48, "a peer of another protocol version")
async def other_version(folder, programs):
    sys.path.insert(0, str(ROOT / "Tests/conformance"))
    from wire import HELLO, Message
    with running(folder, programs) as system:
        context = zmq.Context()
        try:
            peer = context.socket(zmq.DEALER)
            peer.linger = 0
            peer.connect(f"tcp://127.0.0.1:{system.frontend}")
            head = bytearray(Message(HELLO, {}).frames()[0])
            head[4] = 9
            peer.send(bytes(head))
            require(peer.poll(3000), "no answer")
            error = Message.parse(peer.recv_multipart()).json
            require(error["code"] == "unsupported_version", str(error))
            peer.close()
            return f"{error['code']}: {error['message']}"
        finally:
            context.destroy(linger=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="numbers with commas between")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    programs = pathlib.Path(os.environ.get("SKILLBUS_BIN") or ROOT / ".build/release")
    wanted = {int(number) for number in options.only.split(",")} if options.only else None
    top = pathlib.Path(tempfile.mkdtemp(prefix="skillbus-faults-"))
    failed = False
    if options.markdown:
        print("| # | fault | measured | |\n|---|---|---|---|", flush=True)
    for number, text, function in FAULTS:
        if wanted and number not in wanted:
            continue
        folder = top / str(number)
        folder.mkdir()
        try:
            outcome, verdict = asyncio.run(function(folder, programs)), "ok"
            if outcome is None:
                outcome, verdict = "not tried: it needs root", "-"
        except (Broken, OSError, RuntimeError, Refused, asyncio.TimeoutError, subprocess.TimeoutExpired) as error:
            outcome, verdict, failed = f"{error}", "**no**", True
        print(f"| {number} | {text} | {outcome} | {verdict} |" if options.markdown
              else f"{verdict.strip('*'):3} {number:3} {text}\n        {outcome}", flush=True)
    if failed:
        print(f"logs: {top}", file=sys.stderr)
    else:
        shutil.rmtree(top, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
