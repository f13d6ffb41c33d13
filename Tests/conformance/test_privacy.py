"""What may go to outside parties, from the HTTP interface to a worker and back; outputs that are used again."""
import json
import signal
import subprocess
import os

import pytest

from conftest import BIN, Bus, eventually
from gateways import Gateway
from peers import Worker
from test_terminal import on_a_terminal
from wire import APPROVAL, APPROVAL_ASKED, DISCLOSURE, FAILED

PARTY = "party.test"


@pytest.fixture
def teller(start, own_bus):
    """A worker whose skill tells an outside party."""
    worker = start("ChaosWorker", "--routers", own_bus.backend, environment={"CHAOS_SKILL": "teller"})
    eventually(lambda: "ready " in worker.output)
    return worker


def session(client, privacy=None):
    answer = client.call("POST", "/v1/sessions", {"privacy": privacy} if privacy else {})
    assert answer.status == 201
    return answer.json["id"]


def address(gateway):
    return f"http://{gateway.client.host}"


def approve(client, session, request, choice, **fields):
    return client.call("POST", f"/v1/sessions/{session}/requests/{request}/approval", {"choice": choice} | fields)


def until(stream, type):
    while (event := stream.event())[1] != type:
        assert event[1] not in ("request.finished", "request.failed"), event
    return event[2]


def sent(client, path="/v1/disclosures"):
    answer = client.get(path)
    assert answer.status == 200
    return answer.json["disclosures"]


def test_nothing_leaves_unless_the_session_allows_it(teller, gateway):
    client = gateway().client
    _, events = client.run("secret", session(client), skill="teller")
    error = next(event[2]["data"]["error"] for event in events if event[1] == "job.failed")
    assert error["code"] == "local_only" and PARTY in error["message"] and "--privacy" in error["hint"]
    # A request may be stricter than its session, not less strict.
    for privacy, asked, ends in (("local-only", "allow", "request.failed"), ("allow", "local-only", "request.failed"),
                                 ("allow", None, "request.finished")):
        fields = {"privacy": asked} if asked else {}
        _, events = client.run("secret", session(client, privacy), skill="teller", **fields)
        assert events[-1][1] == ends, (privacy, asked, events)
    assert len(sent(client)) == 1
    entry = sent(client)[0]
    assert (entry["party"], entry["bytes"], entry["skill"], entry["purpose"]) == (PARTY, 6, "teller", "telling")


def test_the_gateway_says_what_sessions_allow_that_do_not_say(teller, gateway):
    client = gateway("--privacy", "allow").client
    _, events = client.run("secret", skill="teller")
    assert [event[1] for event in events][-3:] == ["job.delta", "job.finished", "request.finished"]
    assert any(event[1] == "disclosure" for event in events)
    assert client.get(f"/v1/sessions/{session(client)}").json["privacy"] == "allow"


@pytest.mark.parametrize("choice", ["allow", "deny"])
def test_the_user_is_asked_once_for_a_party_and_request(teller, gateway, choice):
    client = gateway().client
    asking = session(client, "ask")
    request = client.request(asking, "secret", skill="teller", arguments={"times": 3}).json["id"]
    with client.follow(asking) as stream:
        question = until(stream, "approval")["data"]
        assert question["party"] == PARTY and question["choices"] == ["allow", "always", "deny"]
        assert "teller" in question["question"] and "6 bytes" in question["question"]
        # It waits for the user, and holds no slot meanwhile: the worker has one.
        _, events = client.run("others", session(client, "allow"), skill="teller")
        assert events[-1][1] == "request.finished"
        assert approve(client, asking, request, choice).status == 204
        rest = stream.until_end(request)
    assert rest[-1][1] == ("request.finished" if choice == "allow" else "request.failed")
    types = [event[1] for event in rest]
    assert types.count("disclosure") == (3 if choice == "allow" else 0) and "approval" not in types
    assert len(sent(client, f"/v1/sessions/{asking}/disclosures")) == types.count("disclosure")
    assert approve(client, asking, request, "allow").status == 409


def test_always_is_for_all_of_the_session(teller, gateway):
    client = gateway().client
    asking = session(client, "ask")
    request = client.request(asking, "secret", skill="teller").json["id"]
    with client.follow(asking) as stream:
        until(stream, "approval")
        assert approve(client, asking, request, "always", party=PARTY).status == 204
        stream.until_end(request)
    answer, events = client.run("more", asking, skill="teller")
    own = [event[1] for event in events if event[2]["request"] == answer["id"]]
    assert "approval" not in own and "disclosure" in own and own[-1] == "request.finished"
    # Of another party nothing was said.
    other = client.request(asking, "more", skill="teller", arguments={"party": "other.test"}).json["id"]
    with client.follow(asking) as stream:
        while (event := stream.event())[1] != "approval" or event[2]["request"] != other:
            pass
        assert approve(client, asking, other, "deny").status == 204
        stream.until_end(other)


def test_a_question_ends_with_the_time_of_its_request(teller, gateway):
    client = gateway().client
    _, events = client.run("secret", session(client, "ask"), skill="teller", timeout=1)
    error = events[-1][2]["data"]["error"]
    assert events[-1][1] == "request.failed" and error["code"] == "timeout"
    assert error["message"] == f"nobody answered in time whether data may go to {PARTY}"


def test_an_answer_outlives_gateway_and_router(tmp_path, start):
    """The question is asked again of whoever is there, and answered from the store."""
    bus = Bus(tmp_path)
    gateway = Gateway(tmp_path, bus)
    try:
        worker = start("ChaosWorker", "--routers", bus.backend, environment={"CHAOS_SKILL": "teller"})
        eventually(lambda: "ready " in worker.output)
        client = gateway.client
        asking = session(client, "ask")
        request = client.request(asking, "secret", skill="teller").json["id"]
        with client.follow(asking) as stream:
            until(stream, "approval")
        # The answer is stored while no router is there to take it on, and the gateway is killed.
        bus.program.process.send_signal(signal.SIGKILL)
        bus.program.process.wait()
        assert approve(client, asking, request, "allow", party=PARTY).status == 204
        gateway.program.process.send_signal(signal.SIGKILL)
        gateway.program.process.wait()
        bus = Bus(tmp_path, "--frontend", bus.frontend, "--backend", bus.backend)
        gateway.program.close()
        gateway = Gateway(tmp_path, bus)
        with gateway.client.follow(asking) as stream:
            events = stream.until_end(request, within=40)
        assert events[-1][1] == "request.finished", events[-1]
        assert [event[1] for event in events].count("approval") == 1
        assert len(sent(gateway.client)) == 1
    finally:
        gateway.program.close()
        bus.program.process.kill()
        bus.program.close()


def test_the_list_of_skills_says_where_text_may_go(start, own_bus, gateway):
    gateway = gateway()
    client = gateway.client

    def parties():
        return {skill["id"]: skill["sendsDataTo"] for skill in client.get("/v1/skills").json["skills"] if skill["workers"]}

    def worker(name, *urls):
        # Addresses that are reserved for documentation, should anything be sent there.
        environment = {f"SKILLBUS_LLM_URL{'' if number == 1 else f'_{number}'}": url for number, url in enumerate(urls, 1)}
        return start(f"skillbus-worker-{name}", "--routers", own_bus.backend, environment=environment)

    here = worker("chat", "http://127.0.0.1:9/v1", "http://192.0.2.1:9/v1")
    worker("citations")
    eventually(lambda: parties().items() >= {"chat": [], "citations": []}.items())
    # Workers of one skill differ in this and are still one skill: after a change of settings old and new run side by side.
    worker("chat", "http://192.0.2.1:9/v1", "http://127.0.0.1:9/v1")
    worker("chat", "https://models.example/v1", "http://192.0.2.1:9/v1")
    both = ["http://192.0.2.1:9", "https://models.example"]
    eventually(lambda: sorted(parties()["chat"]) == both)
    said = subprocess.run([BIN / "skillbus", "skills", "--url", address(gateway)],
                          capture_output=True, text=True, check=True).stdout
    assert all(f"In sessions that allow it, text goes to {party}: chat\n" in said for party in both), said
    assert here.terminate() == 0
    assert sorted(parties()["chat"]) == both and parties()["citations"] == []


def test_a_worker_in_another_language_asks_and_is_answered(own_bus, gateway):
    client = gateway().client
    asking = session(client, "ask")
    with Worker(own_bus.backend, "asker") as worker:
        request = client.request(asking, "secret", skill="asker").json["id"]
        job = worker.job()
        assert job.input["privacy"] == 1 and "approved" not in job.input
        worker.start(job)
        question = {"party": PARTY, "bytes": 6, "purpose": "telling"}
        worker.say(job, 2, (APPROVAL_ASKED, question))
        with client.follow(asking) as stream:
            until(stream, "approval")
            assert approve(client, asking, request, "allow").status == 204
            answer = worker.expect(APPROVAL)
            assert (answer.job, answer.value, answer.body.decode()) == (job.job, 1, PARTY)
            # Asked again, as if that had been lost, it is answered again.
            worker.say(job, 3, (APPROVAL_ASKED, question))
            assert worker.expect(APPROVAL).value == 1
            worker.say(job, 4, (DISCLOSURE, question))
            worker.finish(job, "done", sequence=5)
            assert stream.until_end(request)[-1][1] == "request.finished"
        assert client.request(asking, "more", skill="asker", privacy="local-only").status == 202
        job = worker.job()
        assert "privacy" not in job.input
        worker.say(job, 1, (FAILED, {"code": "local_only", "message": "no"}))


def test_on_a_terminal_the_person_is_asked(teller, gateway, tmp_path):
    served = gateway()
    words = on_a_terminal("ask", "--skill", "teller", "secret", url=address(served), folder=tmp_path,
                          typed=[("[d]eny:", "perhaps\n"), ("[a]llow, al[w]ays or [d]eny:", "a\n")])
    assert "May teller send 6 bytes to party.test (telling)?" in words
    assert "told, ask" in words and "data goes to party.test" in words
    words = on_a_terminal("ask", "--skill", "teller", "secret", url=address(served), folder=tmp_path,
                          typed=[("[d]eny:", "d\n")])
    assert "not_allowed" in words and "data goes" not in words


def test_in_a_conversation_the_person_is_asked_too(teller, gateway, tmp_path):
    words = on_a_terminal("chat", "--skill", "teller", url=address(gateway()), folder=tmp_path,
                          typed=[("Ctrl-D leaves.", "secret\n"), ("[d]eny:", "w\n"), ("told, ask", "more\n")])
    assert words.count("[d]eny:") == 1 and words.count("data goes to party.test") == 2


def run(gateway, *words, **environment):
    clean = {key: value for key, value in os.environ.items() if not key.startswith("SKILLBUS_")}
    return subprocess.run([BIN / "skillbus", *words], env=clean | {"SKILLBUS_URL": address(gateway)} | environment,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)


def test_commands_list_and_forget(teller, gateway):
    served = gateway()
    told = run(served, "ask", "--privacy", "allow", "--skill", "teller", "--json", "secret")
    assert told.returncode == 0, told.stderr
    asked = json.loads(told.stdout.splitlines()[0])["session"]
    listed = json.loads(run(served, "privacy", "--json").stdout)["disclosures"]
    assert [(entry["session"], entry["party"]) for entry in listed] == [(asked, PARTY)]
    table = run(served, "privacy", "--session", asked).stdout.splitlines()
    assert len(table) == 2 and "teller" in table[1] and "party.test" in table[1] and " 6 " in table[1]
    # In a pipe nothing leaves unless somebody says so.
    failed = run(served, "ask", "--skill", "teller", "secret")
    assert failed.returncode == 1 and "local_only" in failed.stderr
    assert run(served, "ask", "--skill", "teller", "x", SKILLBUS_PRIVACY="allow").returncode == 0
    wrong = run(served, "ask", "--privacy", "no", "x")
    assert wrong.returncode == 2, wrong
    assert "local-only, ask or allow" in wrong.stderr
    assert run(served, "forget", asked).stdout == f"forgotten {asked}\n"
    gone = run(served, "forget", asked)
    assert gone.returncode != 0 and "no session" in gone.stderr
    assert run(served, "privacy", "--session", asked).returncode != 0


def test_a_forgotten_session_is_in_no_file(own_bus, gateway, tmp_path):
    served = gateway()
    client = served.client
    word = "xyzzy-forget-me"
    with Worker(own_bus.backend, "echoes") as worker:
        forgotten, kept = session(client), session(client)
        for place, text in ((forgotten, word), (kept, "plugh-keep-me")):
            request = client.request(place, text, skill="echoes",
                                     attachments=[{"name": "a.txt", "data": "eHl6enk="}]).json["id"]
            job = worker.job()
            worker.start(job)
            worker.finish(job, f"said {text} " * 500)
            with client.follow(place) as stream:
                stream.until_end(request)
        files = [path for path in tmp_path.rglob("*") if path.name.startswith("sessions.db")]
        assert any(word.encode() in path.read_bytes() for path in files)
        # Also while somebody follows it.
        with client.follow(forgotten, after=1) as stream:
            stream.event()
            assert client.call("DELETE", f"/v1/sessions/{forgotten}").status == 204
        files = [path for path in tmp_path.rglob("*") if path.name.startswith("sessions.db")]
        assert not any(word.encode() in path.read_bytes() for path in files)
        assert any(b"plugh-keep-me" in path.read_bytes() for path in files)
        assert client.get(f"/v1/sessions/{forgotten}").status == 404
        assert client.get(f"/v1/sessions/{kept}").status == 200


@pytest.fixture
def counted(start, own_bus, tmp_path):
    """A worker whose outputs may be used again, and the lines that it has written: one for each run."""
    book = tmp_path / "book"
    worker = start("ChaosWorker", "--routers", own_bus.backend,
                   environment={"CHAOS_SKILL": "counted", "CHAOS_LEDGER": str(book)})
    eventually(lambda: "ready " in worker.output)
    return lambda: book.read_text().splitlines() if book.exists() else []


def finished(events):
    return next(event[2]["data"] for event in events if event[1] == "job.finished")


def test_the_same_request_is_answered_from_before(counted, gateway):
    client = gateway().client
    first = finished(client.run("one", skill="counted")[1])
    answer, events = client.run("one", skill="counted")
    again = finished(events)
    assert not first["cached"] and again["cached"] and again["output"] == first["output"]
    assert "".join(event[2]["data"]["text"] for event in events if event[1] == "job.delta") == "counted one"
    assert events[-1][2]["data"]["output"]["text"] == "counted one"
    assert counted() == ["one"]
    log = client.get("/v1/jobs?limit=5").json["jobs"]
    assert [job["outcome"] for job in log] == ["finished", "cached"]
    for fields in ({"cache": False}, {"arguments": {"milliseconds": 1}}):
        assert not finished(client.run("one", skill="counted", **fields)[1])["cached"]
    # What was said before in the session is part of the input.
    talk = client.session()
    client.run("two", talk, skill="counted")
    assert not finished([event for event in client.run("two", talk, skill="counted")[1]][-3:])["cached"]
    assert counted() == ["one", "one", "one", "two", "two"]


def test_same_requests_at_once_are_one_execution(counted, gateway):
    client = gateway().client
    requests = []
    for _ in range(8):
        place = client.session()
        requests.append((place, client.request(place, "same", skill="counted",
                                               arguments={"milliseconds": 1500}).json["id"]))
    cached = []
    for place, request in requests:
        with client.follow(place) as stream:
            cached.append(finished(stream.until_end(request))["cached"])
    assert counted() == ["same"] and sorted(cached) == [False] + [True] * 7


def test_the_command_can_do_without_the_cache(counted, gateway):
    served = gateway()
    for words in ((), ("--no-cache",), ()):
        asked = run(served, "ask", "--skill", "counted", *words, "three")
        assert (asked.returncode, asked.stdout) == (0, "counted three\n"), asked
    assert counted() == ["three", "three"]


def test_debug_shows_why_on_standard_error(counted, gateway):
    served = gateway()
    quiet = run(served, "ask", "--skill", "counted", "four")
    assert "debug:" not in quiet.stderr
    for words, environment in ((("--debug",), {}), ((), {"SKILLBUS_DEBUG": "1"})):
        told = run(served, "ask", "--skill", "counted", "--arguments", '{"milliseconds": 2}', "--no-cache", *words, "four",
                   **environment)
        assert told.stdout == "counted four\n"
        assert 'debug: s1 counted, arguments {"milliseconds":2}' in told.stderr
        assert "debug: s1 counted starts on" in told.stderr
    routed = run(served, "ask", "--debug", "counts, for tests: counted")
    assert "debug: plan: single, 1 step" in routed.stderr and "debug: score " in routed.stderr, routed.stderr
    assert "debug" not in routed.stdout
