"""Plans from outside: two skills that fit, and a step of five that fails or hangs."""
import contextlib
import re
import subprocess

import pytest

from conftest import BIN, ROOT, Bus, eventually
from http_client import Client
from peers import Worker
from wire import CANCEL, FAILED

TWIN = {"description": "Summarise a text: its gist in a few sentences. 总结文本，概括要点。"}


def types(events):
    return [type for _, type, _ in events]


def data(events, type):
    return next(event["data"] for _, found, event in events if found == type)


@pytest.fixture
def own_bus(tmp_path):
    """A router for each test: one knows for a while what skills there were."""
    bus = Bus(tmp_path)
    yield bus
    bus.program.process.kill()
    bus.program.close()


@pytest.fixture
def twins(own_bus, gateway):
    """Two skills that say the same of themselves, and a gateway whose router knows them."""
    client = gateway().client
    with Worker(own_bus.backend, "twin-a", displayName="Twin A", **TWIN) as a, \
            Worker(own_bus.backend, "twin-b", displayName="Twin B", **TWIN) as b:
        eventually(lambda: {"twin-a", "twin-b"} <= {skill["id"] for skill in client.get("/v1/skills").json["skills"]})
        workers = {"twin-a": a, "twin-b": b}

        def is_learned():
            scores = client.call("POST", "/v1/route", {"text": "总结一下这段话"}).json["scores"]
            return all(any("in all" in reason for reason in score["reasons"]) for score in scores if score["skill"] in workers)

        eventually(is_learned)
        yield client, workers


def test_whoever_can_be_asked_is_asked_which_of_two_is_meant(twins):
    client, workers = twins
    session = client.session()
    _, events = client.run("总结一下这段话", session, can_clarify=True)
    assert types(events) == ["request.accepted", "clarify", "request.failed"]
    candidates = data(events, "clarify")["candidates"]
    # Which is the better one, the learning of their names may change.
    assert {(entry["skill"], entry["displayName"]) for entry in candidates} == {("twin-a", "Twin A"), ("twin-b", "Twin B")}
    assert all(0 < entry["score"] <= 1 for entry in candidates)
    error = data(events, "request.failed")["error"]
    assert error["code"] == "ambiguous" and "Twin A" in error["message"] and "twin-b" in error["hint"]
    # The choice is a request of its own, for the skill that was chosen.
    request = client.request(session, "总结一下这段话", skill="twin-b").json["id"]
    job = workers["twin-b"].job()
    workers["twin-b"].start(job)
    workers["twin-b"].finish(job, "short")
    with client.follow(session, after=events[-1][0]) as stream:
        rest = stream.until_end(request)
    assert types(rest)[-1] == "request.finished" and data(rest, "request.finished")["output"]["text"] == "short"


def test_whoever_cannot_be_asked_gets_the_better_one(twins):
    client, workers = twins
    route = client.call("POST", "/v1/route", {"text": "总结一下这段话"}).json
    better = route["candidates"][0]["skill"]
    assert [step["skill"] for step in route["steps"]] == [better]
    assert {entry["skill"] for entry in route["candidates"]} == set(workers)
    for fields in ({}, {"can_clarify": False}):
        session = client.session()
        request = client.request(session, "总结一下这段话", **fields).json["id"]
        job = workers[better].job()
        assert "canClarify" not in job.input
        workers[better].start(job)
        workers[better].finish(job, "short")
        with client.follow(session) as stream:
            events = stream.until_end(request)
        assert "clarify" not in types(events) and types(events)[-1] == "request.finished"


AWKWARD = {
    "a letter": "x", "a mark": "?", "emoji": "😀👩‍👩‍👧‍👦🇨🇳", "nul": "\0\0", "right to left": "لخص هذا النص من فضلك", "turned": "\u202eesiram",
    "mixed scripts": "总结 this עברית текст ภาษาไทย", "combining": "e\u0301\u0301 summarise", "a megabyte": "lorem ipsum " * 87_000,
    "a megabyte of one word": "a" * 1_048_000, "a megabyte of Chinese": "请总结翻译" * 69_000,
}


@pytest.mark.parametrize("name", AWKWARD)
def test_any_text_gets_a_decision(system, name):
    client = Client(system.url)
    answer = client.call("POST", "/v1/route", {"text": AWKWARD[name]})
    assert answer.status == 200, answer.body[:300]
    plan = answer.json
    assert (plan["mode"] == "none") == (plan["steps"] == [])
    skills = {skill["id"] for skill in client.get("/v1/skills").json["skills"]}
    assert {score["skill"] for score in plan["scores"]} == skills
    session = client.session()
    _, events = client.run(AWKWARD[name], session, can_clarify=True)
    ends = [type for type in types(events) if type in ("request.finished", "request.failed", "request.cancelled")]
    assert len(ends) == 1 and types(events)[-1] == ends[0]
    if ends == ["request.failed"]:
        error = data(events, "request.failed")["error"]
        assert error["code"] and error["message"]


@pytest.mark.parametrize("text", ["", " \n\t", None])
def test_no_text_is_refused_by_field(system, text):
    client = Client(system.url)
    for path in ("/v1/route", f"/v1/sessions/{client.session()}/requests"):
        answer = client.call("POST", path, {"text": text})
        assert answer.status == 400 and "text" in answer.json["detail"], (path, answer.body)


# Skills of kinds that no lexicon knows, with what users say of each.
WISHES = {
    "garden": ["water the tomatoes", "water the basil", "prune the roses", "plant the seedlings"],
    "kennel": ["walk the spaniel", "walk the collie", "feed the puppy", "brush the spaniel"],
    "dome": ["polish the telescope", "open the dome", "track the comet", "polish the mirror"],
    "harbour": ["moor the ferry", "paint the buoy", "anchor the ferry", "sweep the pier"],
    "stage": ["tune the piano", "hang the curtain", "tune the violin", "dim the lanterns"],
}
ALL = ", ".join(examples[0] for examples in WISHES.values())


@pytest.mark.parametrize("end", ["fails", "hangs"])
def test_one_step_of_five_leaves_four_results_and_one_error(own_bus, gateway, end):
    running = gateway()
    client = running.client
    with contextlib.ExitStack() as stack:
        workers = {skill: stack.enter_context(Worker(own_bus.backend, skill, examples=examples, description=f"The {skill}."))
                   for skill, examples in WISHES.items()}

        def plan():
            return client.call("POST", "/v1/route", {"text": ALL}).json

        # Its examples are learned a moment after a skill has registered.
        eventually(lambda: [step["skill"] for step in plan()["steps"]] == list(WISHES))
        assert plan()["mode"] == "parallel" and plan()["onFailure"] == "continue"
        session = client.session()
        request = client.request(session, ALL, timeout=3 if end == "hangs" else 60).json["id"]
        for skill, worker in workers.items():
            job = worker.job()
            worker.start(job)
            if skill != "dome":
                worker.finish(job, f"{skill} done")
            elif end == "fails":
                worker.say(job, 2, (FAILED, {"code": "no_cloth", "message": "there is no cloth"}))
        with client.follow(session) as stream:
            events = stream.until_end(request)
        assert data(events, "request.plan")["onFailure"] == "continue"
        assert types(events).count("job.finished") == 4 and types(events).count("job.failed") == 1
        assert types(events)[-1] == "request.finished"
        last = data(events, "request.finished")
        assert last["output"]["text"].split() == "garden done kennel done harbour done stage done".split()
        code = "no_cloth" if end == "fails" else "timeout"
        assert [(error["step"], error["skill"], error["error"]["code"]) for error in last["errors"]] == [("s3", "dome", code)]
        if end == "hangs":
            workers["dome"].expect(CANCEL)
    running.sound()


def test_what_a_chain_has_made_before_it_fails_is_not_lost(own_bus, gateway):
    client = gateway().client
    manifests = {"find": {"description": "Search in documents, find passages on a topic. 检索文档，查找资料。",
                          "produces": ["passages"]},
                 "digest": {"description": "Summarise a text: its gist in a few sentences. 总结文本，概括要点。"}}
    with contextlib.ExitStack() as stack:
        workers = {skill: stack.enter_context(Worker(own_bus.backend, skill, **manifest))
                   for skill, manifest in manifests.items()}
        text = "look up the leave policy and summarise it"

        def steps():
            plan = client.call("POST", "/v1/route", {"text": text}).json
            return [(step["skill"], step["after"]) for step in plan["steps"]]

        eventually(lambda: steps() == [("find", []), ("digest", ["s1"])])
        session = client.session()
        request = client.request(session, text).json["id"]
        job = workers["find"].job()
        workers["find"].start(job)
        workers["find"].finish(job, "thirty days")
        job = workers["digest"].job()
        assert job.input["previous"][0]["output"]["text"] == "thirty days"
        workers["digest"].say(job, 1, (FAILED, {"code": "too_dull", "message": "nobody reads this"}))
        with client.follow(session) as stream:
            events = stream.until_end(request)
        last = data(events, "request.failed")
        assert types(events)[-1] == "request.failed"
        assert last["error"]["code"] == "too_dull" and last["output"]["text"] == "thirty days"
        # It is what was said, also for what the user asks next.
        messages = client.get(f"/v1/sessions/{session}").json["messages"]
        assert [message["text"] for message in messages] == [text, "thirty days"]


def test_the_examples_of_the_documentation_come_out_as_it_says(system):
    rows = re.findall(r"^\| `([^`]+)` \|  ?\| `([^`]+)` \|$", (ROOT / "docs/routing.md").read_text(), re.MULTILINE)
    assert len(rows) >= 6
    for text, plan in rows:
        answer = subprocess.run([BIN / "skillbus", "route", "--explain", text, "--url", system.url],
                                capture_output=True, text=True, timeout=30)
        assert answer.returncode == 0, answer.stderr
        mode = re.search(r"^mode: (\w+)", answer.stdout).group(1)
        steps = re.findall(r"^  s\d+  (\S+)(?:  (after [s\d, ]+))?", answer.stdout, re.MULTILINE)
        found = ": ".join(filter(None, [mode, "; ".join(" ".join(filter(None, step)) for step in steps)]))
        assert found == plan, (text, answer.stdout)
        # Every skill's score.
        for skill in ("calculator", "chat", "citations", "keywords", "knowledge", "summarize", "translate"):
            assert re.search(rf"^\*? *{skill} +[01]\.\d\d\d", answer.stdout, re.MULTILINE), answer.stdout
