"""Faults of the disk."""
import asyncio
import contextlib
import os
import pathlib
import sqlite3
import subprocess
import time

from client import Refused

from .case import all_finished, fault, NotTried, require, running, User


async def healed_after(user, within=20):
    """Seconds until a request is taken."""
    begin = time.monotonic()
    while True:
        try:
            await user.ask(count=1, milliseconds=10)
            return time.monotonic() - begin
        except (Refused, OSError):
            require(time.monotonic() < begin + within, f"does not heal in {within} s")
            await asyncio.sleep(0.1)


@fault(30, "disk full")
async def disk_full(folder, programs):
    if os.geteuid() != 0:
        raise NotTried("it needs root")
    state = pathlib.Path(folder) / "disk"
    state.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", state], capture_output=True).returncode != 0:
        raise NotTried("nothing can be mounted here")
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
                healed = await healed_after(user)
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
            healed = await healed_after(user)
            all_finished(await user.all_ended())
            require(status == 503, f"status {status}")
            return f"503 after {waited:.1f} s of waiting, and served again {healed:.1f} s after it was let go"
