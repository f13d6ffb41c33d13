"""What clients do."""
import asyncio
import contextlib
import os
import pathlib
import signal
import time

from client import TERMINAL, Refused, events
from processes import wait_until

from .case import all_finished, fault, require, running, User


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
