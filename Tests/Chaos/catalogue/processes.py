"""Faults of routers and gateways: killed, restarted, not able to start."""
import asyncio
import signal
import subprocess
import time

from checks import check_ledger
from client import Refused
from processes import free_port, wait_until

from .case import all_finished, fault, process, require, restart, running, User


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


@fault(6, "kill -9 of the gateway between taking a request and answering, 30 times")
async def killed_while_taking(folder, programs):
    with running(folder, programs) as system:
        async with User(system) as one, User(system) as two, User(system) as three:
            users = (one, two, three)
            for round in range(30):
                asking = [asyncio.create_task(user.ask(within=3, count=1, milliseconds=10)) for user in users]
                await asyncio.sleep(0.001 * (round % 10))
                system.gateway.signal(signal.SIGKILL)
                restart(system.gateway)
                await asyncio.gather(*asking)
            for user in users:
                all_finished(await user.all_ended(60))
                taken = len(user.of("request.accepted"))
                require(taken == len(set(user.accepted)) == 30, f"{taken} requests of 30 keys")
            return "90 keys, asked again until there was an answer: 90 requests, each finished once"


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
