"""The gateway's HTTP interface, as any program may use it."""
import base64
import itertools
import uuid

import pytest

from wire import DELTA
from conftest import eventually
from http_client import Client
from peers import Worker

numbers = itertools.count(1)
TERMINAL = {"request.finished", "request.failed", "request.cancelled"}


@pytest.fixture(scope="module")
def client(system):
    return Client(system.url)


def types(events):
    return [type for _, type, _ in events]


def problem(answer, status):
    """Checks an error's form (RFC 9457), and gives it."""
    assert answer.status == status, (answer.status, answer.body)
    assert answer.headers.get_content_type() == "application/problem+json"
    body = answer.json
    assert body["status"] == status and body["title"] and body["detail"]
    return body


def test_health_and_readiness(client):
    assert client.get("/healthz").status == 200
    assert client.get("/readyz").status == 200


def test_every_builtin_skill_is_listed(client):
    skills = {skill["id"]: skill for skill in client.get("/v1/skills").json["skills"]}
    assert {"summarize", "keywords", "knowledge", "calculator", "chat", "translate", "citations"} <= set(skills)
    worker = skills["summarize"]["workers"][0]
    assert {"id", "host", "pid", "credit", "busy"} <= set(worker)


def test_a_request_reaches_one_end_in_one_order(client):
    answer, events = client.run("what is 0.1 + 0.2")
    assert [number for number, _, _ in events] == list(range(1, len(events) + 1))
    assert types(events)[0] == "request.accepted" and types(events)[-1] == "request.finished"
    assert {"request.plan", "job.started", "job.finished"} <= set(types(events))
    assert len([type for type in types(events) if type in TERMINAL]) == 1
    assert "0.3" in events[-1][2]["data"]["output"]["text"]
    for number, type, event in events:
        assert event["seq"] == number and event["type"] == type and event["session"] == answer["session"]
        assert event["request"] == answer["id"] and event["time"].endswith("Z")
        if type.startswith("job."):
            assert event["skill"] == "calculator" and event["step"] == "s1" and event["attempt"] == 1


def test_the_deltas_are_the_output(client):
    _, events = client.run("Say hello, please.", skill="chat")
    text = "".join(event["data"]["text"] for _, type, event in events if type == "job.delta")
    assert text == next(event for _, type, event in events if type == "job.finished")["data"]["output"]["text"]


def test_two_skills_run_at_once(client):
    article = ("The river rose by two metres on Monday. The bridge was closed at noon. Trains ran late all day. "
               "The council met in the evening. It decided to build a higher bridge.")
    _, events = client.run(f"Summarize this article and extract its keywords: {article}")
    plan = next(event for _, type, event in events if type == "request.plan")["data"]
    assert plan["mode"] == "parallel" and {step["skill"] for step in plan["steps"]} == {"summarize", "keywords"}
    assert types(events)[-1] == "request.finished"


def test_a_follower_resumes_after_any_event(client):
    session = client.session()
    _, events = client.run("what is 1 + 1", session)
    with client.follow(session, after=events[2][0]) as stream:
        rest = [stream.event() for _ in events[3:]]
    assert rest == events[3:]


def test_a_follower_that_comes_late_gets_everything_and_then_what_is_new(client):
    session = client.session()
    first, _ = client.run("what is 1 + 1", session)
    with client.follow(session) as stream:
        stream.until_end(first["id"])
        second = client.request(session, "what is 2 + 2").json
        assert all(event["request"] == second["id"] for _, _, event in stream.until_end(second["id"]))


@pytest.mark.parametrize("value", ["abc", "-1", "1.5", "99999999999999999999999", ""])
def test_a_malformed_last_event_id_is_no_crash(client, value):
    session = client.session()
    client.run("what is 1 + 1", session)
    with client.follow(session, after=value) as stream:
        assert stream.response.status in (200, 400)
        if stream.response.status == 400:
            assert stream.response.getheader("Content-Type").startswith("application/problem+json")
    assert client.get("/healthz").status == 200


def test_sessions_do_not_see_each_other(client):
    one, other = client.session(), client.session()
    client.run("what is 1 + 1", one)
    snapshot = client.get(f"/v1/sessions/{other}").json
    assert snapshot["messages"] == [] and snapshot["running"] == []


def test_a_snapshot_has_the_conversation(client):
    session = client.session()
    answer, events = client.run("what is 1 + 1", session)
    snapshot = client.get(f"/v1/sessions/{session}").json
    assert snapshot["id"] == session and snapshot["seq"] == events[-1][0] and snapshot["running"] == []
    assert [(message["role"], message["request"]) for message in snapshot["messages"]] == \
        [("user", answer["id"]), ("assistant", answer["id"])]


def test_an_idempotency_key_gives_the_first_request_again(client):
    session, key = client.session(), str(uuid.uuid4())
    first = client.request(session, "what is 1 + 1", {"Idempotency-Key": key})
    again = client.request(session, "what is 1 + 1", {"Idempotency-Key": key})
    assert first.status == 202 and again.json["id"] == first.json["id"]
    problem(client.request(session, "what is 2 + 2", {"Idempotency-Key": key}), 422)


def test_a_cancel_ends_a_request(system, client):
    skill = f"slow-{next(numbers)}"
    with Worker(system.backend, skill) as worker:
        session = client.session()
        request = client.request(session, "hello", skill=skill).json["id"]
        job = worker.job()
        worker.start(job)
        assert client.call("DELETE", f"/v1/sessions/{session}/requests/{request}").status in (200, 202, 204)
        with client.follow(session) as stream:
            assert types(stream.until_end(request))[-1] == "request.cancelled"


def test_a_worker_in_another_language_is_routed_to(system, client):
    """No process was restarted, and no program knows it by name."""
    description = "Turns a word backwards: reverses the letters of a word."
    examples = ["reverse the word hello", "write stressed backwards", "turn the letters of this word around"]
    with Worker(system.backend, "backwards", description=description, examples=examples) as worker:
        assert "backwards" in {skill["id"] for skill in client.get("/v1/skills").json["skills"]}
        plan = client.call("POST", "/v1/route", {"text": "reverse the word skill"}).json
        assert [step["skill"] for step in plan["steps"]] == ["backwards"]
        session = client.session()
        request = client.request(session, "reverse the word skill").json["id"]
        job = worker.job()
        worker.start(job)
        worker.finish(job, "lliks")
        with client.follow(session) as stream:
            assert stream.until_end(request)[-1][2]["data"]["output"]["text"] == "lliks"


def test_a_worker_that_dies_is_replaced_in_sight_of_the_user(system, client):
    skill = f"fragile-{next(numbers)}"
    first = Worker(system.backend, skill)
    session = client.session()
    request = client.request(session, "hello", skill=skill).json["id"]
    job = first.job()
    first.start(job)
    first.say(job, 2, (DELTA, "half of it"))
    with client.follow(session) as stream:
        while stream.event()[1] != "job.delta":
            pass
        with Worker(system.backend, skill) as second:
            first.close()
            again = second.job()
            second.start(again)
            second.finish(again, "all of it")
            rest = stream.until_end(request)
    assert types(rest)[0] == "job.retrying" and rest[0][2]["data"]["attempt"] == 2
    assert types(rest).count("job.finished") == 1
    assert rest[-1][2]["data"]["output"]["text"] == "all of it"


def test_an_attachment_reaches_the_worker(system, client):
    skill, content = f"reader-{next(numbers)}", bytes(range(256)) * 100
    with Worker(system.backend, skill, inputTypes=["text", "file"]) as worker:
        session = client.session()
        client.request(session, "read this", skill=skill, attachments=[
            {"name": "a.bin", "mediaType": "application/octet-stream", "data": base64.b64encode(content).decode()}])
        job = worker.job()
        assert job.attachments == [content] and job.input["attachments"][0]["name"] == "a.bin"
        worker.finish(job, "ok", sequence=1)


@pytest.mark.parametrize("body, status", [
    (b"", 400), (b"{", 400), (b"[]", 400), (b'"text"', 400), (b'{"text": 1}', 400), (b'{"text": ""}', 400),
    (b'{"text": "\xff\xfe"}', 400), (b'{"text": "x", "when_busy": "sometimes"}', 400),
    (b'{"text": "x", "attachments": [{"name": "a", "mediaType": "text/plain", "data": "%%"}]}', 400),
], ids=["empty", "cut", "array", "string", "number", "no text", "not UTF-8", "wrong choice", "not base64"])
def test_a_bad_body_is_named(client, body, status):
    session = client.session()
    answer = client.call("POST", f"/v1/sessions/{session}/requests", body, {"Content-Type": "application/json"})
    problem(answer, status)


def test_an_unknown_session_is_not_found(client):
    for path in (f"/v1/sessions/{uuid.uuid4()}", f"/v1/sessions/{uuid.uuid4()}/events", "/v1/sessions/nonsense"):
        problem(client.get(path), 404)


def test_an_unknown_path_and_method_are_told_apart(client):
    problem(client.get("/v1/nonsense"), 404)
    answer = client.call("PUT", "/v1/sessions", b"{}")
    problem(answer, 405)
    assert "POST" in answer.headers["Allow"]


def test_too_much_text_is_refused_with_the_limit(client):
    answer = client.request(client.session(), "x" * (10 * 1024 * 1024))
    assert "1048576" in problem(answer, 413)["detail"].replace(",", "").replace(".", "")


def test_an_unknown_skill_fails_the_request_by_name(client):
    _, events = client.run("hello", skill="no-such-skill")
    assert types(events)[-1] == "request.failed"
    error = events[-1][2]["data"]["error"]
    assert error["code"] == "unknown_skill" and "no-such-skill" in error["message"]


def test_wrong_arguments_fail_the_request_by_field(client):
    _, events = client.run("1/3", skill="calculator", arguments={"precision": "many"})
    error = events[-1][2]["data"]["error"]
    assert error["code"] == "invalid_arguments" and "precision" in error["message"]


def test_the_skill_log_has_the_job(client):
    answer, _ = client.run("what is 1 + 1", cache=False)
    job = eventually(lambda: next((job for job in client.get("/v1/jobs?limit=50").json["jobs"]
                                   if job["request"] == answer["id"]), None))
    assert {"time", "session", "request", "job", "skill", "worker", "milliseconds", "outcome"} <= set(job)
    assert job["skill"] == "calculator" and job["outcome"] == "finished"
