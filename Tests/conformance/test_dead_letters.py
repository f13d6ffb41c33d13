"""Jobs that keep ending their workers: given up, listed, shown, sent again, thrown away."""
import json
import subprocess

from conftest import BIN, eventually
from gateways import Echo
from peers import Worker


def skillbus(client, *words):
    return subprocess.run([BIN / "skillbus", "dead-letters", *words, "--url", f"http://{client.host}"], timeout=30,
                          capture_output=True, text=True, stdin=subprocess.DEVNULL)


def give_up(bus, client, text):
    """A request whose workers all die with it."""
    session = client.session()
    worker = Worker(bus.backend, "fragile")
    request = client.request(session, text, skill="fragile", priority="high").json["id"]
    for attempt in range(3):
        job = worker.job()
        worker.start(job)
        eventually(lambda: json.dumps(client.get(f"/v1/sessions/{session}").json).count("running"))
        worker.close()
        if attempt < 2:
            worker = Worker(bus.backend, "fragile")
    with client.follow(session) as stream:
        assert stream.until_end(request)[-1][2]["data"]["error"]["code"] == "dead_lettered"
    return session, request


def test_a_dead_letter_is_listed_shown_sent_again_and_thrown_away(own_bus, gateway):
    running = gateway()
    client = running.client
    session, request = give_up(own_bus, client, "the text")
    letters = client.get("/v1/dead-letters").json
    (letter,) = letters["deadLetters"]
    assert letter["request"] == request and letter["session"] == session and letter["skill"] == "fragile"
    assert letter["text"] == "the text" and "retriedAs" not in letter and "next" not in letters
    assert letter["error"]["code"] == "dead_lettered" and letter["attempts"] == 3
    detail = client.get(f"/v1/dead-letters/{letter['id']}").json
    assert detail["deadLetter"] == letter
    assert len(detail["attempts"]) == 3 and all("died" in one["reason"] for one in detail["attempts"][:2])
    assert "given up" in detail["attempts"][2]["reason"] and all(one["worker"] for one in detail["attempts"])
    assert detail["events"][-1]["type"] == "job.failed"
    # It survives the gateway.
    running.kill()
    client = running.start().client
    assert client.get("/v1/dead-letters").json == letters

    shown = skillbus(client, "show", letter["id"])
    assert shown.returncode == 0 and "given up after 3 attempts" in shown.stdout, shown
    listed = skillbus(client)
    assert letter["id"] in listed.stdout and " no " in listed.stdout, listed
    echo = Echo(own_bus, "fragile")
    try:
        again = json.loads(skillbus(client, "retry", letter["id"], "--json").stdout)
        assert again["session"] == session and again["id"] != request
        with client.follow(session) as stream:
            events = stream.until_end(again["id"])
        own = [event for _, _, event in events if event["request"] == again["id"]]
        assert own[0]["data"]["retryOf"] == request and own[-1]["data"]["output"]["text"] == "the text"
        # Once more is the same one.
        second = client.call("POST", f"/v1/dead-letters/{letter['id']}/retry")
        assert second.status == 202 and second.json["id"] == again["id"]
        assert echo.runs == {"the text": 1}
        assert client.get(f"/v1/dead-letters/{letter['id']}").json["deadLetter"]["retriedAs"] == again["id"]
    finally:
        echo.close()
    assert skillbus(client, "discard", letter["id"]).returncode == 0
    assert client.get("/v1/dead-letters").json["deadLetters"] == []
    gone = skillbus(client, "discard", letter["id"])
    assert gone.returncode == 1 and "There is no dead letter" in gone.stderr
    assert client.get("/v1/dead-letters/none").json["code"] == "dead_letter_not_found"
    running.sound()
