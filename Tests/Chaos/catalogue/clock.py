"""The time of day, which is nobody's to rely on."""
import asyncio
import pathlib
import shutil
import struct
import subprocess
import time

from .case import NotTried, User, all_finished, fault, require, running


@fault(36, "the time of day jumps by a day, forward, back and forward again, while jobs run")
async def clock_jumps(folder, programs):
    if not shutil.which("gcc"):
        raise NotTried("gcc is not installed")
    library, shift = folder / "time_of_day.so", folder / "shift"
    source = pathlib.Path(__file__).resolve().parents[1] / "time_of_day.c"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", library, source], check=True, timeout=60)
    shift.write_bytes(struct.pack("<q", 0))

    def set_clock(days):
        with open(shift, "r+b") as file:
            file.write(struct.pack("<q", days * 86_400))

    environment = {"LD_PRELOAD": str(library), "TIME_SHIFT": str(shift)}
    with running(folder, programs, ("tokens", 2, 16), environment=environment) as system:
        async with User(system) as user:
            begin = time.monotonic()
            for days in (1, -1, 1, 0):
                # One that must end by itself, and one whose time is short: neither may end early, or never.
                await user.ask(count=10, milliseconds=1500)
                await asyncio.sleep(0.5)
                set_clock(days)
                await asyncio.sleep(1.5)
            all_finished(await user.all_ended())
            took = time.monotonic() - begin
            days = {event["time"][:10] for _, event in user.follower.seen}
            require(len(days) >= 3, f"the clock did not jump: {days}")
            require(not user.of("job.retrying"), "taken for dead")
            require(all(len(workers) == 2 for workers in system.workers().values()), "a worker was given up")
            require(took < 15, f"took {took:.1f} s")
            return (f"4 jobs over 4 jumps, all finished, none begun anew, nobody taken for dead, numbers in order; "
                    f"{took:.1f} s for 8 s of work and waiting")
