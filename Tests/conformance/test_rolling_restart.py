"""Every process is replaced while requests are made all the time: what was taken comes to its end, once."""
import http.client
import json
import threading
import time

import pytest

from conftest import Program, eventually
from http_client import Client

TERMINAL = {"request.finished", "request.failed", "request.cancelled"}
UNAVAILABLE = (OSError, http.client.HTTPException)


class Fleet:
    """Router, gateway and two workers of a skill, each started on its own."""

    def __init__(self, folder):
        self.folder = folder
        self.frontend, self.backend = f"ipc://{folder}/frontend", f"ipc://{folder}/backend"
        self.address = "127.0.0.1:0"
        self.router = self.start_router()
        self.gateway = self.start_gateway()
        self.workers = [self.start_worker() for _ in range(2)]
        eventually(lambda: len(self.registered()) == 2)

    def start_router(self):
        return Program("skillbus-router", "--frontend", self.frontend, "--backend", self.backend, folder=self.folder)

    def start_gateway(self):
        ready = self.folder / "gateway.json"
        ready.unlink(missing_ok=True)
        program = Program("skillbus-gateway", "--http", self.address, "--state", self.folder / "state", "--routers",
                          self.frontend, "--ready-file", ready, folder=self.folder)
        eventually(lambda: program.process.poll() is not None or ready.exists())
        assert ready.exists(), program.output
        self.address = json.loads(ready.read_text())["url"].removeprefix("http://")
        self.client = Client(f"http://{self.address}")
        eventually(lambda: self.client.get("/readyz").status == 200)
        return program

    def start_worker(self):
        return Program("skillbus-worker-summarize", "--routers", self.backend, folder=self.folder)

    def registered(self):
        answer = self.client.get("/v1/skills")
        return [worker["pid"] for skill in (answer.json["skills"] if answer.status == 200 else [])
                if skill["id"] == "summarize" for worker in skill["workers"]]

    def replace_worker(self, index):
        """The new one first, then the old one drains."""
        new = self.start_worker()
        eventually(lambda: new.process.pid in self.registered())
        assert self.workers[index].terminate(60) == 0
        self.workers[index] = new

    def replace_router(self):
        assert self.router.terminate(60) == 0
        self.router = self.start_router()
        eventually(lambda: len(self.registered()) == 2)

    def replace_gateway(self):
        assert self.gateway.terminate(60) == 0
        self.gateway = self.start_gateway()

    def close(self):
        for program in [*self.workers, self.gateway, self.router]:
            program.close()


class User(threading.Thread):
    """Asks again and again and follows each answer, as a well-made client does: what is refused for now is sent again under
    its key, and a stream that ends is taken up where it was."""

    def __init__(self, fleet, number, text):
        super().__init__(daemon=True)
        self.fleet, self.number, self.text = fleet, number, text
        self.ended = threading.Event()
        self.finished, self.interruptions, self.refusals, self.problems = 0, 0, 0, []
        self.retries = 0

    def again(self, call):
        """Until it is answered with something else than "not now"."""
        while True:
            try:
                answer = call()
                if answer.status != 503:
                    return answer
                assert answer.headers["Retry-After"]
            except UNAVAILABLE:
                pass
            self.refusals += 1
            time.sleep(0.05)

    def run(self):
        try:
            session = self.again(lambda: self.fleet.client.call("POST", "/v1/sessions", {})).json["id"]
            last, count = 0, 0
            while not self.ended.is_set():
                count += 1
                answer = self.again(lambda: self.fleet.client.request(
                    session, "Summarise it.", skill="summarize", attachments=[self.text],
                    headers={"Idempotency-Key": f"{self.number}-{count}"}))
                assert answer.status == 202, (answer.status, answer.body)
                last = self.follow(session, last, answer.json["id"])
        except Exception as error:
            self.problems.append(repr(error))

    def follow(self, session, last, request):
        while True:
            try:
                with self.fleet.client.follow(session, after=last) as stream:
                    while (event := stream.event(within=60)) is not None:
                        number, type, data = event
                        if number != last + 1:
                            self.problems.append(f"{number} after {last}")
                        last = number
                        self.retries += type == "job.retrying"
                        if type in TERMINAL:
                            if data["request"] != request or type != "request.finished":
                                self.problems.append(json.dumps(data))
                            self.finished += 1
                            return last
            except UNAVAILABLE:
                pass
            self.interruptions += 1
            time.sleep(0.05)


@pytest.fixture
def load(tmp_path):
    fleet = Fleet(tmp_path)
    import base64
    sentences = " ".join(f"Number {n} of the bridges over the river was closed on day {n}." for n in range(1500))
    text = {"name": "a.txt", "mediaType": "text/plain", "data": base64.b64encode(sentences.encode()).decode()}
    users = [User(fleet, number, text) for number in range(4)]
    for user in users:
        user.start()
    yield fleet, users
    for user in users:
        user.ended.set()
    for user in users:
        user.join(90)
    fleet.close()


def settle(users):
    """Everything that was asked is answered, and nothing is wrong with it."""
    for user in users:
        user.ended.set()
    for user in users:
        user.join(90)
        assert not user.is_alive()
    assert [problem for user in users for problem in user.problems] == []


def progress(users):
    """Waits until each user has had another answer."""
    before = [user.finished for user in users]
    eventually(lambda: all(user.finished > was or user.problems for user, was in zip(users, before)), within=60)


def test_workers_are_replaced_and_nobody_notices(load):
    fleet, users = load
    progress(users)
    for index in (0, 1, 0):
        fleet.replace_worker(index)
        progress(users)
    settle(users)
    assert sum(user.interruptions + user.refusals + user.retries for user in users) == 0


def test_router_and_gateway_are_replaced_and_nothing_fails(load):
    fleet, users = load
    progress(users)
    for replace in (fleet.replace_router, fleet.replace_gateway, lambda: fleet.replace_worker(0), fleet.replace_gateway,
                    fleet.replace_router):
        replace()
        progress(users)
    settle(users)
    # A drained router has ended what ran, so nothing runs twice; a gateway lets go of its followers for a moment.
    assert sum(user.retries for user in users) == 0
    assert sum(user.interruptions for user in users) >= 2
