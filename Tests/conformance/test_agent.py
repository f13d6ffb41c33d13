"""The agent with a model, and without one; a model that chooses the skill. What the user sees of it, and what the model
server sees."""
import base64
import json
import os
import signal
import socket
import time

import pytest

from conftest import System, eventually
from http_client import Client
from models import Model

def call(skill, **arguments):
    return {"name": skill, "arguments": arguments}


RULES = [
    # Which skill a model names.
    {"if": "^choose the calculator", "reply": "calculator"},
    {"if": "which of these skills[\\s\\S]*8 \\* 8|which of these skills[\\s\\S]*8 乘以 8", "in": "all",
     "reply": "I think that the calculator would be best."},
    {"if": "which of these skills[\\s\\S]*the tide mill turns", "in": "all", "reply": "summarize, keywords"},
    {"if": "You summarise texts", "in": "system", "reply": "- A mill."},
    {"if": "^choose slowly", "behavior": "hang?s=20"},
    # Tasks of the agent, by what has been found so far.
    {"if": "#two[\\s\\S]*Result of call 2", "in": "all", "reply": "The square of 12 is 144, and twice that is 288."},
    {"if": "#two[\\s\\S]*Result of call 1", "in": "all", "tool": call("calculator", text="144 * 2")},
    {"if": "#two", "in": "all", "reasoning": "The square comes first.",
     "tool": call("calculator", text="what is 12 * 12")},
    {"if": "#both[\\s\\S]*Result of call", "in": "all", "reply": "Both are done."},
    {"if": "#both", "in": "all", "tools": [
        call("calculator", text="6 * 7"), call("keywords", text="the tide mill by the harbour; the tide mill turns")]},
    {"if": "#misfit[\\s\\S]*Not run[\\s\\S]*Result of call", "in": "all", "reply": "It worked in the end."},
    {"if": "#misfit[\\s\\S]*points must be integer", "in": "all", "tool": call("summarize", text="A mill. It turns.", points=1)},
    {"if": "#misfit[\\s\\S]*no skill", "in": "all", "tool": call("summarize", text="A mill. It turns.", points="one")},
    {"if": "#misfit", "in": "all", "tool": call("teleport", text="x")},
    {"if": "#never[\\s\\S]*No more skills", "in": "all", "reply": "I could not do it."},
    {"if": "#never", "in": "all", "tool": call("teleport", text="x")},
    {"if": "#again[\\s\\S]*called before", "in": "all", "reply": "Once is enough."},
    {"if": "#again", "in": "all", "tool": call("calculator", text="5 + 5")},
    {"if": "#endless[\\s\\S]*No more skills", "in": "all", "reply": "That is all I have."},
    {"if": "#endless[\\s\\S]*Result of call 2", "in": "all", "tool": call("calculator", text="3 + 3")},
    {"if": "#endless[\\s\\S]*Result of call 1", "in": "all", "tool": call("calculator", text="2 + 2")},
    {"if": "#endless", "in": "all", "tool": call("calculator", text="1 + 1")},
    {"if": "#handed[\\s\\S]*Result of call 2", "in": "all", "reply": "Handed on."},
    {"if": "#handed[\\s\\S]*Result of call 1", "in": "all", "tool": call("calculator", text="{{result 1}} + 1")},
    {"if": "#handed", "in": "all", "tool": call("calculator", text="20 + 1")},
    {"if": "#broken[\\s\\S]*Result of call 1", "in": "all", "behavior": "cut-mid-stream?say=" + "one two three " * 40},
    {"if": "#broken", "in": "all", "tool": call("calculator", text="1 + 2")},
    {"if": "#files[\\s\\S]*Result of call 1", "in": "all", "reply": "The file was read."},
    {"if": "#files", "in": "all", "tool": call("knowledge", text="how long is leave?", files=["leave.md"])},
    {"if": "#hangs", "in": "all", "behavior": "hang?s=20"},
    {"if": "#fails[\\s\\S]*Call 1 failed", "in": "all", "reply": "It cannot be divided by nothing."},
    {"if": "#fails", "in": "all", "tool": call("calculator", text="1 / 0")},
]


def of(events, kind, skill=None):
    return [event["data"] for _, type, event in events
            if type == kind and (skill is None or event.get("skill") == skill)]


def streamed(events, skill="agent"):
    return "".join(data["text"] for data in of(events, "job.delta", skill))


def said(events, skill="agent"):
    return [data["message"] for data in of(events, "job.progress", skill)]


def decision(events):
    return of(events, "request.plan")[0]["decision"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    model = Model(tmp_path_factory.mktemp("agent-model"), RULES)
    yield model
    model.close()


@pytest.fixture(scope="module")
def with_model(tmp_path_factory, model):
    system = System(tmp_path_factory.mktemp("agent"), {
        "SKILLBUS_LLM_URL": model.url, "SKILLBUS_LLM_MODEL": "small-model", "SKILLBUS_LLM_IDLE_SECONDS": "2"})
    yield system
    system.program.close()


@pytest.fixture
def client(with_model):
    return Client(with_model.url)


def test_two_steps_and_an_answer(client, model):
    _, events = client.run("#two: the square of 12, then twice that", skill="agent")
    assert events[-1][1] == "request.finished"
    assert streamed(events) == "The square of 12 is 144, and twice that is 288."
    assert events[-1][2]["data"]["output"]["text"] == streamed(events)
    assert of(events, "job.finished", "agent")[0]["engine"] == "small-model"
    found = [data["output"]["text"] for data in of(events, "job.finished", "calculator")]
    assert len(found) == 2 and "144" in found[0] and "288" in found[1]
    # Every call is to be seen, with what it was made.
    thoughts = "".join(data["text"] for data in of(events, "job.thinking", "agent"))
    assert "The square comes first." in thoughts and "what is 12 * 12" in thoughts and "144 * 2" in thoughts
    assert "calls calculator" in said(events)
    # DeepSeek refuses results of tools without what was thought before the calls.
    request = model.control("requests")[-1]["body"]
    called = [message for message in request["messages"] if message.get("tool_calls")]
    assert called[0]["reasoning_content"] == "The square comes first." and "reasoning_content" not in called[1]
    assert {tool["function"]["name"] for tool in request["tools"]} >= {"summarize", "calculator", "knowledge"}
    assert "agent" not in {tool["function"]["name"] for tool in request["tools"]}


def test_calls_of_one_answer_are_made_at_once(client):
    _, events = client.run("#both, please", skill="agent")
    assert streamed(events) == "Both are done."
    order = [(type, event.get("skill")) for _, type, event in events]
    # Both have begun before the model is asked again.
    assert {skill for type, skill in order if type == "job.finished"} == {"calculator", "keywords", "agent"}
    calls = [index for index, message in enumerate(said(events)) if message.startswith("calls ")]
    answers = [index for index, message in enumerate(said(events)) if "answered" in message]
    assert len(calls) == len(answers) == 2 and max(calls) < min(answers)


def test_what_does_not_fit_is_told_to_the_model(client):
    _, events = client.run("#misfit", skill="agent")
    assert streamed(events) == "It worked in the end."
    assert [message for message in said(events) if "does not fit" in message] == [
        message for message in said(events) if "teleport" in message or "points must be integer" in message]
    assert len(of(events, "job.finished", "summarize")) == 1


def test_what_never_fits_comes_to_an_end(client):
    _, events = client.run("#never", skill="agent")
    assert streamed(events) == "I could not do it."
    assert len([message for message in said(events) if "does not fit" in message]) == 3
    assert "too many calls did not fit; answering with what was found" in said(events)


def test_the_same_call_is_not_made_twice(client):
    _, events = client.run("#again", skill="agent")
    assert streamed(events) == "Once is enough."
    assert len(of(events, "job.finished", "calculator")) == 1
    assert any("was called with the same before" in message for message in said(events))


def test_rounds_are_bounded(client):
    _, events = client.run("#endless", skill="agent", arguments={"rounds": 2})
    assert streamed(events) == "That is all I have."
    assert len(of(events, "job.finished", "calculator")) == 2
    assert "the limit of 2 rounds of calls is reached; answering with what was found" in said(events)
    _, events = client.run("#endless 一直算下去", skill="agent", arguments={"rounds": 1})
    assert "已达到 1 轮调用的上限，用已有的结果作答" in said(events)


def test_tokens_are_bounded(client):
    _, events = client.run("#endless", skill="agent", arguments={"tokens": 1000})
    error = of(events, "request.failed")[0]["error"] if events[-1][1] == "request.failed" else None
    assert any("tokens are nearly spent" in message for message in said(events)) or error["code"] == "model_budget"
    if error:
        assert "the 1000 tokens of this job are spent" in error["message"] and "--arguments" in error["hint"]


def test_a_result_is_handed_on_whole(client):
    _, events = client.run("#handed", skill="agent")
    assert streamed(events) == "Handed on."
    assert [data["output"]["text"] for data in of(events, "job.finished", "calculator")] == ["21", "22"]


def test_a_call_that_fails_is_seen_by_the_model(client):
    _, events = client.run("#fails", skill="agent")
    assert streamed(events) == "It cannot be divided by nothing."
    assert any(message.startswith("calculator failed:") for message in said(events))


def test_an_endpoint_that_dies_in_the_middle(client):
    _, events = client.run("#broken", skill="agent")
    assert events[-1][1] == "request.failed"
    error = events[-1][2]["data"]["error"]
    assert error["code"] == "truncated" and "calls of skills finished before that: 1" in error["message"]


def attached(name, text):
    return {"name": name, "mediaType": "text/markdown", "data": base64.b64encode(text.encode()).decode()}


def test_a_file_goes_where_the_model_wants_it(client):
    files = [attached("leave.md", "Annual leave is thirty days."), attached("trips.md", "Trips are paid for.")]
    _, events = client.run("#files", skill="agent", attachments=files)
    assert streamed(events) == "The file was read."
    output = of(events, "job.finished", "knowledge")[0]["output"]
    assert [part["source"] for part in output["parts"] if part.get("kind") == "passage"] == ["leave.md"]


def test_a_hanging_endpoint_leaves_the_routers_plan(client):
    _, events = client.run("summarize this: #hangs. The mill turns. The mill stands by the harbour.", skill="agent", timeout=4)
    assert events[-1][1] == "request.finished", events[-1]
    assert any("took too long" in message and "going on without a model" in message for message in said(events))
    assert "running the router's plan: summarize" in said(events)
    assert of(events, "job.finished", "agent")[0]["engine"] == "offline"


def test_without_a_model_the_routers_plan_runs(system):
    client = Client(system.url)
    text = "summarize this and give me the keywords: The tide mill turns. The tide mill stands by the harbour."
    _, events = client.run(text, skill="agent")
    assert events[-1][1] == "request.finished"
    assert "no model: running the router's plan: summarize → keywords" in said(events)
    assert {data["engine"] for data in of(events, "job.finished", "agent")} == {"offline"}
    for skill in ("summarize", "keywords"):
        assert of(events, "job.finished", skill)[0]["output"]["text"] in streamed(events)
    # Files go along with every step.
    files = [attached("leave.md", "Annual leave is thirty days.")]
    _, events = client.run("look up in my documents how long annual leave is", skill="agent", attachments=files)
    output = of(events, "job.finished", "knowledge")[0]["output"]
    assert [part["source"] for part in output["parts"] if part.get("kind") == "passage"] == ["leave.md"]
    _, events = client.run("帮我总结这篇文章并提取关键词：今天天气很好。我们去公园玩。", skill="agent")
    assert "没有模型：按路由器的计划执行：summarize → keywords" in said(events)


# MARK: a model that chooses

def test_the_model_chooses(client, model):
    _, events = client.run("choose the calculator: 6 * 7", routing="model")
    assert decision(events) == {"by": "small-model"}
    plan = of(events, "request.plan")[0]
    assert (plan["mode"], [step["skill"] for step in plan["steps"]]) == ("single", ["calculator"])
    assert events[-1][1] == "request.finished" and "small-model chose calculator" in said(events)
    body = model.control("requests")[-1]["body"]
    assert body["max_tokens"] == 16 and not body["stream"] and "tools" not in body
    listed = body["messages"][0]["content"]
    assert all(f"\n{skill}: " in listed for skill in ("summarize", "calculator", "agent"))


@pytest.mark.parametrize("text, reason", [
    ("what is 8 * 8", "named no skill that is here"),
    ("summarize this and list its keywords: the tide mill turns", "plans of several steps are made by the router"),
    ("8 乘以 8 等于多少", "模型给出的不是现有的技能"),
])
def test_what_the_model_cannot_answer_the_router_decides(client, text, reason):
    _, events = client.run(text, routing="model")
    assert decision(events)["by"] == "local" and reason in decision(events)["reason"]
    assert any(reason in message for message in said(events))
    assert events[-1][1] == "request.finished"


def test_a_slow_model_is_not_waited_for(client):
    began = time.monotonic()
    _, events = client.run("choose slowly, what is 6 * 7", routing="model")
    assert decision(events)["by"] == "local" and decision(events)["reason"]
    assert events[-1][1] == "request.finished"
    planned = next(event["time"] for _, type, event in events if type == "request.plan")
    accepted = next(event["time"] for _, type, event in events if type == "request.accepted")
    seconds = float(planned[17:23]) - float(accepted[17:23])
    assert seconds % 60 < 4 and time.monotonic() - began < 15


def test_a_skill_that_is_named_counts(client, model):
    before = len(model.control("requests"))
    _, events = client.run("choose the keywords: 6 * 7", skill="calculator", routing="model")
    assert [step["skill"] for step in of(events, "request.plan")[0]["steps"]] == ["calculator"]
    assert "decision" not in of(events, "request.plan")[0]
    assert len(model.control("requests")) == before


def test_without_the_option_no_model_is_asked(client, model):
    before = len(model.control("requests"))
    _, events = client.run("what is 6 * 7")
    assert "decision" not in of(events, "request.plan")[0]
    assert len(model.control("requests")) == before


def test_routes_and_scores_are_the_routers_own(client, model):
    before = len(model.control("requests"))
    plan = client.call("POST", "/v1/route", {"text": "choose the keywords: 6 * 7"}).json
    assert plan["scores"] and "decision" not in plan and len(model.control("requests")) == before
    _, events = client.run("choose the calculator: 6 * 7", routing="model", explain=True)
    explained = of(events, "request.plan")[0]
    assert explained["decision"] == {"by": "small-model"} and {score["skill"] for score in explained["scores"]} >= {"keywords"}
    assert len(model.control("requests")) == before + 1


def test_an_unknown_routing_is_refused(client):
    answer = client.request(client.session(), "x", routing="magic")
    assert answer.status == 400 and "routing" in answer.body.decode()


def test_without_a_model_the_router_decides(system):
    _, events = Client(system.url).run("what is 6 * 7", routing="model")
    assert decision(events) == {"by": "local", "reason": "no model is set up for this skill (SKILLBUS_LLM_URL)"}
    assert [step["skill"] for step in of(events, "request.plan")[0]["steps"]] == ["calculator"]


@pytest.fixture(scope="module")
def dead(tmp_path_factory):
    """An endpoint that nobody listens at."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        system = System(tmp_path_factory.mktemp("agent-dead"), {
            "SKILLBUS_LLM_URL": f"http://127.0.0.1:{taken.getsockname()[1]}/v1"})
        yield system
        system.program.close()


def test_a_dead_endpoint_is_not_waited_for(dead):
    _, events = Client(dead.url).run("what is 6 * 7", routing="model")
    assert decision(events)["by"] == "local" and "cannot be reached" in decision(events)["reason"]
    assert events[-1][1] == "request.finished"
    _, events = Client(dead.url).run("6 乘以 7 等于多少", routing="model")
    assert "无法连接模型" in decision(events)["reason"]
    _, events = Client(dead.url).run("do something", skill="agent")
    assert events[-1][2]["data"]["error"]["code"] == "model_unreachable"


def test_a_dead_endpoint_leaves_the_routers_plan(dead):
    text = "give me the keywords: The tide mill turns. The tide mill stands by the harbour."
    _, events = Client(dead.url).run(text, skill="agent")
    assert events[-1][1] == "request.finished", events[-1]
    assert any("cannot be reached" in message and "going on without a model" in message for message in said(events))
    assert "running the router's plan: keywords" in said(events)
    assert of(events, "job.finished", "keywords")[0]["output"]["text"] == streamed(events)
    _, events = Client(dead.url).run("提取关键词：今天天气很好。我们去公园玩。", skill="agent")
    assert any("无法连接模型" in message for message in said(events))
    assert "按路由器的计划执行：keywords" in said(events)


def test_what_was_made_without_the_model_is_not_used_again(dead):
    for _ in range(2):
        _, events = Client(dead.url).run("The tide mill turns by the harbour.", skill="keywords")
        finished = of(events, "job.finished")[0]
        assert finished["provisional"] is True and not finished["cached"] and finished["engine"] == "offline"


@pytest.fixture(scope="module")
def outside(tmp_path_factory):
    """An endpoint outside, in a network that is nowhere (RFC 5737)."""
    system = System(tmp_path_factory.mktemp("agent-outside"), {"SKILLBUS_LLM_URL": "http://192.0.2.1:9/v1"})
    yield system
    system.program.close()


@pytest.mark.parametrize("policy", ["local-only", "ask"])
def test_what_may_not_leave_is_not_sent_to_choose(outside, policy):
    client = Client(outside.url)
    session = client.call("POST", "/v1/sessions", {"privacy": policy}).json["id"]
    _, events = client.run("what is 6 * 7", session, routing="model")
    assert decision(events)["by"] == "local" and "may not go to http://192.0.2.1:9" in decision(events)["reason"]
    assert not of(events, "disclosure") and not of(events, "approval")
    assert events[-1][1] == "request.finished"


def test_whoever_was_allowed_in_the_session_is_asked(outside):
    client = Client(outside.url)
    session = client.call("POST", "/v1/sessions", {"privacy": "ask"}).json["id"]
    first = client.request(session, "hello", skill="chat").json["id"]
    with client.follow(session) as stream:
        while stream.event()[1] != "approval":
            pass
        where = f"/v1/sessions/{session}/requests/{first}"
        assert client.call("POST", f"{where}/approval", {"choice": "always"}).status == 204
        client.call("DELETE", where)
        stream.until_end(first)
    request = client.request(session, "what is 6 * 7", routing="model").json["id"]
    with client.follow(session) as stream:
        events = [event for event in stream.until_end(request) if event[2].get("request") == request]
    assert of(events, "disclosure", "agent")[0]["party"] == "http://192.0.2.1:9"
    assert decision(events)["by"] == "local" and "may not go" not in decision(events)["reason"]
    assert events[-1][1] == "request.finished"


def test_what_may_leave_is_disclosed(outside):
    client = Client(outside.url)
    session = client.call("POST", "/v1/sessions", {"privacy": "allow"}).json["id"]
    _, events = client.run("what is 6 * 7", session, routing="model")
    assert of(events, "disclosure")[0]["party"] == "http://192.0.2.1:9"
    assert decision(events)["by"] == "local" and events[-1][1] == "request.finished"


@pytest.mark.parametrize("process", ["router", "gateway", "agent"])
def test_whoever_dies_while_a_model_chooses_nothing_is_lost(tmp_path, model, process):
    system = System(tmp_path, {"SKILLBUS_LLM_URL": model.url, "SKILLBUS_LLM_MODEL": "small-model"})
    try:
        client = Client(system.url)
        session = client.session()
        request = client.request(session, "choose slowly, what is 6 * 7", routing="model").json["id"]
        eventually(lambda: model.control("stats")["active"] > 0)
        pid = system.ready["pids"][process]
        os.kill(pid[0] if isinstance(pid, list) else pid, signal.SIGKILL)

        def ended():
            try:
                messages = client.get(f"/v1/sessions/{session}").json["messages"]
            except (OSError, json.JSONDecodeError):
                return False
            return len(messages) == 2

        eventually(ended, within=40)
        with client.follow(session) as stream:
            events = [(event["request"], type) for _, type, event in stream.until_end(request)]
        ends = [type for id, type in events if id == request and type in
                ("request.finished", "request.failed", "request.cancelled")]
        assert ends == ["request.finished"] and events.count((request, "request.plan")) == 1
    finally:
        system.program.close()
