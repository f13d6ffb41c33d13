"""Ten times as many requests as can be served: how fast what is refused is refused, and what is accepted is done.

A burst is queued, which is what a queue is for. What is promised holds after it, when it is plain that more is asked than
can be done; what came before that is told apart."""
import asyncio
import collections
import http.client
import json
import threading
import time

from checks import percentile
from client import TERMINAL, Connection, Follower, Refused
from processes import System

# Two workers of two jobs of 100 ms: 40 a second, ten times of which this program can offer beside them.
MILLISECONDS, WORKERS, CONCURRENCY = 100, 2, 2
CAPACITY = WORKERS * CONCURRENCY * 1000 / MILLISECONDS
# After how many seconds the overload is plain, and what was queued until then is done.
SETTLED = 6


class Prober(threading.Thread):
    """Asks over a connection of its own, one request at a time: what an answer takes without this program's own queues."""

    def __init__(self, system, session, begin):
        super().__init__(daemon=True)
        self.system, self.session, self.begin = system, session, begin
        self.refused, self.accepted = [], []
        self.over = threading.Event()

    def run(self):
        connection = http.client.HTTPConnection(*self.system.url, timeout=10)
        body = json.dumps({"skill": "tokens", "text": "t", "arguments": {"count": 1, "milliseconds": MILLISECONDS}})
        while not self.over.wait(0.02):
            begin = time.monotonic()
            try:
                connection.request("POST", f"/v1/sessions/{self.session}/requests", body,
                                   {"Content-Type": "application/json"})
                response = connection.getresponse()
                response.read()
            except (OSError, http.client.HTTPException):
                connection.close()
                continue
            took = time.monotonic() - begin
            if begin < self.begin:
                continue
            (self.accepted if response.status == 202 else self.refused).append(took)
        connection.close()


async def offer(system, rate, seconds, settled=0, sessions=16):
    """Offers requests at a rate, for so many seconds after the first ones, which are not counted. Seconds to the ends of
    accepted ones, those of the first ones, seconds to refusals, and what became of all."""
    users = []
    for _ in range(sessions):
        connection = Connection(system.url)
        users.append((await connection.call("POST", "/v1/sessions", {}))["id"])
        await connection.close()
    sent, first, ends, refusals, outcomes = {}, {}, {}, [], collections.Counter()

    class Watch(Follower):
        place = 0

        def note(self):
            for _, event in self.seen[self.place:]:
                if event["type"] in TERMINAL:
                    code = event["data"].get("error", event["data"]).get("code", "")
                    ends[event["request"]] = (time.monotonic(), event["type"], code)
            self.place = len(self.seen)
            return False

    followers = [Watch(system.url, session) for session in users]
    notes = [asyncio.create_task(follower.until(follower.note, 600)) for follower in followers]
    connections = collections.deque(Connection(system.url) for _ in range(64))
    free = asyncio.Semaphore(len(connections))

    async def ask(session, counts):
        async with free:
            connection = connections.popleft()
            begin = time.monotonic()
            try:
                answer = await connection.call("POST", f"/v1/sessions/{session}/requests", {
                    "skill": "tokens", "text": "t", "arguments": {"count": 1, "milliseconds": MILLISECONDS}})
                (sent if counts else first)[answer["id"]] = begin
            except Refused as refusal:
                if counts:
                    outcomes[f"http {refusal.status}"] += 1
                if "retry-after" not in refusal.headers:
                    outcomes["no Retry-After"] += 1
            except OSError:
                outcomes["no answer"] += 1
            finally:
                connections.append(connection)

    begin = time.monotonic()
    prober = Prober(system, users[0], begin + settled)
    if settled:
        # Its own requests would be no small part of half the capacity.
        prober.start()
    tasks = []
    for number in range(int(rate * (settled + seconds))):
        due = begin + number / rate
        if due > time.monotonic():
            await asyncio.sleep(due - time.monotonic())
        tasks.append(asyncio.create_task(ask(users[number % sessions], number >= rate * settled)))
    await asyncio.gather(*tasks)
    took = time.monotonic() - begin
    prober.over.set()
    if settled:
        await asyncio.to_thread(prober.join, 10)
    for _ in range(600):
        if ends.keys() >= sent.keys() | first.keys():
            break
        await asyncio.sleep(0.1)
    for task in notes:
        task.cancel()
    for follower in followers:
        await follower.close()
    for connection in connections:
        await connection.close()
    served = []
    for request, start in sent.items():
        ended, kind, code = ends.get(request, (None, "no end", ""))
        outcomes[f"{kind.removeprefix('request.')} {code}".strip()] += 1
        if kind == "request.finished":
            served.append(ended - start)
        elif code == "overloaded":
            refusals.append(ended - start)
    outcomes["no end"] += sum(request not in ends for request in first)
    early = [ends[request][0] - start for request, start in first.items()
             if ends.get(request, (None, ""))[1] == "request.finished"]
    return served, early, refusals, outcomes, len(tasks) / took, prober


async def run(folder, programs, seconds=5):
    system = System(folder, programs, [("tokens", WORKERS, CONCURRENCY)])
    try:
        normal, _, _, _, _, _ = await offer(system, CAPACITY / 2, seconds)
        memory = system.gateway.resident()
        served, early, refusals, outcomes, rate, prober = await offer(system, CAPACITY * 10, seconds, SETTLED)
        refused = sum(count for kind, count in outcomes.items() if "http" in kind or "overloaded" in kind)
        rows = {"capacity_per_s": CAPACITY, "offered_per_s": rate, "served": len(served), "refused": refused,
                "p99_at_half_s": percentile(normal, 0.99), "p99_overloaded_s": percentile(served, 0.99),
                "p50_at_half_s": percentile(normal, 0.5), "p50_overloaded_s": percentile(served, 0.5),
                "accepted_first": len(early), "p99_first_s": percentile(early, 0.99),
                "refusal_p50_s": percentile(prober.refused, 0.5), "refusal_p99_s": percentile(prober.refused, 0.99),
                "refused_after_202": len(refusals),
                "outcomes": dict(outcomes), "gateway_MiB_before": memory, "gateway_MiB": system.gateway.resident(),
                "router_MiB": system.router.resident()}
        problems = []
        for outcome in ("no end", "no answer", "no Retry-After"):
            if outcomes[outcome]:
                problems.append(f"{outcomes[outcome]} requests: {outcome}")
        problems += [f"ended by itself: {name}: {codes}" for name, codes in system.unasked_ends().items()]
        return rows, problems
    finally:
        system.close()
