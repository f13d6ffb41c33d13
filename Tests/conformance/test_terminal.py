"""What a skill, a model or another user says never reaches a terminal raw."""
import os
import pty
import select
import subprocess
import threading
import time

import pytest

from conftest import BIN
from http_client import Client
from peers import Worker
from wire import DELTA, FAILED, PARTIAL, PROGRESS, STARTED, THINKING

# Writes to the clipboard, clears the screen, sets the title, the same in one byte, turns writing round, rings.
HOSTILE = {"osc 52": "\x1b]52;c;ZXZpbA==\x07", "clear": "\x1b[2J", "title": "\x1b]0;owned\x1b\\", "c1": "\u009b2J",
           "bidi": "\u202e", "keys": "\x1b[?1000h", "return": "fake\rprompt$ rm"}
TEXT = "before " + " ".join(HOSTILE.values()) + " after"


def on_a_terminal(*words, url, folder, within=60, typed=()):
    """Everything that the program writes to a terminal. Of `typed`, (after, text): text is typed when after has shown,
    and the end of the input when all of it has."""
    typed, ends_input = list(typed), bool(typed)
    clean = {key: value for key, value in os.environ.items() if not key.startswith("SKILLBUS_")}
    ours, theirs = pty.openpty()
    process = subprocess.Popen([BIN / "skillbus", *words], stdin=theirs, stdout=theirs, stderr=theirs,
                               env=clean | {"SKILLBUS_URL": url, "SKILLBUS_STATE": str(folder), "TERM": "xterm"},
                               start_new_session=True)
    os.close(theirs)
    written, end = b"", time.monotonic() + within
    try:
        while time.monotonic() < end:
            if not select.select([ours], [], [], 0.5)[0]:
                # Typed while it is still busy, the end of the input may be lost: again, until it has ended.
                if ends_input and not typed:
                    os.write(ours, b"\x04")
                continue
            try:
                piece = os.read(ours, 65536)
            except OSError:
                break
            if not piece:
                break
            written += piece
            if typed and typed[0][0].encode() in written:
                os.write(ours, typed.pop(0)[1].encode())
        process.wait(10)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    return written.decode(errors="replace")


def expect_harmless(written, what):
    for name, sequence in HOSTILE.items():
        assert sequence not in written, (what, name, written)
    # Nor in pieces: of control characters there is what the program itself writes.
    assert "\x07" not in written and "\x1b]" not in written and "\x9b" not in written, (what, written)


@pytest.mark.parametrize("end", ["finished", "failed"])
def test_what_a_skill_says_is_harmless(system, tmp_path, end):
    skill = f"hostile-{end}"
    with Worker(system.backend, skill, description=f"Says bad things. {TEXT}", displayName=f"Bad {TEXT}",
                examples=[f"say {TEXT}"]) as worker:
        def run():
            job = worker.job(60)
            worker.say(job, 1, (STARTED, {"worker": f"w {TEXT}", "engine": f"offline {TEXT}", "skill": skill}))
            worker.say(job, 2, (THINKING, TEXT), (PROGRESS, {"message": TEXT, "fraction": 0.5}))
            worker.say(job, 4, (PARTIAL, {"text": TEXT, "parts": []}))
            # A sequence cut in two is one sequence on a terminal.
            worker.say(job, 5, (DELTA, TEXT[: TEXT.index("]") + 3]))
            worker.say(job, 6, (DELTA, TEXT[TEXT.index("]") + 3:]))
            if end == "failed":
                worker.say(job, 7, (FAILED, {"code": "skill_failed", "message": TEXT, "hint": TEXT}))
            else:
                worker.finish(job, "", sequence=7)

        thread = threading.Thread(target=run)
        thread.start()
        written = on_a_terminal("ask", "--skill", skill, f"please {TEXT}", url=system.url, folder=tmp_path)
        thread.join(60)
        assert "before" in written
        expect_harmless(written, "ask")
        for words in (["skills", "-v"], ["sessions"], ["log"], ["route", f"say {TEXT}"]):
            written = on_a_terminal(*words, url=system.url, folder=tmp_path)
            assert written
            expect_harmless(written, words)
        client = Client(system.url)
        session = client.get("/v1/sessions").json["sessions"][0]["id"]
        for words in (["resume", session], ["resume", "--json", session]):
            expect_harmless(on_a_terminal(*words, url=system.url, folder=tmp_path), words)


def test_what_a_skill_says_in_a_chat_is_harmless(system, tmp_path):
    skill = "hostile-chat"
    with Worker(system.backend, skill, displayName=f"Bad {TEXT}") as worker:
        def run():
            job = worker.job(60)
            worker.say(job, 1, (STARTED, {"worker": "w", "engine": "offline", "skill": skill}),
                       (PROGRESS, {"message": TEXT, "fraction": 0.5}))
            worker.finish(job, TEXT + " and the end", sequence=3)

        thread = threading.Thread(target=run)
        thread.start()
        typed = [("skillbus", f"@{skill} please\n"), ("and the end", "")]
        written = on_a_terminal("chat", url=system.url, folder=tmp_path, typed=typed)
        thread.join(60)
        assert "before" in written and "and the end" in written
        expect_harmless(written, "chat")


def test_what_a_false_gateway_says_is_harmless(tmp_path):
    """An error of whoever answers at the gateway's address."""
    import http.server
    import json
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = json.dumps({"type": "about:blank", "title": TEXT, "status": 400, "detail": TEXT, "code": TEXT,
                               "hint": TEXT}).encode()
            self.send_response(400)
            self.send_header("Content-Type", "application/problem+json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_port}"
        for words in (["skills"], ["sessions"], ["ask", "x"], ["route", "x"], ["log"]):
            written = on_a_terminal(*words, url=url, folder=tmp_path)
            assert "before" in written, words
            expect_harmless(written, words)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
