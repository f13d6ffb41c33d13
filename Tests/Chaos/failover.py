"""How long a running job waits for its next attempt when its worker is killed (G11) or stopped (G12)."""
import asyncio
import collections
import signal
import time

from checks import percentile
from client import Connection, Follower, Refused
from processes import System

LIMITS = {"killed": 2.0, "stopped": 5.0}


class Starts(Follower):
    """Notes when each attempt of each job was seen to start, and where."""

    def __init__(self, address, session):
        self.noted = 0
        self.starts = {}  # (job, attempt): (time, worker)
        super().__init__(address, session)

    def note(self):
        now = time.monotonic()
        for _, event in self.seen[self.noted:]:
            if event["type"] == "job.started":
                self.starts.setdefault((event["job"], event["attempt"]), (now, event["data"]["worker"]))
        self.noted = len(self.seen)

    def running(self):
        """Job: (attempt, worker) of the latest attempt."""
        self.note()
        latest = {}
        for (job, attempt), (_, worker) in self.starts.items():
            if attempt > latest.get(job, (0, ""))[0]:
                latest[job] = (attempt, worker)
        return latest


async def measure(system, fault, jobs=12):
    """Hurts the worker that has the most of some running jobs; the seconds until each of these ran elsewhere."""
    connection = Connection(system.url)
    session = (await connection.call("POST", "/v1/sessions", {}))["id"]
    follower = Starts(system.url, session)
    try:
        requests = []
        for _ in range(jobs):
            requests.append(await connection.call("POST", f"/v1/sessions/{session}/requests", {
                "skill": "tokens", "text": "t", "arguments": {"count": 200, "milliseconds": 20_000}}))
        if not await follower.until(lambda: len(follower.running()) == jobs, 10):
            return [], [f"{jobs - len(follower.running())} of {jobs} jobs did not start"]
        running = follower.running()
        name = collections.Counter(worker for _, worker in running.values()).most_common(1)[0][0]
        victim = next(process for process in system.processes if process.name == name)
        moved = {job: attempt for job, (attempt, worker) in running.items() if worker == name}
        victim.signal(signal.SIGKILL if fault == "killed" else signal.SIGSTOP)
        hurt = time.monotonic()

        def seconds():
            follower.note()
            return [follower.starts[job, attempt + 1][0] - hurt for job, attempt in moved.items()
                    if (job, attempt + 1) in follower.starts]

        # Everything that is left of a worker that was stopped is fenced once it goes on.
        complete = await follower.until(lambda: len(seconds()) == len(moved), 15)
        if fault == "killed":
            victim.process.wait()
            victim.start()
        else:
            victim.signal(signal.SIGCONT)
        problems = [] if complete else [f"{fault}: {len(moved) - len(seconds())} jobs did not start again in 15 s"]
        for request in requests:
            try:
                await connection.call("DELETE", f"/v1/sessions/{session}/requests/{request['id']}")
            except (OSError, Refused) as error:
                problems.append(f"cancelling: {error}")
        await follower.until(lambda: sum(event["type"] == "request.cancelled" for _, event in follower.seen) == jobs, 10)
        return seconds(), problems
    finally:
        await follower.close()
        await connection.close()


async def run(folder, programs, rounds=5):
    system = System(folder, programs, [("tokens", 3, 16)])
    rows, problems = {}, []
    try:
        for fault, limit in LIMITS.items():
            seconds = []
            for _ in range(rounds):
                some, wrong = await measure(system, fault)
                seconds += some
                problems += wrong
                await asyncio.to_thread(lambda: [time.sleep(0.1) for _ in range(100)
                                                 if len(system.workers().get("tokens", [])) < 3])
            p99 = percentile(seconds, 0.99)
            rows |= {f"{fault}_jobs": len(seconds), f"{fault}_p50_s": percentile(seconds, 0.5), f"{fault}_p99_s": p99}
            if p99 is None or p99 > limit:
                problems.append(f"{fault}: p99 is {p99} s, the promise {limit} s")
        problems += [f"ended by itself: {name}: {codes}" for name, codes in system.unasked_ends().items()]
        return rows, problems
    finally:
        system.close()
