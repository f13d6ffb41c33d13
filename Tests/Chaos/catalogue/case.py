"""What every fault needs: a system that runs, users that ask and follow, and what must be true afterwards."""
import asyncio
import base64
import contextlib
import uuid

from checks import check_fences, check_session
from client import TERMINAL, Connection, Follower
from processes import System

FAULTS = []


def fault(number, text):
    def register(function):
        FAULTS.append((number, text, function))
        return function
    return register


class Broken(Exception):
    """Not what is promised."""


class NotTried(Exception):
    """This machine, or this user, cannot make the fault: why."""


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

    async def ask(self, skill="tokens", text="t", within=10, file=None, **arguments):
        body = {"skill": skill, "text": text} | ({"arguments": arguments} if arguments else {})
        if file:
            content = base64.b64encode(file).decode()
            body["attachments"] = [{"name": "file", "mediaType": "application/octet-stream", "data": content}]
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
