"""A worker and a gateway in Python, against the real router. Each owns its socket on a thread of its own."""
import os
import queue
import socket
import threading
import time

from bus import (ANSWER, CREDIT, DELTA, DISPATCH, ERROR, EVENT, EVENT_ACK, FINISHED, HEARTBEAT, HELLO, QUERY, REGISTER, STARTED,
                 SUBMIT, TERMINAL, WELCOME, Message, Peer, executions, identifier, job_body, read_job_body, records,
                 text_of, write_records)


class Connection:
    """Reads and sends on its thread; `inbox` has what came, but for heartbeats."""

    def __init__(self, endpoint):
        self.endpoint = endpoint
        self.inbox = queue.Queue()
        self.outbox = queue.Queue()
        self.welcome = None
        self.welcomed = threading.Event()
        self.is_silent = False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        with Peer(connect=self.endpoint) as peer:
            self._send(peer, self.introduction())
            last = introduced = time.monotonic()
            while not self._ended.is_set():
                while not self.outbox.empty():
                    self._send(peer, self.outbox.get())
                now = time.monotonic()
                if self.welcomed.is_set() and not self.is_silent and now - last >= self.welcome["heartbeat"] / 2000:
                    last = now
                    self._send(peer, self.heartbeat())
                if not self.welcomed.is_set() and now - introduced > 2:
                    introduced = now
                    self._send(peer, self.introduction())
                message = peer.receive(0.01)
                if message is None or message.type == HEARTBEAT:
                    continue
                if message.type == WELCOME:
                    self.welcome = message.json
                    self.welcomed.set()
                else:
                    self.inbox.put(message)
            while not self.outbox.empty():
                self._send(peer, self.outbox.get())
            peer.socket.linger = 1000

    def _send(self, peer, message):
        peer.send_raw(message if isinstance(message, list) else message.frames())

    def send(self, message):
        self.outbox.put(message)

    def expect(self, *types, job=None, within=15.0):
        """The next message of one of these types, and about this job if one is given. Others are dropped."""
        end = time.monotonic() + within
        while True:
            try:
                message = self.inbox.get(timeout=max(end - time.monotonic(), 0.001))
            except queue.Empty:
                raise AssertionError(f"no message of type {types} within {within} s") from None
            if message.type in types and (job is None or message.job == job):
                return message

    def nothing(self, *types, within=1.0):
        """Fails if a message of one of these types comes in this time."""
        end = time.monotonic() + within
        while (rest := end - time.monotonic()) > 0:
            try:
                message = self.inbox.get(timeout=rest)
            except queue.Empty:
                return
            assert message.type not in types, message

    def close(self):
        """Goes without a word, as a crash does."""
        self._ended.set()
        self._thread.join(5)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Worker(Connection):
    """A worker whose test says what its jobs do."""

    def __init__(self, endpoint, skill, concurrency=1, wait=True, **manifest):
        self.name = f"python-{skill}-{os.urandom(2).hex()}"
        self.instance = text_of(identifier())
        self.skill, self.concurrency, self.free = skill, concurrency, concurrency
        self.manifest = {"id": skill, "description": f"Does {skill}, for tests only.", "cacheTTL": 0,
                         "concurrency": concurrency} | manifest
        self.seen = 0
        self.held = []
        super().__init__(endpoint)
        if wait:
            assert self.welcomed.wait(10), "no WELCOME"

    def introduction(self):
        return Message(REGISTER, value=self.free, body={
            "worker": self.name, "instance": self.instance, "host": socket.gethostname(), "pid": os.getpid(),
            "product": "conformance", "concurrency": self.concurrency, "manifests": [self.manifest],
            "held": self.held})

    def heartbeat(self):
        return Message(HEARTBEAT, sequence=self.seen, value=self.free)

    def job(self, within=15.0):
        """The next DISPATCH; it takes a slot."""
        message = self.expect(DISPATCH, within=within)
        self.seen = max(self.seen, message.sequence)
        self.free -= 1
        message.skill, message.input = read_job_body(message.body)
        return message

    def say(self, job, sequence, *entries):
        """Sends records of a job. A terminal one frees the slot."""
        is_terminal = entries[-1][0] in (7, 8)
        self.send(Message(EVENT, *job.execution, sequence=sequence, value=len(entries),
                          flags=TERMINAL if is_terminal else 0, body=write_records(*entries)))
        if is_terminal:
            self.free += 1
            self.send(Message(CREDIT, sequence=self.seen, value=self.free))

    def start(self, job):
        self.say(job, 1, (STARTED, {"worker": self.name, "engine": "offline"}))

    def finish(self, job, text, sequence=2):
        self.say(job, sequence, (DELTA, text), (FINISHED, {
            "output": {"text": text, "parts": []}, "engine": "offline", "cached": False, "milliseconds": 1}))


class Gateway(Connection):
    """A gateway that keeps nothing: it submits, and acknowledges what ends."""

    def __init__(self, endpoint, name=None):
        self.name = name or f"python-gateway-{os.urandom(4).hex()}"
        self.instance = text_of(identifier())
        self.asked = 0
        super().__init__(endpoint)
        assert self.welcomed.wait(10), "no WELCOME"

    def introduction(self):
        return Message(HELLO, body={"gateway": self.name, "instance": self.instance, "host": socket.gethostname(),
                                    "pid": os.getpid(), "product": "conformance"})

    def heartbeat(self):
        return Message(HEARTBEAT)

    def submit(self, text, skill="", request=None, generation=1, milliseconds=0, **fields):
        request = request or identifier()
        self.send(Message(SUBMIT, request, generation, value=milliseconds,
                          body=job_body(skill, session=text_of(identifier()), text=text, **fields)))
        return request

    def ask(self, question):
        self.asked += 1
        self.send(Message(QUERY, sequence=self.asked, body=question))
        while True:
            answer = self.expect(ANSWER, ERROR)
            if answer.type == ERROR or answer.sequence == self.asked:
                return answer.json

    def acknowledge(self, message):
        self.send(Message(EVENT_ACK, body=executions(message.execution)))

    def end(self, job, within=20.0):
        """The records of a job up to its end, which is acknowledged; and the message with the end."""
        found = []
        while True:
            message = self.expect(EVENT, job=job, within=within)
            found += records(message.body)
            if message.flags & TERMINAL:
                self.acknowledge(message)
                return found, message
