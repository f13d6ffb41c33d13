"""Mixed jobs from many sessions, while a random process is killed every second."""
import asyncio
import collections
import random
import time
import uuid

from checks import check_fences, check_follower, check_ledger, check_session, percentile
from client import TERMINAL, Connection, Follower, Refused, events
from processes import Killer, System

# Three workers for each of these.
SKILLS = [("calculator", 3, None), ("keywords", 3, None), ("tokens", 3, 16), ("ledger", 3, 16)]


def job(mark, number, rng):
    """A request whose output has the session's mark in it."""
    kind = rng.choices(("tokens", "short", "ledger", "keywords"), (3, 6, 2, 2))[0]
    if kind == "keywords":
        words = f"{mark} gardens need water. {mark} gardens need light. The gardener waters {mark} every day."
        return {"skill": "keywords", "text": words}
    if kind == "ledger":
        return {"skill": "ledger", "text": f"{mark} {number}"}
    milliseconds = 20 if kind == "short" else rng.randint(300, 3000)
    return {"skill": "tokens", "text": mark,
            "arguments": {"count": 1 if kind == "short" else 10, "milliseconds": milliseconds}}


class Session:
    """One user: asks, waits until some have ended, asks again; and follows."""

    def __init__(self, system, rng, window):
        self.system, self.rng, self.window = system, rng, window
        self.mark = "m" + uuid.uuid4().hex[:10]
        self.accepted = {}
        self.ended = {}
        self.refused = collections.Counter()
        self.connection = Connection(rng.choice(system.urls))

    async def create(self):
        while True:
            try:
                self.id = (await self.connection.call("POST", "/v1/sessions", {}))["id"]
                break
            except (OSError, Refused):
                await asyncio.sleep(0.1)
        self.follower = Follower(self.system.urls, self.id)

    def note_ends(self):
        """Requests that have ended, as far as the follower saw."""
        for _, event in self.follower.seen[self.noted:]:
            if event["type"] in TERMINAL:
                self.ended[event["request"]] = (event["type"], event["data"], time.monotonic())
        self.noted = len(self.follower.seen)
        return len(self.accepted) - len(self.ended)

    noted = 0

    async def ask(self, until, most):
        number = 0
        while time.monotonic() < until and number < most:
            number += 1
            body, key = job(self.mark, number, self.rng), uuid.uuid4().hex
            # An answer that did not come says nothing of whether the request was taken: ask again by the same key.
            while True:
                try:
                    answer = await self.connection.call("POST", f"/v1/sessions/{self.id}/requests", body,
                                                        {"Idempotency-Key": key})
                    self.accepted[answer["id"]] = time.monotonic()
                    break
                except Refused as refusal:
                    self.refused[refusal.status] += 1
                    await asyncio.sleep(0.2)
                except OSError:
                    await asyncio.sleep(0.05)
            await self.follower.until(lambda: self.note_ends() < self.window, 60)

    async def finish(self, within):
        """Waits for the ends of all requests; what the store has, from the beginning."""
        await self.follower.until(lambda: self.note_ends() == 0, within)
        for _ in range(100):
            try:
                last = (await self.connection.call("GET", f"/v1/sessions/{self.id}"))["seq"]
                break
            except (OSError, Refused):
                await asyncio.sleep(0.1)
        else:
            raise OSError("the gateway does not answer after the storm")
        stored = []
        if last:
            async for event in events(self.system.url, self.id):
                stored.append(event)
                if event[0] >= last:
                    break
        await self.follower.until(lambda: self.follower.last >= last, 5)
        await self.follower.close()
        return stored


async def run(folder, programs, seconds=30, sessions=20, window=4, jobs=None, seed=1, kinds=None, routers=1,
              gateways=1):
    """Returns the table's rows, and sentences of what went wrong."""
    system = System(folder, programs, SKILLS, routers=routers, gateways=gateways)
    killer = Killer(system, seed, kinds=kinds)
    try:
        users = [Session(system, random.Random(f"{seed}/{number}"), window) for number in range(sessions)]
        await asyncio.gather(*(user.create() for user in users))
        killer.start()
        begin = time.monotonic()
        most = -(-jobs // sessions) if jobs else 1 << 60
        await asyncio.gather(*(user.ask(begin + seconds, most) for user in users))
        took = time.monotonic() - begin
        killed = await asyncio.to_thread(killer.finish)
        await asyncio.to_thread(lambda: [time.sleep(0.1) for _ in range(100) if not system.is_ready()])
        stored = await asyncio.gather(*(user.finish(60) for user in users))
        settled = time.monotonic() - begin - took
        wrong, problems = collections.Counter(), []
        outcomes, delays = collections.Counter(), []
        for user, all_events in zip(users, stored):
            found, details = check_session(user.id, all_events, user.accepted, user.mark)
            wrong += found
            followed = check_follower(user.id, user.follower.seen, all_events)
            wrong.update(sentence.split(":")[0] for sentence in followed)
            problems += details + followed
            for request, (kind, data, ended) in user.ended.items():
                code = (data.get("error") or data).get("code", "") if kind == "request.failed" else ""
                outcomes[f"{kind.removeprefix('request.')} {code}".strip()] += 1
                if request in user.accepted:
                    delays.append(ended - user.accepted[request])
        fences = check_fences(system.store or system.folder / "state/sessions.db")
        wrong["order"] += len(fences)
        problems += fences
        starts, twice = check_ledger(system.ledger)
        ended = system.unasked_ends()
        problems += twice + [f"ended by itself: {name}: {codes}" for name, codes in ended.items()]
        return {
            "jobs": sum(len(user.accepted) for user in users), "seconds": round(took, 1),
            "settled_after_s": round(settled, 1), "sessions": sessions, "kills": dict(collections.Counter(killed)),
            "outcomes": dict(outcomes), "refusals": dict(sum((user.refused for user in users), collections.Counter())),
            "lost": wrong["lost"], "duplicate_ends": wrong["duplicate"], "order_violations": wrong["order"],
            "foreign": wrong["foreign"], "wrong_text": wrong["text"], "healed_texts": wrong["healed"], "unknown": wrong["unknown"],
            "ledger_starts": starts, "ledger_twice": len(twice),
            "reconnects": sum(user.follower.connections - 1 for user in users),
            "end_p50_s": percentile(delays, 0.5), "end_p99_s": percentile(delays, 0.99),
            "gateway_MiB": system.gateway.resident(), "router_MiB": system.router.resident(),
        }, problems
    finally:
        killer.over.set()
        killer.join(10)
        system.close()
