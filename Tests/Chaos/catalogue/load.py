"""Much at once, and other things that processes must stand."""
import asyncio
import collections
import contextlib
import os
import pathlib
import resource
import socket
import struct
import time

from client import Refused
from frames import GREETING, READY
from processes import wait_until

from .case import NotTried, User, all_finished, fault, require, restart, running


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


def endless_message(port, megabytes):
    """Sends one message of parts without end, as a peer that was let in can: what libzmq keeps until its last part."""
    part = b"\x03" + struct.pack(">Q", 60_000) + bytes(60_000)
    sent = 0
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=20) as peer:
        # Step by step: what comes before the other side is ready for it ends the connection.
        for step in (GREETING, READY):
            peer.sendall(step)
            peer.recv(4096)
        while sent < megabytes * 1_000_000:
            peer.sendall(part * 4)
            sent += 4 * 60_000
    return sent / 1e6


@fault(29, "one message of endless parts, from a peer that was let in; 512 MB for the router")
async def endless_parts(folder, programs):
    with running(folder, programs, ("tokens", 1, 4)) as system:
        # Whoever asks for more gets none, and libzmq ends the process.
        resource.prlimit(system.router.pid, resource.RLIMIT_DATA, (512 << 20, 512 << 20))
        async with User(system) as user:
            for _ in range(3):
                await user.ask(count=4, milliseconds=3000)
            await user.until(lambda: len(user.of("job.started")) == 3)
            system.router.is_expected = True
            sent = await asyncio.to_thread(endless_message, system.frontend, 1000)
            ended = wait_until(lambda: not system.router.is_alive(), 3 if sent < 1000 else 0)
            if ended:
                restart(system.router)
            all_finished(await user.all_ended(40))
            require(len(user.of("job.started")) == 3, "something began anew")
            how = "the router ended and was started again" if ended else "the router stood it"
            return f"after {sent:.0f} MB {how}; all finished where they ran"


def limit_memory(process, bytes):
    """Limits a process's memory by a control group of its own: how to take that back."""
    group = pathlib.Path(f"/sys/fs/cgroup/memory/skillbus-{process.pid}")
    if os.geteuid() != 0 or not group.parent.is_dir():
        raise NotTried("it needs root and memory control groups (v1)")
    try:
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text(str(bytes))
        (group / "cgroup.procs").write_text(str(process.pid))
    except OSError as error:
        with contextlib.suppress(OSError):
            group.rmdir()
        raise NotTried(f"memory control groups cannot be used here: {error}") from None
    return group


@fault(39, "256 MB for the router, and files of 3 MB as fast as they are taken")
async def little_memory(folder, programs):
    with running(folder, programs, ("tokens", 1, 2)) as system:
        group = limit_memory(system.router, 256 << 20)
        try:
            outcomes, largest = collections.Counter(), 0
            async with contextlib.AsyncExitStack() as stack:
                users = [await stack.enter_async_context(User(system)) for _ in range(6)]

                async def flood(user):
                    for _ in range(6):
                        try:
                            await user.ask(file=b"x" * 3_000_000, within=60, count=1, milliseconds=500)
                        except Refused as refusal:
                            outcomes[f"http {refusal.status}"] += 1

                flooding = asyncio.gather(*map(flood, users))
                while not flooding.done():
                    largest = max(largest, system.router.resident() or 0)
                    await asyncio.sleep(0.05)
                await flooding
                for user in users:
                    await user.until(lambda user=user: len(user.ends()) == len(user.accepted), 60, "the end of every request")
                    for event in user.ends().values():
                        code = event["data"].get("error", {}).get("code", "")
                        outcomes[f"{event['type'].removeprefix('request.')} {code}".strip()] += 1
                require(system.router.is_alive(), "the router has ended")
                require(set(outcomes) <= {"finished", "failed overloaded", "http 429", "http 503"}, f"{dict(outcomes)}")
                failures = int((group / "memory.failcnt").read_text())
                counts = ", ".join(f"{count} {kind}" for kind, count in sorted(outcomes.items()))
                return f"{counts}; the router had {largest:.0f} MiB at most, the limit was met {failures} times"
        finally:
            # A group goes only when nobody is in it.
            with contextlib.suppress(OSError):
                (group.parent / "cgroup.procs").write_text(str(system.router.pid))
            with contextlib.suppress(OSError):
                group.rmdir()
