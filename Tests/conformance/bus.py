"""The wire protocol in Python, written from docs/protocol.md alone: it shares no code with the programs under test."""
import json
import os
import struct
import time
import uuid

import zmq

HEADER = struct.Struct("<4sBBH16sIIQQ")
MAGIC, VERSION = b"SKB1", 1
INLINE_BODY = 64 * 1024

HELLO, REGISTER, WELCOME, HEARTBEAT, GOODBYE, DRAIN, ERROR = 1, 2, 3, 4, 5, 6, 7
SUBMIT, PLAN, CANCEL, MAY_START, QUERY, ANSWER = 16, 17, 18, 19, 20, 21
DISPATCH, ACCEPTED, NACK, EVENT, EVENT_ACK, FENCED, CREDIT, RELEASE = 32, 33, 34, 35, 36, 37, 38, 39

BODY_FRAME, TERMINAL, MAY_IGNORE, RESENT = 1, 2, 4, 8

STARTED, THINKING, PROGRESS, DELTA, PARTIAL, RETRYING, FINISHED, FAILED = 1, 2, 3, 4, 5, 6, 7, 8
KINDS = {1: "started", 2: "thinking", 3: "progress", 4: "delta", 5: "partial", 6: "retrying", 7: "finished",
         8: "failed", 9: "disclosure"}
JSON_KINDS = {STARTED, PROGRESS, PARTIAL, RETRYING, FINISHED, FAILED, 9}

NO_JOB = bytes(16)


def identifier():
    """A UUIDv7 with the step number zero: a request, a session or an instance."""
    milliseconds = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10), "big")
    value = milliseconds << 80 | 0x7 << 76 | (random >> 68 & 0xFFF) << 64 | 0b10 << 62 | random & (1 << 62) - 1
    return (value & ~0xFFFF).to_bytes(16, "big")


def text_of(identifier):
    return str(uuid.UUID(bytes=identifier))


def job_of(request, step):
    return request[:14] + step.to_bytes(2, "big")


class Message:
    """One message: the header's fields, the body and the attachments."""

    def __init__(self, type, job=NO_JOB, generation=0, attempt=0, sequence=0, value=0, flags=0, body=b"",
                 attachments=()):
        self.type, self.flags, self.job = type, flags, job
        self.generation, self.attempt, self.sequence, self.value = generation, attempt, sequence, value
        self.body = json.dumps(body, ensure_ascii=False).encode() if isinstance(body, (dict, list)) else body
        self.attachments = list(attachments)

    def frames(self):
        flags = self.flags & ~BODY_FRAME | (BODY_FRAME if len(self.body) > INLINE_BODY or self.attachments else 0)
        header = HEADER.pack(MAGIC, VERSION, self.type, flags, self.job, self.generation, self.attempt,
                             self.sequence, self.value)
        if flags & BODY_FRAME:
            return [header, self.body, *self.attachments]
        return [header + self.body]

    @classmethod
    def read(cls, frames):
        magic, version, type, flags, job, generation, attempt, sequence, value = HEADER.unpack_from(frames[0])
        assert magic == MAGIC and version == VERSION, frames[0][:48]
        if flags & BODY_FRAME:
            assert len(frames[0]) == HEADER.size and len(frames) >= 2
            body, attachments = frames[1], frames[2:]
        else:
            body, attachments = frames[0][HEADER.size:], frames[1:]
        return cls(type, job, generation, attempt, sequence, value, flags, bytes(body), attachments)

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def execution(self):
        return self.job, self.generation, self.attempt

    def __repr__(self):
        return f"Message({self.type}, job={self.job.hex()[-6:]}, seq={self.sequence}, value={self.value}, {self.body[:120]!r})"


def executions(*triples):
    return b"".join(job + struct.pack("<II", generation, attempt) for job, generation, attempt in triples)


def read_executions(body, extra=0):
    size = 24 + extra
    assert len(body) % size == 0
    return [(body[at:at + 16], *struct.unpack_from("<II", body, at + 16)) for at in range(0, len(body), size)]


def records(body):
    """The records of an EVENT body as (kind, payload)."""
    found, position = [], 0
    while position < len(body):
        length, kind = struct.unpack_from("<IB", body, position)
        payload = body[position + 8:position + 8 + length]
        assert len(payload) == length
        found.append((kind, json.loads(payload) if kind in JSON_KINDS else payload.decode()))
        position += 8 + length
    return found


def write_records(*entries):
    body = b""
    for kind, payload in entries:
        payload = payload.encode() if isinstance(payload, str) else json.dumps(payload).encode()
        body += struct.pack("<IBxxx", len(payload), kind) + payload
    return body


FIELDS = {1: "session", 2: "text", 3: "material", 4: "arguments", 5: "attachments", 6: "history", 7: "previous",
          8: "idempotencyKey", 9: "depth", 10: "explain", 11: "plan"}
TEXT_FIELDS = {"session", "text", "material", "idempotencyKey"}


def job_body(skill, **fields):
    body = bytes([len(skill)]) + skill.encode()
    for number, name in FIELDS.items():
        if name in fields:
            value = fields[name]
            content = value.encode() if name in TEXT_FIELDS else bytes([int(value)]) if name in ("depth", "explain") \
                else json.dumps(value, ensure_ascii=False).encode()
            body += struct.pack("<BI", number, len(content)) + content
    return body


def read_job_body(body):
    end = 1 + body[0]
    skill, fields, position = body[1:end].decode(), {}, end
    while position < len(body):
        number, length = struct.unpack_from("<BI", body, position)
        content = body[position + 5:position + 5 + length]
        name = FIELDS.get(number)
        if name in TEXT_FIELDS:
            fields[name] = content.decode()
        elif name in ("depth", "explain"):
            fields[name] = content[0]
        elif name:
            fields[name] = json.loads(content)
        position += 5 + length
    return skill, fields


class Peer:
    """A socket that speaks the protocol: a DEALER that connects, or a ROUTER that binds."""

    def __init__(self, connect=None, bind=None):
        self.context = zmq.Context()
        self.socket = self.context.socket(zmq.DEALER if connect else zmq.ROUTER)
        self.socket.linger = 0
        if connect:
            self.socket.setsockopt(zmq.IMMEDIATE, 1)
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
            return frames[0], Message.read(frames[1:])
        return Message.read(frames)

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
