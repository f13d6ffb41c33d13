"""Skills with a real model behind a real server (Tests/LLM/peer.sh): what servers do, not what the tests' own one plays.
A tiny model says little that makes sense, so nothing is expected of its words. `make test-llm` runs these."""
import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request

import pytest

from conftest import BIN, ROOT, System, eventually
from http_client import Client
from test_models import of, streamed

PEER = os.environ.get("SKILLBUS_LLM_PEER")
pytestmark = pytest.mark.skipif(not PEER, reason="no llama-server: SKILLBUS_LLM_PEER names no folder of make llm-peer")
# The machine may be busy, and a model on it slow.
PATIENCE = 120


class LlamaServer:
    """llama-server on a port that was free a moment ago."""

    def __init__(self, folder, mode="plain"):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"
        self.log = folder / "llama.log"
        self.line = subprocess.run([ROOT / "Tests/LLM/peer.sh", "arguments", PEER, mode], check=True,
                                   capture_output=True, text=True).stdout.splitlines()
        self.process = None

    def start(self):
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([*self.line, "--port", str(self.port)], stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log)

    def health(self):
        """200, 503 while the model is loaded, 0 while nobody listens."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=10) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def said(self, words):
        return self.log.read_text(errors="replace").count(words)

    def close(self):
        if self.process:
            self.process.kill()
            self.process.wait()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = LlamaServer(tmp_path_factory.mktemp("llama"))
    server.start()
    try:
        eventually(lambda: server.health() == 200, within=PATIENCE)
        yield server
    finally:
        server.close()


@pytest.fixture(scope="module")
def with_server(tmp_path_factory, server):
    system = System(tmp_path_factory.mktemp("with-llama"), {"SKILLBUS_LLM_URL": server.url})
    yield system
    system.program.close()


@pytest.fixture
def client(with_server):
    return Client(with_server.url)


def test_ask_streams_what_the_model_says(with_server):
    answer = subprocess.run(
        [BIN / "skillbus", "ask", "--json", "--skill", "chat", "--url", with_server.url, "Say hello."],
        capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.count('"job.delta"') > 1 and '"request.finished"' in answer.stdout
    assert '"engine":"smollm2' in answer.stdout or '"engine":"127.0.0.1' in answer.stdout, answer.stdout


def test_cancel_frees_the_servers_slot(client, server):
    before = server.said("cancel task")
    session = client.session()
    request = client.request(session, "Tell me a very long story about a lighthouse.", skill="chat").json["id"]
    with client.follow(session) as stream:
        while stream.event(within=PATIENCE)[1] != "job.delta":
            pass
        client.call("DELETE", f"/v1/sessions/{session}/requests/{request}")
        eventually(lambda: server.said("cancel task") > before, within=10)
        assert stream.until_end(request)[-1][1] == "request.cancelled"


def test_more_than_the_model_can_read_is_said_in_words(client):
    _, events = client.run("What is this? " + "The river rose and the mill stood still. " * 600, skill="chat", within=PATIENCE)
    error = of(events, "job.failed")[0]["error"]
    assert error["code"] == "model_input_too_long" and error["hint"], error


def test_two_are_served_at_once(client):
    sessions = [client.session() for _ in range(2)]
    requests = [client.request(session, "Count from one to five.", skill="chat").json["id"] for session in sessions]
    for session, request in zip(sessions, requests):
        with client.follow(session) as stream:
            events = stream.until_end(request, within=PATIENCE)
        assert events[-1][1] == "request.finished" and streamed(events)


def test_a_server_that_loads_its_model_is_asked_again_and_said_to_load(tmp_path):
    server = LlamaServer(tmp_path)
    system = System(tmp_path, {"SKILLBUS_LLM_URL": server.url})
    try:
        client = Client(system.url)
        server.start()
        eventually(lambda: server.health() in (200, 503), within=PATIENCE)
        session = client.session()
        request = client.request(session, "Say hello.", skill="chat").json["id"]
        with client.follow(session) as stream:
            events = stream.until_end(request, within=PATIENCE)
        # It may be quick enough for the tries, or not.
        if events[-1][1] == "request.failed":
            error = of(events, "job.failed")[0]["error"]
            assert error["code"] == "model_busy" and "loading" in error["message"] and error["hint"], error
            assert of(events, "job.retrying")
        eventually(lambda: server.health() == 200, within=PATIENCE)
        _, events = client.run("Say hello.", skill="chat", within=PATIENCE)
        assert events[-1][1] == "request.finished", events[-1]
    finally:
        system.program.close()
        server.close()


@pytest.mark.skipif(not os.environ.get("SKILLBUS_LLM_BOOK_KB"), reason="takes minutes: make test-llm-book")
def test_a_book_is_read_part_by_part(tmp_path):
    """Of so many kilobytes. Its parts are told as they are read, which is what somebody who waits for minutes looks at."""
    size = int(os.environ["SKILLBUS_LLM_BOOK_KB"]) * 1000
    book = tmp_path / "book.txt"
    pages = sorted(ROOT.glob("docs/**/*.md"))
    book.write_text("\n\n".join(page.read_text() for page in pages)[:size])
    assert book.stat().st_size >= size
    server = LlamaServer(tmp_path, "long")
    system = None
    try:
        server.start()
        eventually(lambda: server.health() == 200, within=PATIENCE)
        # As docs/models.md says for a slow server: no more calls than it serves at a time, and time for each.
        system = System(tmp_path, {"SKILLBUS_LLM_URL": server.url, "SKILLBUS_LLM_CONCURRENCY": "2",
                                   "SKILLBUS_LLM_FIRST_TOKEN_SECONDS": "1200", "SKILLBUS_LLM_TOTAL_SECONDS": "1800"})
        begun, told, end = time.monotonic(), [], None
        ask = subprocess.Popen(
            [BIN / "skillbus", "ask", "--json", "--skill", "summarize", "--file", book, "--url", system.url, "--timeout", "3000",
             "Summarize this."], stdout=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
        try:
            for line in ask.stdout:
                event = json.loads(line)
                if event["type"] == "job.progress":
                    told.append(event["data"])
                    print(f"{time.monotonic() - begun:6.1f} s  {event['data']['fraction']:.2f}  {event['data']['message']}")
                elif event["type"] in ("job.finished", "job.failed"):
                    end = event
            assert ask.wait(10) == 0, end
        finally:
            ask.kill()
            ask.wait()
        print(f"{time.monotonic() - begun:6.1f} s  {end['data']}")
        fractions = [data["fraction"] for data in told]
        assert fractions == sorted(fractions)
        first = [data["message"] for data in told if data["message"].startswith("read ")]
        parts = int(first[0].split()[3])
        assert parts >= size / 8192 and first[:parts + 1] == [f"read {number} of {parts} parts" for number in range(parts + 1)]
        assert end["data"]["output"]["parts"] and end["data"]["engine"].startswith(("smollm2", "127.0.0.1")), end
    finally:
        if system:
            system.program.close()
        server.close()
