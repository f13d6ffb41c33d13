"""The bus protocol of docs/protocol.md in Python: what a peer in another language needs, and no more."""

import json
import os
import struct
import time
import uuid

MAGIC = b"SKB1"
HEADER = struct.Struct("<4sBBH16sIIQQ")

HELLO, REGISTER, WELCOME, HEARTBEAT, GOODBYE, DRAIN, ERROR, BATCH = range(1, 9)
SUBMIT, PLAN, CANCEL, MAY_START, QUERY, ANSWER, LOAD, APPROVAL = range(16, 24)
DISPATCH, ACCEPTED, NACK, EVENT, EVENT_ACK, FENCED, CREDIT, RELEASE, CALL, RESULT, CLAIM, ADOPTED = range(32, 44)
NAMES = {
    value: name for name, value in list(globals().items()) if name.isupper() and isinstance(value, int)
}

(BODY_FRAME, TERMINAL, MAY_IGNORE, RESENT, ATTACHMENTS, RETRYABLE, FAILED_FLAG, TAKES_BATCHES, HIGH_PRIORITY, LOW_PRIORITY,
 TAKES_LOAD, ELSEWHERE, SLOT_MOVES, SHARES_SLOTS) = (1 << n for n in range(14))

STARTED, THINKING, PROGRESS, DELTA, PARTIAL, RETRYING, FINISHED, FAILED, DISCLOSURE, APPROVAL_ASKED = range(1, 11)

NONE = bytes(16)
FIELDS = {
    1: "session", 2: "text", 3: "material", 4: "arguments", 5: "attachments", 6: "history", 7: "previous",
    8: "idempotencyKey", 9: "depth", 10: "explain", 11: "plan", 14: "privacy", 15: "approved", 16: "cache",
    17: "canClarify", 18: "routing", 19: "summary",
}
TEXT_FIELDS = {1, 2, 3, 8, 19}
BYTE_FIELDS = {9, 10, 14, 16, 17, 18}


class Message:
    """One message: the header's fields by name, the body, and attachments."""

    def __init__(self, type, body=b"", flags=0, job=NONE, generation=0, attempt=0, sequence=0, value=0, attachments=()):
        self.type, self.flags, self.job = type, flags, job
        self.generation, self.attempt, self.sequence, self.value = generation, attempt, sequence, value
        self.body = json.dumps(body).encode() if isinstance(body, (dict, list)) else body
        self.attachments = list(attachments)

    def __repr__(self):
        return f"<{NAMES.get(self.type, self.type)} job={self.job.hex()} g={self.generation} a={self.attempt} " \
               f"seq={self.sequence} value={self.value} flags={self.flags} body={self.body[:200]!r}>"

    @classmethod
    def batch(cls, messages):
        """Several small messages in one."""
        frames = [message.frames()[0] for message in messages]
        return cls(BATCH, b"".join(struct.pack("<I", len(frame)) + frame for frame in frames), value=len(frames))

    def parts(self):
        """The messages of a batch; else the message itself."""
        if self.type != BATCH:
            return [self]
        found, at = [], 0
        while at < len(self.body):
            (size,) = struct.unpack_from("<I", self.body, at)
            frame = self.body[at + 4:at + 4 + size]
            if len(frame) < size:
                raise ValueError(f"a batch ends within a message, at {at}")
            found.append(Message.parse([frame]))
            at += 4 + size
        return found

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def execution(self):
        """What it is about: (job, generation, attempt)."""
        return self.job, self.generation, self.attempt

    def frames(self):
        flags = self.flags & ~(BODY_FRAME | ATTACHMENTS)
        own_frame = len(self.body) > 64 * 1024
        flags |= BODY_FRAME * own_frame | ATTACHMENTS * bool(self.attachments)
        head = HEADER.pack(MAGIC, 1, self.type, flags, self.job, self.generation, self.attempt, self.sequence, self.value)
        return ([head, self.body] if own_frame else [head + self.body]) + self.attachments

    @classmethod
    def parse(cls, frames):
        magic, version, type, flags, job, generation, attempt, sequence, value = HEADER.unpack_from(frames[0])
        if magic != MAGIC or version != 1:
            raise ValueError(f"not a message of version 1: {frames[0][:8]!r}")
        rest = frames[1:]
        body = rest.pop(0) if flags & BODY_FRAME else frames[0][HEADER.size:]
        return cls(type, body, flags, job, generation, attempt, sequence, value, rest)


def new_id():
    """A UUID of version 7 whose lowest 16 bits, the step number, are zero."""
    high = int(time.time() * 1000) << 16 | 0x7000 | int.from_bytes(os.urandom(2), "big") >> 4
    low = 0x8000000000000000 | int.from_bytes(os.urandom(8), "big") >> 2 & 0x3FFFFFFFFFFF0000
    return struct.pack(">QQ", high, low)


def job_id(request, step):
    return request[:14] + struct.pack(">H", step)


def text_id(raw):
    return str(uuid.UUID(bytes=raw))


def encode_job(skill, **fields):
    body = bytes([len(skill)]) + skill.encode()
    for number, name in FIELDS.items():
        if fields.get(name) is None:
            continue
        value = fields[name]
        if number in TEXT_FIELDS:
            content = value.encode()
        elif number in BYTE_FIELDS:
            content = bytes([int(value)])
        else:
            content = json.dumps(value).encode()
        body += struct.pack("<BI", number, len(content)) + content
    return body


def decode_job(body):
    end = 1 + body[0]
    skill, fields = body[1:end].decode(), {}
    while end < len(body):
        number, length = struct.unpack_from("<BI", body, end)
        content = body[end + 5:end + 5 + length]
        end += 5 + length
        if number in TEXT_FIELDS:
            fields[FIELDS[number]] = content.decode()
        elif number in BYTE_FIELDS:
            fields[FIELDS[number]] = content[0]
        elif number in FIELDS:
            fields[FIELDS[number]] = json.loads(content)
    return skill, fields


def encode_records(*records):
    body = b""
    for kind, payload in records:
        if isinstance(payload, (dict, list)):
            payload = json.dumps(payload).encode()
        elif isinstance(payload, str):
            payload = payload.encode()
        body += struct.pack("<IBxxx", len(payload), kind) + payload
    return body


def decode_records(body):
    position, records = 0, []
    while position < len(body):
        length, kind = struct.unpack_from("<IBxxx", body, position)
        records.append((kind, body[position + 8:position + 8 + length]))
        position += 8 + length
    return records


def read_records(body):
    """The records of an EVENT body as (kind, text or decoded JSON)."""
    return [(kind, payload.decode() if kind in (THINKING, DELTA) else json.loads(payload))
            for kind, payload in decode_records(body)]


def encode_executions(*executions):
    """The body of EVENT_ACK and FENCED."""
    return b"".join(job + struct.pack("<II", generation, attempt) for job, generation, attempt in executions)


def encode_running(*entries):
    """The body of a worker's HEARTBEAT: executions, each with the number of its last event."""
    return b"".join(encode_executions(execution) + struct.pack("<Q", progress) for execution, progress in entries)


def decode_executions(body):
    if len(body) % 24:
        raise ValueError(f"not a whole number of executions: {len(body)} bytes")
    return [(body[at:at + 16], *struct.unpack_from("<II", body, at + 16)) for at in range(0, len(body), 24)]
