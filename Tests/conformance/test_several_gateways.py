"""Two gateways on one PostgreSQL: any of them serves any session, and one's death is the other's work."""
import json
import random
import signal
import subprocess
import threading
import time

import pytest

import postgres
from conftest import BIN, Program, eventually
from gateways import Echo
from http_client import Client
from peers import Worker
from wire import APPROVAL, APPROVAL_ASKED, CANCEL, DELTA, DISCLOSURE, DISPATCH, FENCED, FINISHED

pytestmark = pytest.mark.skipif(postgres.programs() is None, reason="no PostgreSQL server is installed")

TERMINAL = {"request.finished", "request.failed", "request.cancelled"}
LEASE = 3


@pytest.fixture(scope="module")
def server():
    """One server for the tests of this module."""
    server = postgres.Postgres()
    yield server
    server.close()


class Node:
    """A gateway on the shared store, with a state folder of its own for its name."""

    def __init__(self, folder, bus, server, *arguments):
        folder.mkdir(exist_ok=True)
        self.folder, self.bus, self.server, self.arguments = folder, bus, server, arguments
        self.start()

    def start(self, wait=True):
        ready = self.folder / "gateway.json"
        ready.unlink(missing_ok=True)
        self.program = Program("skillbus-gateway", "--http", "127.0.0.1:0", "--state", self.folder / "state", "--store",
                               self.server.url, "--lease", LEASE, "--routers", self.bus.frontend, "--ready-file", ready,
                               *self.arguments, folder=self.folder)
        if wait:
            eventually(lambda: self.program.process.poll() is not None or ready.exists())
            assert ready.exists(), self.program.output
            self.client = Client(json.loads(ready.read_text())["url"])
            eventually(lambda: self.client.get("/readyz").status == 200)
        return self

    def signal(self, number):
        self.program.process.send_signal(number)

    def kill(self):
        self.program.process.kill()
        self.program.process.wait()


@pytest.fixture
def nodes(tmp_path, own_bus, server):
    """nodes(N) starts N gateways."""
    started = []

    def start(count=2):
        for number in range(count):
            started.append(Node(tmp_path / f"node{len(started)}", own_bus, server))
        return started[-count:]

    yield start
    for node in started:
        try:
            node.signal(signal.SIGCONT)
        except ProcessLookupError:
            pass
        node.program.close()


def events_of(client, session):
    last = client.get(f"/v1/sessions/{session}").json["seq"]
    with client.follow(session) as stream:
        return [stream.event() for _ in range(last)]


def sound(server, node):
    answer = subprocess.run([BIN / "skillbus-gateway", "--check", "--store", server.url, "--state", node.folder / "state",
                             "--json"], capture_output=True, text=True, timeout=60)
    assert answer.returncode == 0, (answer.stdout, answer.stderr)
    return json.loads(answer.stdout)


def finished(text):
    return (FINISHED, {"output": {"text": text, "parts": []}, "engine": "offline", "cached": False, "milliseconds": 1})


def test_asked_at_one_followed_at_the_other(own_bus, nodes, server):
    a, b = nodes()
    with Worker(own_bus.backend, "sg-follow") as worker:
        session = a.client.session()
        with b.client.follow(session) as stream:
            started = time.monotonic()
            request = a.client.request(session, "hello", skill="sg-follow").json["id"]
            assert stream.event()[1] == "request.accepted"
            job = worker.job()
            worker.start(job)
            worker.say(job, 2, (DELTA, "one "))
            seen = [stream.event(), stream.event(), stream.event()]
            assert [type for _, type, _ in seen] == ["request.plan", "job.started", "job.delta"]
            # By notification, which takes 50 ms, and not by the look once a second.
            before = time.monotonic()
            worker.say(job, 3, (DELTA, "two"))
            assert stream.event()[2]["data"]["text"] == "two"
            assert time.monotonic() - before < 0.9
            worker.say(job, 4, finished("one two"))
            assert stream.until_end(request)[-1][2]["data"]["output"]["text"] == "one two"
        # The other one knows all of it, as a snapshot too.
        assert b.client.get(f"/v1/sessions/{session}").json["messages"][-1]["text"] == "one two"
        assert events_of(a.client, session) == events_of(b.client, session)
    sound(server, a)


def test_a_request_is_cancelled_from_any_gateway(own_bus, nodes):
    a, b = nodes()
    with Worker(own_bus.backend, "sg-cancel") as worker:
        session = a.client.session()
        request = a.client.request(session, "hello", skill="sg-cancel").json["id"]
        worker.start(worker.job())
        with a.client.follow(session) as stream:
            assert b.client.call("DELETE", f"/v1/sessions/{session}/requests/{request}").status in (200, 202)
            worker.expect(CANCEL, within=3)
            assert stream.until_end(request)[-1][1] == "request.cancelled"


def test_one_key_at_two_gateways_at_the_same_moment_is_one_execution(own_bus, nodes, server):
    a, b = nodes()
    echo = Echo(own_bus, "sg-key")
    try:
        session = a.client.session()
        for turn in range(20):
            barrier, answers = threading.Barrier(4), []

            def ask(node, turn=turn, barrier=barrier, answers=answers):
                barrier.wait()
                answers.append(node.client.request(session, f"k{turn}", skill="sg-key", headers={
                    "Idempotency-Key": f"sg-{turn}"}))

            threads = [threading.Thread(target=ask, args=(node,)) for node in (a, b, a, b)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(20)
            assert {answer.status for answer in answers} <= {200, 202}, [answer.body for answer in answers]
            assert len({answer.json["id"] for answer in answers}) == 1
        assert b.client.request(session, "other", skill="sg-key", headers={"Idempotency-Key": "sg-0"}).status == 422
        eventually(lambda: b.client.get(f"/v1/sessions/{session}").json["running"] == [])
        assert all(echo.runs[f"k{turn}"] == 1 for turn in range(20)), echo.runs
    finally:
        echo.close()


@pytest.mark.parametrize("idempotent", [True, False])
def test_a_gateway_is_killed_in_mid_job_and_the_other_goes_on(own_bus, nodes, server, idempotent):
    a, b = nodes()
    skill = f"sg-kill-{idempotent}".lower()
    with Worker(own_bus.backend, skill, idempotent=idempotent, concurrency=4) as worker:
        session = a.client.session()
        request = a.client.request(session, "pay", skill=skill).json["id"]
        job = worker.job()
        worker.start(job)
        worker.say(job, 2, (DELTA, "half "))
        with b.client.follow(session) as stream:
            while stream.event()[1] != "job.delta":
                pass
            a.kill()
            started = time.monotonic()
            if idempotent:
                again = worker.job(within=LEASE + 5)
                assert again.generation > job.generation
                worker.start(again)
                worker.finish(again, "paid")
            events = stream.until_end(request, within=LEASE + 10)
            assert time.monotonic() - started < LEASE + 5
        if idempotent:
            assert events[-1][1] == "request.finished" and events[-1][2]["data"]["output"]["text"] == "paid"
        else:
            assert events[-1][2]["data"]["error"]["code"] == "outcome_unknown"
            worker.nothing(DISPATCH, within=1)
    assert [number for number, _, _ in events_of(b.client, session)] == list(
        range(1, events[-1][0] + 1))
    sound(server, b)


def test_a_gateway_that_was_stopped_past_its_lease_writes_nothing(own_bus, nodes, server):
    a, b = nodes()
    with Worker(own_bus.backend, "sg-stop", concurrency=4) as worker:
        session = a.client.session()
        request = a.client.request(session, "hello", skill="sg-stop").json["id"]
        job = worker.job()
        worker.start(job)
        eventually(lambda: b.client.get(f"/v1/sessions/{session}").json["running"][0]["steps"])
        a.signal(signal.SIGSTOP)
        # Said to the one that is stopped: it has this before it when it wakes up.
        worker.say(job, 2, (DELTA, "void"))
        again = worker.job(within=LEASE + 5)
        worker.start(again)
        worker.say(again, 2, (DELTA, "new"))
        eventually(lambda: "new" in json.dumps(b.client.get(f"/v1/sessions/{session}").json["running"]))
        a.signal(signal.SIGCONT)
        eventually(lambda: "another gateway goes on" in a.program.output)
        time.sleep(1)
        worker.finish(again, "new")
        with a.client.follow(session) as stream:
            events = stream.until_end(request)
        assert events[-1][2]["data"]["output"]["text"] == "new"
        assert "void" not in json.dumps(events)
        owner = server.query(f"SELECT owner_epoch FROM skillbus.requests WHERE id = '{request}'")
        assert owner == "2"
        # It serves on.
        assert a.client.request(session, "more", skill="sg-stop").status == 202
        worker.finish(worker.job(), "more")
        eventually(lambda: b.client.get(f"/v1/sessions/{session}").json["running"] == [])
    sound(server, b)


def test_a_client_goes_back_and_forth_between_gateways(own_bus, nodes):
    """Fault 34: fifty disconnects in the middle, each time on to the other gateway."""
    a, b = nodes()
    with Worker(own_bus.backend, "sg-alternate") as worker:
        session = a.client.session()
        request = a.client.request(session, "hello", skill="sg-alternate").json["id"]
        job = worker.job()
        worker.start(job)
        seen, number = [], 0

        def talk():
            for turn in range(200):
                worker.say(job, 2 + turn, (DELTA, f"{turn} "))
                time.sleep(0.02)
            worker.say(job, 202, finished("".join(f"{turn} " for turn in range(200))))

        talker = threading.Thread(target=talk)
        talker.start()
        turn = 0
        while not seen or seen[-1][1] not in TERMINAL:
            node = (a, b)[turn % 2]
            turn += 1
            with node.client.follow(session, after=number) as stream:
                for _ in range(random.randint(1, 4) if turn <= 50 else 10_000):
                    event = stream.event()
                    assert event is not None
                    seen.append(event)
                    number = event[0]
                    if event[1] in TERMINAL:
                        break
        talker.join()
        assert turn >= 30
        assert [number for number, _, _ in seen] == list(range(1, len(seen) + 1))
        text = "".join(event["data"]["text"] for _, type, event in seen if type == "job.delta")
        assert text == seen[-1][2]["data"]["output"]["text"] and seen[-1][2]["request"] == request


def test_draining_hands_over_what_runs_without_running_it_again(own_bus, nodes, server):
    a, b = nodes()
    with Worker(own_bus.backend, "sg-drain", idempotent=False) as worker:
        session = a.client.session()
        request = a.client.request(session, "pay", skill="sg-drain").json["id"]
        job = worker.job()
        worker.start(job)
        eventually(lambda: b.client.get(f"/v1/sessions/{session}").json["running"][0]["steps"])
        started = time.monotonic()
        assert a.program.terminate() == 0
        eventually(lambda: server.query(f"SELECT owner_epoch FROM skillbus.requests WHERE id = '{request}'") == "2")
        # Sooner than any lease ends.
        assert time.monotonic() - started < LEASE + 1
        worker.nothing(DISPATCH, FENCED, CANCEL, within=1)
        worker.finish(job, "paid")
        worker.running[job.execution] = 0
        with b.client.follow(session) as stream:
            events = stream.until_end(request)
        assert events[-1][1] == "request.finished" and events[-1][2]["data"]["output"]["text"] == "paid"
        assert "job.retrying" not in [type for _, type, _ in events]
    sound(server, b)


def test_one_that_is_started_again_goes_on_at_once(own_bus, nodes, server):
    (a,) = nodes(1)
    with Worker(own_bus.backend, "sg-again", idempotent=False) as worker:
        session = a.client.session()
        request = a.client.request(session, "pay", skill="sg-again").json["id"]
        job = worker.job()
        worker.start(job)
        eventually(lambda: a.client.get(f"/v1/sessions/{session}").json["running"][0]["steps"])
        a.kill()
        a.start()
        worker.nothing(DISPATCH, FENCED, CANCEL, within=1)
        worker.finish(job, "paid")
        with a.client.follow(session) as stream:
            assert stream.until_end(request)[-1][2]["data"]["output"]["text"] == "paid"
    sound(server, a)


def test_what_is_enqueued_waits_for_the_other_gateways_request(own_bus, nodes):
    a, b = nodes()
    with Worker(own_bus.backend, "sg-queue", concurrency=4) as worker:
        session = a.client.session()
        first = a.client.request(session, "first", skill="sg-queue").json["id"]
        job = worker.job()
        worker.start(job)
        second = b.client.request(session, "second", skill="sg-queue", when_busy="enqueue").json["id"]
        worker.nothing(DISPATCH, within=1.5)
        worker.finish(job, "one")
        following = worker.job(within=3)
        worker.finish(following, "two")
        # And a new one ends what the other gateway runs.
        with b.client.follow(session) as stream:
            stream.until_end(second)
        third = a.client.request(session, "third", skill="sg-queue").json["id"]
        worker.start(worker.job())
        fourth = b.client.request(session, "fourth", skill="sg-queue", when_busy="interrupt").json["id"]
        worker.expect(CANCEL, DISPATCH, within=3)
        with a.client.follow(session) as stream:
            events = stream.until_end(third)
        ends = {event["request"]: type for _, type, event in events if type in TERMINAL}
        assert ends[first] == ends[second] == "request.finished" and ends[third] == "request.cancelled"
        assert fourth
        a.client.call("DELETE", f"/v1/sessions/{session}/requests/{fourth}")


def test_the_last_follower_is_the_last_of_all_gateways(own_bus, nodes):
    a, b = nodes()
    with Worker(own_bus.backend, "sg-leave") as worker:
        session = a.client.session()
        at_a, at_b = a.client.follow(session), b.client.follow(session)
        request = a.client.request(session, "hello", skill="sg-leave", on_disconnect="cancel").json["id"]
        worker.start(worker.job())
        for stream in (at_a, at_b):
            while stream.event()[1] != "job.started":
                pass
        time.sleep(0.3)
        at_a.response.close()
        at_a.close()
        worker.nothing(CANCEL, within=2)
        at_b.response.close()
        at_b.close()
        worker.expect(CANCEL, within=8)
        with a.client.follow(session) as stream:
            assert stream.until_end(request)[-1][1] == "request.cancelled"


@pytest.mark.parametrize("fault", ["stop", "kill", "restart"])
def test_the_database_goes_away_and_comes_back(own_bus, nodes, server, fault):
    """Fault 12: new requests are refused with the time to wait, what runs goes on, and nothing is started again."""
    a, b = nodes()
    with Worker(own_bus.backend, f"sg-away-{fault}", idempotent=False) as worker:
        session = a.client.session()
        request = a.client.request(session, "pay", skill=f"sg-away-{fault}").json["id"]
        job = worker.job()
        worker.start(job)
        eventually(lambda: b.client.get(f"/v1/sessions/{session}").json["running"][0]["steps"])
        if fault == "stop":
            server.signal(signal.SIGSTOP)
        elif fault == "kill":
            server.kill()
        else:
            server.stop()
        began = time.monotonic()
        try:
            # It says so within a statement's time, and from then on at once.
            for node in (a, b):
                eventually(lambda node=node: node.client.get("/readyz").status == 503, within=20)
                before = time.monotonic()
                refused = node.client.request(session, "more", skill=f"sg-away-{fault}")
                assert refused.status == 503 and int(refused.headers["Retry-After"]) > 0
                assert refused.json["code"] == "store_unavailable"
                assert time.monotonic() - before < 1
            worker.say(job, 2, (DELTA, "while it was away"))
            worker.nothing(CANCEL, FENCED, within=1)
            worker.say(job, 3, finished("while it was away"))
            if fault == "stop":
                time.sleep(max(0, 20 - (time.monotonic() - began)))
        finally:
            if fault == "stop":
                server.signal(signal.SIGCONT)
            else:
                server.start()
        eventually(lambda: all(node.client.get("/readyz").status == 200 for node in (a, b)), within=15)

        def say_again():
            # Until it is acknowledged, as every worker does.
            worker.running[job.execution] = 0
            worker.free -= 1
            worker.say(job, 3, finished("while it was away"))
            return b.client.get(f"/v1/sessions/{session}").json["running"] == []

        eventually(say_again, within=20)
        events = events_of(b.client, session)
        ends = [type for _, type, event in events if type in TERMINAL and event["request"] == request]
        assert ends == ["request.finished"], events[-1]
        # Nobody took it over: all leases had ended, and none of their holders.
        assert server.query(f"SELECT owner_epoch FROM skillbus.requests WHERE id = '{request}'") == "1"
        assert [number for number, _, _ in events] == list(range(1, len(events) + 1))
        assert a.client.request(session, "more", skill=f"sg-away-{fault}").status == 202
        worker.finish(worker.job(), "more")
        eventually(lambda: b.client.get(f"/v1/sessions/{session}").json["running"] == [])
    sound(server, a)


def test_a_password_on_the_command_line_is_refused(tmp_path):
    program = Program("skillbus-gateway", "--store", "postgres://skillbus:secret@127.0.0.1/skillbus", folder=tmp_path)
    assert program.process.wait(10) == 2
    assert "--store-password" in program.output and "secret" not in program.output


def test_an_answer_may_be_given_at_any_gateway(own_bus, nodes, server):
    a, b = nodes()
    question = {"party": "party.test", "bytes": 5, "purpose": "telling"}
    with Worker(own_bus.backend, "sg-asker") as worker:
        session = a.client.call("POST", "/v1/sessions", {"privacy": "ask"}).json["id"]
        request = a.client.request(session, "hello", skill="sg-asker").json["id"]
        job = worker.job()
        worker.start(job)
        worker.say(job, 2, (APPROVAL_ASKED, question))
        path = f"/v1/sessions/{session}/requests/{request}/approval"
        with b.client.follow(session) as stream:
            while stream.event()[1] != "approval":
                pass
            # The other one does not know what is open.
            assert b.client.call("POST", path, {"choice": "always"}).json["code"] == "invalid"
            assert b.client.call("POST", path, {"choice": "always", "party": "party.test"}).status == 204
            # Whoever has the request finds the answer when the question is asked again.
            worker.say(job, 3, (APPROVAL_ASKED, question))
            answer = worker.expect(APPROVAL)
            assert (answer.job, answer.value, answer.body) == (job.job, 1, b"party.test")
            worker.say(job, 4, (DISCLOSURE, question), finished("told"))
            events = stream.until_end(request)
        assert [event[1] for event in events].count("approval") == 0
        # The next request of the session brings it along.
        b.client.request(session, "more", skill="sg-asker")
        job = worker.job()
        assert job.input["approved"] == ["party.test"]
        worker.say(job, 1, finished("told"))
    listed = b.client.get("/v1/disclosures").json["disclosures"]
    assert [(entry["session"], entry["bytes"]) for entry in listed if entry["session"] == session] == [(session, 5)]


def test_a_session_is_forgotten_at_any_gateway(own_bus, nodes, server):
    a, b = nodes()
    with Worker(own_bus.backend, "sg-forget") as worker:
        session = a.client.session()
        a.client.request(session, "hello", skill="sg-forget")
        worker.start(worker.job())
        # It runs at the one; the other ends it, and deletes all of it.
        with a.client.follow(session) as stream:
            assert stream.event()[1] == "request.accepted"
            assert b.client.call("DELETE", f"/v1/sessions/{session}").status == 204
        for node in (a, b):
            assert node.client.get(f"/v1/sessions/{session}").status == 404
    sound(server, a)
