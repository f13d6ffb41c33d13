"""Faults of workers: killed, stopped, told to end, of one name."""
import asyncio
import signal
import time

from processes import wait_until

from .case import all_finished, fault, process, require, restart, running, User


async def terminated(worker):
    """Asks a worker to drain: its exit code, which must be 0, and the seconds it took."""
    begin = time.monotonic()
    worker.signal(signal.SIGTERM)
    code = await asyncio.to_thread(worker.process.wait, 30)
    require(code == 0, f"exit code {code}")
    return code, time.monotonic() - begin


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


@fault(2, "kill -9 of a worker in mid-stream, twice")
async def killed_in_midstream(folder, programs):
    with running(folder, programs, ("keyed", 2, 4)) as system:
        async with User(system) as user:
            for _ in range(3):
                await user.ask("keyed")
            delays = []
            for kill in range(2):
                await user.until(lambda: len(user.of("job.started")) >= 3 + kill)
                last = user.of("job.started")[-1]
                victim, begin = process(system, last["data"]["worker"]), time.monotonic()
                victim.signal(signal.SIGKILL)
                await user.until(lambda: [event for event in user.of("job.started") if event["job"] == last["job"]
                                          and event["attempt"] > last["attempt"]], 5, "another start of the job")
                delays.append(time.monotonic() - begin)
                restart(victim)
            all_finished(await user.all_ended())
            # job, attempt and the key that the skill saw, one line a start.
            starts = [line.split() for line in system.ledger.read_text().splitlines()]
            keys = {job: {key for other, _, key in starts if other == job} for job, _, _ in starts}
            require(len(keys) == 3 and all(len(one) == 1 for one in keys.values()), f"keys {keys}")
            require(len(set.union(*keys.values())) == 3, f"jobs share a key: {keys}")
            require(len(starts) > 3 and delays[0] <= 2, f"{len(starts)} starts, {delays}")
            return (f"began again after {delays[0]:.1f} s, and after the second {delays[1]:.1f} s (alone on a worker); {len(starts)} starts of 3 jobs, each saw its own "
                    "idempotency key every time")


async def killed_with_an_end_on_its_way(system, user):
    """Kills the worker whose job has ended, while the gateway is stopped: that has the end, if at all, unread."""
    await user.ask(count=2, milliseconds=600)
    await user.until(lambda: user.of("job.started"))
    name = user.of("job.started")[0]["data"]["worker"]
    system.gateway.signal(signal.SIGSTOP)
    await asyncio.sleep(1.0)
    process(system, name).signal(signal.SIGKILL)


async def all_finished_after(user, wanted):
    """Every request finished, with so many starts of jobs."""
    all_finished(await user.all_ended())
    starts = len(user.of("job.started"))
    require(starts == wanted, f"{starts} starts")


@fault(3, "kill -9 of a worker after its job has finished, before that is acknowledged")
async def killed_before_acknowledged(folder, programs):
    with running(folder, programs, ("tokens", 2, 4)) as system:
        async with User(system) as user:
            await killed_with_an_end_on_its_way(system, user)
            await asyncio.sleep(0.3)
            system.gateway.signal(signal.SIGCONT)
            await all_finished_after(user, 1)
            return "stored once, not run again"


@fault(3, "the same, and kill -9 of the gateway, which had not stored the end")
async def killed_with_the_gateway(folder, programs):
    with running(folder, programs, ("tokens", 2, 4)) as system:
        async with User(system) as user:
            await killed_with_an_end_on_its_way(system, user)
            system.gateway.signal(signal.SIGKILL)
            restart(system.gateway)
            began = time.monotonic()
            await all_finished_after(user, 2)
            return f"ran again at another worker, and ended after {time.monotonic() - began:.1f} s"


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
            code, took = await terminated(process(system, "tokens-0"))
            all_finished(await user.all_ended())
            require(len(user.of("job.started")) == 3, "begun elsewhere")
            return f"all finished where they ran; exit {code} after {took:.1f} s"


@fault(15, "SIGTERM of a worker whose job never ends")
async def hanging_worker_terminated(folder, programs):
    with running(folder, programs, ("tokens", 1, 4)) as system:
        system.add_worker("hang", 0, None, ("--drain", 2))
        require(wait_until(lambda: "hang" in system.skills()), "not ready")
        async with User(system) as user:
            await user.ask("hang")
            await user.until(lambda: user.of("job.started"))
            code, took = await terminated(process(system, "hang-0"))
            outcomes = await user.all_ended(40)
            return f"exit {code} after {took:.1f} s with a limit of 2 s; the request ended {outcomes[0]}"


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
