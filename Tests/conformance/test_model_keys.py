"""A key of a model endpoint is in no log, event, list, file or command line, however the endpoint repeats it."""
import http.server
import json
import os
import pathlib
import subprocess
import threading

import pytest

from conftest import BIN, System
from http_client import Client

KEYS = {"": "sk-canary-27182818284590452353", "_2": "sk-canary-60287471352662497757"}


class Gossip(http.server.BaseHTTPRequestHandler):
    """Says in each way that there is what it was sent as a key; the text that it is asked says in which."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def whole(self, status, body, kind="application/json", **headers):
        body = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        way = request["messages"][-1]["content"]
        key = self.headers["Authorization"].removeprefix("Bearer ")
        self.server.heard.append(key)
        answer = {"choices": [{"index": 0, "delta": {"content": "heard"}}], "model": f"model-of-{key}"}
        end = "data: " + json.dumps({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}) + "\n\ndata: [DONE]\n\n"
        error = {"error": {"message": f"no good key: {key}", "type": f"type {key}", "code": key}}
        start = "data: " + json.dumps(answer) + "\n\n"
        if "refuse" in way:
            self.whole(401, error)
        elif "in plain words" in way:
            self.whole(400, f"what is {key}?", "text/plain")
        elif "of a list" in way:
            self.whole(422, {"detail": [{"loc": ["header", key], "msg": f"wrong: {key}"}]})
        elif "at the cut" in way:
            self.whole(400, "𝄞" * 495 + key, "text/plain")
        elif "redirect" in way:
            self.whole(307, "", Location=f"http://127.0.0.1:1/{key}")
        elif "fall ill" in way:
            self.whole(500, error)
        elif "wait" in way:
            self.whole(429, error, **{"Retry-After": "0"})
        elif "in the middle" in way:
            self.whole(200, start + "data: " + json.dumps(error) + "\n\n", "text/event-stream")
        elif "as an event" in way:
            self.whole(200, start + "event: error\ndata: " + "x" * 480 + key + "\n\n", "text/event-stream")
        elif "no JSON" in way:
            self.whole(200, start + f"data: {{{key}\n\n", "text/event-stream")
        else:
            self.whole(200, start + end, "text/event-stream")


@pytest.fixture(scope="module")
def endpoint():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Gossip)
    server.heard = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def told(tmp_path_factory, endpoint):
    """A system with two endpoints, one with its key in a file and one with its key in a variable."""
    folder = tmp_path_factory.mktemp("told")
    file = folder / "key"
    file.write_text(KEYS[""] + "\n")
    file.chmod(0o600)
    url = f"http://127.0.0.1:{endpoint.server_address[1]}/v1"
    system = System(folder, {"SKILLBUS_LLM_URL": url, "SKILLBUS_LLM_KEY_FILE": str(file), "SKILLBUS_LLM_URL_2": url,
                             "SKILLBUS_LLM_KEY_2": KEYS["_2"], "SKILLBUS_LOG": "debug"})
    system.folder = folder
    yield system
    system.program.close()


def shown(key, said):
    """What of a key stands in some bytes: eight characters of it in a row are too many."""
    secret = key.removeprefix("sk-canary-")
    return next((secret[at:at + 8] for at in range(len(secret) - 7) if secret[at:at + 8].encode() in said), None)


def command(told, *arguments):
    done = subprocess.run([BIN / "skillbus", *arguments], capture_output=True, timeout=60, stdin=subprocess.DEVNULL,
                          env=os.environ | {"SKILLBUS_URL": told.url})
    return done.stdout + done.stderr


WAYS = ["answer", "refuse", "say it in plain words", "make it part of a list", "say it at the cut", "redirect", "fall ill", "wait",
        "say it in the middle", "say it as an event", "say it in no JSON"]


def test_a_key_is_nowhere_but_in_its_header(told, endpoint):
    client = Client(told.url)
    seen = {}
    for way in WAYS:
        seen[f"events of '{way}'"] = json.dumps(client.run(f"please {way}", skill="chat", within=60)).encode()
    seen["ask"] = command(told, "ask", "--debug", "--skill", "chat", "please refuse")
    seen["agent"] = command(told, "ask", "--debug", "--skill", "agent", "please refuse")
    seen["summarize"] = command(told, "ask", "--debug", "--skill", "summarize", "please refuse to summarize this text.")
    seen["translate"] = command(told, "ask", "--json", "--skill", "translate", "translate into German: refuse this")
    # Each endpoint got its own key and only that: both are asked, since the first refuses.
    assert set(endpoint.heard) == set(KEYS.values())
    assert b"model_key" in seen["events of 'refuse'"] and "•••" in json.loads(seen["events of 'refuse'"])[1][-2][2]["data"]["error"]["message"]
    for path in ["/v1/skills", "/v1/jobs?limit=1000", "/v1/sessions", "/v1/dead-letters", "/v1/disclosures"]:
        answer = client.get(path)
        assert answer.status == 200, path
        seen[path] = answer.body
    for arguments in (["skills", "-v"], ["log"], ["sessions"], ["privacy"]):
        seen[" ".join(arguments)] = command(told, *arguments)
    seen["ps"] = subprocess.run(["ps", "axww", "-o", "pid,comm,args"], check=True, capture_output=True).stdout
    pids = [pid for pids in told.ready["pids"].values() for pid in (pids if isinstance(pids, list) else [pids])]
    for pid in pids:
        seen[f"command line of {pid}"] = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    assert f"{pids[0]} ".encode() in seen["ps"]
    # With it ended, all that is in memory and may be written has been.
    told.program.terminate()
    files = [path for path in told.folder.rglob("*") if path.is_file() and path.name != "key"]
    assert any(path.suffix == ".log" for path in files) and any(path.name.startswith("sessions.db") for path in files)
    for path in files:
        seen[str(path)] = path.read_bytes()
    for where, said in seen.items():
        for key in KEYS.values():
            assert not shown(key, said), f"{shown(key, said)} of a key is in {where}: {said[:2000]!r}"
