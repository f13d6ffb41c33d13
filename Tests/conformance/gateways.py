"""A gateway that is killed and started again, and a worker that answers by itself."""
import json
import queue
import sqlite3
import subprocess
import threading
import time

from conftest import BIN, Program, eventually
from http_client import Client
from peers import Worker
from wire import DISPATCH, EVENT_ACK, FENCED, decode_executions, decode_job


class Gateway:
    """A gateway that is killed and started again over one folder."""

    def __init__(self, folder, bus, *arguments):
        self.folder, self.bus, self.arguments = folder, bus, arguments
        self.state = folder / "state"
        self.start()

    def start(self, wait=True):
        ready = self.folder / "gateway.json"
        ready.unlink(missing_ok=True)
        self.program = Program("skillbus-gateway", "--http", "127.0.0.1:0", "--state", self.state, "--routers",
                               self.bus.frontend, "--ready-file", ready, *self.arguments, folder=self.folder)
        if wait:
            eventually(lambda: self.program.process.poll() is not None or ready.exists())
            assert ready.exists(), self.program.output
            self.client = Client(json.loads(ready.read_text())["url"])
            eventually(lambda: self.client.get("/readyz").status == 200)
        return self

    def kill(self):
        self.program.process.kill()
        self.program.process.wait()

    def check(self, *options):
        return subprocess.run([BIN / "skillbus-gateway", "--check", "--state", self.state, *options],
                              capture_output=True, text=True, timeout=60)

    def sound(self):
        answer = self.check("--json")
        report = json.loads(answer.stdout or "{}")
        assert answer.returncode == 0 and report["problems"] == [], (answer.stderr, report)
        return report

    def database(self):
        return sqlite3.connect(self.state / "sessions.db", isolation_level=None)


class Echo:
    """A worker that answers each job by its text, from a thread of its own, and says so until it is acknowledged."""

    def __init__(self, bus, skill, **manifest):
        self.worker = Worker(bus.backend, skill, concurrency=8, **manifest)
        self.runs = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        worker, unacknowledged, said = self.worker, {}, time.monotonic()
        while not self._ended.is_set():
            if time.monotonic() > said + 1:
                said = time.monotonic()
                for job in unacknowledged.values():
                    worker.running[job.execution] = 0
                    worker.free -= 1
                    worker.finish(job, job.input["text"])
            try:
                message = worker.inbox.get(timeout=0.2)
            except queue.Empty:
                continue
            if message.type in (EVENT_ACK, FENCED):
                for execution in decode_executions(message.body):
                    unacknowledged.pop(execution, None)
            if message.type != DISPATCH:
                continue
            worker.seen = max(worker.seen, message.sequence)
            worker.free -= 1
            worker.running[message.execution] = 0
            message.skill, message.input = decode_job(message.body)
            text = message.input["text"]
            self.runs[text] = self.runs.get(text, 0) + 1
            worker.start(message)
            worker.finish(message, text)
            unacknowledged[message.execution] = message

    def close(self):
        self._ended.set()
        self._thread.join(5)
        self.worker.close()
