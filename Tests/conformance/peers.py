"""Peers of the bus: a socket that speaks the protocol, and a worker and a gateway for the real router."""
import os
import queue
import socket
import threading
import time

import zmq
import zmq.utils.z85

from wire import (ANSWER, CREDIT, DELTA, DISPATCH, ERROR, EVENT, EVENT_ACK, FINISHED, HEARTBEAT, HELLO, QUERY,
                  REGISTER, STARTED, SUBMIT, TERMINAL, WELCOME, Message, decode_job, encode_executions, encode_job,
                  encode_records, encode_running, new_id, read_records, text_id)


class Key:
    """A CURVE key: its own public and secret half, and the public one of the router. All are bytes."""

    def __init__(self, public, secret, router):
        self.public, self.secret, self.router = public, secret, router

    @classmethod
    def read(cls, path):
        """The file of a gateway's or worker's key, as `skillbus keys` writes it."""
        lines = dict(line.split() for line in open(path) if not line.startswith("#"))
        return cls(*(bytes.fromhex(lines[name]) for name in ("public", "secret", "router")))

    def but_new(self):
        """Another key for the same router, which does not know it."""
        public, secret = (zmq.utils.z85.decode(half) for half in zmq.curve_keypair())
        return Key(public, secret, self.router)

    def use(self, socket):
        socket.curve_publickey, socket.curve_secretkey = self.public, self.secret
        socket.curve_serverkey = self.router


class Peer:
    """A socket that speaks the protocol: a DEALER that connects, or a ROUTER that binds."""

    def __init__(self, connect=None, bind=None, key=None):
        self.context = zmq.Context()
        self.socket = self.context.socket(zmq.DEALER if connect else zmq.ROUTER)
        self.socket.linger = 0
        if connect:
            self.socket.setsockopt(zmq.IMMEDIATE, 1)
            if key:
                key.use(self.socket)
            self.socket.connect(connect)
            self.endpoint = connect
        else:
            self.socket.setsockopt(zmq.ROUTER_MANDATORY, 1)
            self._bind(bind)
            self.endpoint = self.socket.last_endpoint.decode()

    def _bind(self, endpoint, within=5):
        """Binds; the port of a socket that was closed just before may take a moment to be free."""
        end = time.monotonic() + within
        while True:
            try:
                return self.socket.bind(endpoint)
            except zmq.ZMQError as error:
                if error.errno != zmq.EADDRINUSE or time.monotonic() > end:
                    raise
                time.sleep(0.02)

    def send(self, message, to=None):
        self.socket.send_multipart(([to] if to is not None else []) + message.frames())

    def send_raw(self, frames):
        self.socket.send_multipart(frames)

    def receive(self, within=10.0):
        """The next message; of a ROUTER (peer, message). None when the time is over."""
        if not self.socket.poll(max(int(within * 1000), 0)):
            return None
        frames = self.socket.recv_multipart()
        if self.socket.type == zmq.ROUTER:
            return frames[0], Message.parse(frames[1:])
        return Message.parse(frames)

    def expect(self, *types, within=10.0, ignore=(HEARTBEAT, CREDIT)):
        """The next message that is not of an ignored type; fails unless it is of one of these types."""
        end = time.monotonic() + within
        while (got := self.receive(end - time.monotonic())) is not None:
            message = got[1] if isinstance(got, tuple) else got
            if message.type in ignore and message.type not in types:
                continue
            assert message.type in types, f"expected type {types}, got {message}"
            return got
        raise AssertionError(f"no message of type {types} within {within} s")

    def close(self):
        self.socket.close()
        self.context.term()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Connection:
    """A peer with a thread of its own that reads and sends; `inbox` has what came, but for heartbeats."""

    # Flags of HELLO and REGISTER.
    flags = 0

    def __init__(self, endpoint, key=None):
        self.endpoint = endpoint
        self.key = key
        self.inbox = queue.Queue()
        self.outbox = queue.Queue()
        self.welcome = None
        self.welcomed = threading.Event()
        self.is_silent = False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        with Peer(connect=self.endpoint, key=self.key) as peer:
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
                    self.welcome_flags, self.welcome = message.flags, message.json
                    self.welcomed.set()
                elif message.type == ERROR and message.json["code"] == "unregistered":
                    self._send(peer, self.introduction())
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

    def __init__(self, endpoint, skill, concurrency=1, wait=True, key=None, held=None, **manifest):
        self.name = f"python-{skill}-{os.urandom(2).hex()}"
        self.instance = text_id(new_id())
        self.skill, self.concurrency, self.free = skill, concurrency, concurrency - len(held or {})
        self.manifest = {"id": skill, "description": f"Does {skill}, for tests only.", "cacheTTL": 0,
                         "concurrency": concurrency} | manifest
        self.seen = 0
        self.running = dict(held or {})  # execution: number of its last event
        super().__init__(endpoint, key)
        if wait:
            assert self.welcomed.wait(10), "no WELCOME"

    def introduction(self):
        return Message(REGISTER, flags=self.flags, value=self.free, body={
            "worker": self.name, "instance": self.instance, "host": socket.gethostname(), "pid": os.getpid(),
            "product": "conformance", "concurrency": self.concurrency, "manifests": [self.manifest],
            "held": [{"job": text_id(job), "generation": generation, "attempt": attempt, "sequence": sequence,
                      "state": "running"} for (job, generation, attempt), sequence in list(self.running.items())]})

    def heartbeat(self):
        return Message(HEARTBEAT, encode_running(*list(self.running.items())), sequence=self.seen, value=self.free)

    def job(self, within=15.0):
        """The next DISPATCH; it takes a slot."""
        message = self.expect(DISPATCH, within=within)
        self.seen = max(self.seen, message.sequence)
        self.free -= 1
        self.running[message.execution] = 0
        message.skill, message.input = decode_job(message.body)
        return message

    def say(self, job, sequence, *entries):
        """Sends records of a job. A terminal one frees the slot."""
        is_terminal = entries[-1][0] in (7, 8)
        self.send(Message(EVENT, encode_records(*entries), flags=TERMINAL if is_terminal else 0, job=job.job,
                          generation=job.generation, attempt=job.attempt, sequence=sequence, value=len(entries)))
        self.running[job.execution] = sequence + len(entries) - 1
        if is_terminal:
            del self.running[job.execution]
            self.free += 1
            self.send(Message(CREDIT, sequence=self.seen, value=self.free))

    def start(self, job):
        self.say(job, 1, (STARTED, {"worker": self.name, "engine": "offline"}))

    def finish(self, job, text, sequence=2):
        self.say(job, sequence, (DELTA, text), (FINISHED, {
            "output": {"text": text, "parts": []}, "engine": "offline", "cached": False, "milliseconds": 1}))


class Gateway(Connection):
    """A gateway that keeps nothing: it submits, and acknowledges what ends."""

    def __init__(self, endpoint, name=None, wait=True, key=None):
        self.name = name or f"python-gateway-{os.urandom(4).hex()}"
        self.instance = text_id(new_id())
        self.asked = 0
        super().__init__(endpoint, key)
        if wait:
            assert self.welcomed.wait(10), "no WELCOME"

    def introduction(self):
        return Message(HELLO, flags=self.flags, body={"gateway": self.name, "instance": self.instance, "host": socket.gethostname(),
                                    "pid": os.getpid(), "product": "conformance"})

    def heartbeat(self):
        return Message(HEARTBEAT)

    def submit(self, text, skill="", request=None, generation=1, milliseconds=0, **fields):
        request = request or new_id()
        self.send(Message(SUBMIT, job=request, generation=generation, value=milliseconds,
                          body=encode_job(skill, session=text_id(new_id()), text=text, **fields)))
        return request

    def ask(self, question):
        self.asked += 1
        self.send(Message(QUERY, sequence=self.asked, body=question))
        while True:
            answer = self.expect(ANSWER, ERROR)
            if answer.type == ERROR or answer.sequence == self.asked:
                return answer.json

    def acknowledge(self, message):
        self.send(Message(EVENT_ACK, body=encode_executions(message.execution)))

    def end(self, job, within=20.0):
        """The records of a job up to its end, which is acknowledged; and the message with the end."""
        found = []
        while True:
            message = self.expect(EVENT, job=job, within=within)
            found += read_records(message.body)
            if message.flags & TERMINAL:
                self.acknowledge(message)
                return found, message
