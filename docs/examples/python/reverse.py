#!/usr/bin/env python3
"""A skill worker in Python: reverses a text. Needs pyzmq. Usage: reverse.py [BACKEND-ADDRESS]

Everything here is from docs/protocol.md; no code of Skillbus is used."""

import json
import os
import socket
import struct
import sys
import time
import uuid

import zmq

HEADER = struct.Struct("<4sBBH16sIIQQ")
REGISTER, WELCOME, HEARTBEAT, GOODBYE, ERROR = 2, 3, 4, 5, 7
CANCEL, DISPATCH, EVENT, EVENT_ACK, FENCED = 18, 32, 35, 36, 37
TERMINAL, FAILED, RESENT, BODY_FRAME = 2, 64, 8, 1
STARTED, DELTA, FINISHED_RECORD, FAILED_RECORD = 1, 4, 7, 8

MANIFEST = {
    "id": "reverse",
    "description": "Reverse a text: write it backwards, last letter first. 把文字倒过来写，反转。",
    "examples": ["reverse this: hello", "write it backwards", "把这句话倒过来"],
}


def message(type, body=b"", flags=0, job=bytes(16), generation=0, attempt=0, sequence=0, value=0):
    return HEADER.pack(b"SKB1", 1, type, flags, job, generation, attempt, sequence, value) + body


def record(kind, payload):
    payload = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return struct.pack("<IBxxx", len(payload), kind) + payload


def read_job(body):
    """The fields of a job body by number (section 6)."""
    position, fields = 1 + body[0], {}
    while position < len(body):
        number, length = struct.unpack_from("<BI", body, position)
        fields[number] = body[position + 5:position + 5 + length]
        position += 5 + length
    return fields


class Worker:
    def __init__(self, address):
        self.socket = zmq.Context.instance().socket(zmq.DEALER)
        for option, value in ((zmq.LINGER, 1000), (zmq.IMMEDIATE, 1), (zmq.HEARTBEAT_IVL, 1000),
                              (zmq.HEARTBEAT_TIMEOUT, 3000)):
            self.socket.setsockopt(option, value)
        self.socket.connect(address)
        self.instance = str(uuid.uuid4())
        self.seen, self.unacknowledged = 0, {}

    def register(self):
        self.seen = 0  # dispatches are numbered anew
        body = {"worker": f"{socket.gethostname()}-{os.getpid()}", "instance": self.instance,
                "host": socket.gethostname(), "pid": os.getpid(), "concurrency": 1, "manifests": [MANIFEST]}
        self.socket.send(message(REGISTER, json.dumps(body).encode(), value=1))

    def execute(self, header, body):
        _, _, _, _, job, generation, attempt, self.seen, _ = header
        execution = (job, generation, attempt)
        if execution in self.unacknowledged:
            return self.socket.send(self.unacknowledged[execution])
        about = dict(job=job, generation=generation, attempt=attempt)
        started = record(STARTED, {"worker": MANIFEST["id"], "engine": "python", "skill": MANIFEST["id"]})
        self.socket.send(message(EVENT, started, sequence=1, value=1, **about))
        begin = time.monotonic()
        try:
            fields = read_job(body)
            text = (fields.get(3) or fields.get(2, b"")).decode()[::-1]
            finished = {"output": {"text": text, "parts": []}, "engine": "python", "cached": False,
                        "milliseconds": int((time.monotonic() - begin) * 1000)}
            records, flags = record(DELTA, text.encode()) + record(FINISHED_RECORD, finished), TERMINAL
            count = 2
        except Exception as error:  # whatever it is, the user gets words and the job an end
            records = record(FAILED_RECORD, {"code": "skill_failed", "message": str(error)})
            flags, count = TERMINAL | FAILED, 1
        self.socket.send(message(EVENT, records, flags, sequence=2, value=count, **about))
        self.unacknowledged[execution] = message(EVENT, records, flags | RESENT, sequence=2, value=count, **about)

    def forget(self, body):
        for offset in range(0, len(body), 24):
            job, generation, attempt = struct.unpack_from("<16sII", body, offset)
            self.unacknowledged.pop((job, generation, attempt), None)

    def run(self):
        self.register()
        registered, last = False, time.monotonic()
        while True:
            if self.socket.poll(200):
                frames = self.socket.recv_multipart()
                header = HEADER.unpack_from(frames[0])
                body = frames[1] if header[3] & BODY_FRAME else frames[0][HEADER.size:]
                if header[2] == WELCOME:
                    registered = True
                    print("registered", flush=True)
                    for resend in self.unacknowledged.values():
                        self.socket.send(resend)
                elif header[2] == DISPATCH:
                    self.execute(header, body)
                elif header[2] in (EVENT_ACK, FENCED):
                    self.forget(body)
                elif header[2] == ERROR:
                    error = json.loads(body)
                    if error["code"] != "unregistered":
                        sys.exit(f"refused: {error['message']}")
                    registered = False
                    self.register()
            if time.monotonic() - last >= 1:
                last = time.monotonic()
                if registered:
                    self.socket.send(message(HEARTBEAT, sequence=self.seen, value=1))
                    for resend in self.unacknowledged.values():
                        self.socket.send(resend)
                else:
                    self.register()


if __name__ == "__main__":
    Worker(sys.argv[1] if len(sys.argv) > 1 else "tcp://127.0.0.1:5556").run()
