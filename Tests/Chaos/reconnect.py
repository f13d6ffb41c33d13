"""Hundreds of workers that all lose their router at once: how long until it can route to each of them again (G24)."""
import os
import signal
import sys
import time

import zmq

from processes import ROOT, System

sys.path.insert(0, str(ROOT / "Tests/conformance"))
from wire import ERROR, HEARTBEAT, REGISTER, WELCOME, Message, new_id, text_id  # noqa: E402


class Crowd:
    """Many workers of one skill in one thread: they register, and stay by heartbeats."""

    def __init__(self, endpoint, count, skill="crowd"):
        self.context = zmq.Context(io_threads=1)
        self.context.set(zmq.MAX_SOCKETS, count + 100)
        self.poller = zmq.Poller()
        self.sockets = {}
        self.welcomed = {}
        for number in range(count):
            socket = self.context.socket(zmq.DEALER)
            for option, value in ((zmq.LINGER, 0), (zmq.IMMEDIATE, 1), (zmq.RECONNECT_IVL, 100),
                                  (zmq.RECONNECT_IVL_MAX, 2000), (zmq.CONNECT_TIMEOUT, 2000),
                                  (zmq.HEARTBEAT_IVL, 1000), (zmq.HEARTBEAT_TIMEOUT, 3000)):
                socket.setsockopt(option, value)
            socket.connect(endpoint)
            self.poller.register(socket, zmq.POLLIN)
            self.sockets[socket] = Message(REGISTER, value=4, body={
                "worker": f"crowd-{number}", "instance": text_id(new_id()), "host": "localhost", "pid": os.getpid(),
                "product": "chaos", "concurrency": 4, "held": [],
                "manifests": [{"id": skill, "description": "Is many, for tests.", "cacheTTL": 0}]}).frames()
        self.beat = Message(HEARTBEAT, value=4).frames()
        self.next = {socket: 0.0 for socket in self.sockets}

    def turn(self, milliseconds=20):
        """Reads what came, and sends what is due."""
        now = time.monotonic()
        for socket, due in self.next.items():
            if now < due:
                continue
            try:
                socket.send_multipart(self.beat if socket in self.welcomed else self.sockets[socket], zmq.DONTWAIT)
                self.next[socket] = now + 1.0
            except zmq.Again:
                # Not connected. Whoever is, has to register anew.
                self.welcomed.pop(socket, None)
                self.next[socket] = now + 0.05
        for socket, _ in self.poller.poll(milliseconds):
            try:
                while True:
                    message = Message.parse(socket.recv_multipart(zmq.DONTWAIT))
                    if message.type == WELCOME:
                        self.welcomed[socket] = message.json["router"]
                    elif message.type == ERROR:
                        self.welcomed.pop(socket, None)
                        self.next[socket] = 0.0
            except zmq.Again:
                pass

    def until(self, condition, within):
        end = time.monotonic() + within
        while time.monotonic() < end:
            self.turn()
            if condition():
                return True
        return False

    def close(self):
        for socket in self.sockets:
            socket.close(0)
        self.context.term()


async def run(folder, programs, count=500, limit=5.0):
    system = System(folder, programs, [("tokens", 1, 4)])
    crowd = Crowd(f"tcp://127.0.0.1:{system.backend}", count)
    try:
        problems = []
        if not crowd.until(lambda: len(crowd.welcomed) == count, 30):
            return {"workers": count}, [f"only {len(crowd.welcomed)} of {count} were registered at the start"]
        router = next(iter(crowd.welcomed.values()))
        system.router.signal(signal.SIGKILL)
        system.router.process.wait()
        crowd.until(lambda: False, 1.0)
        system.router.start()
        begin = time.monotonic()
        back = crowd.until(lambda: sum(value != router for value in crowd.welcomed.values()) == count, 30)
        welcomed = time.monotonic() - begin
        # What the router says of itself counts, not what was said to the workers.
        known = 0

        def all_known():
            nonlocal known
            known = len(system.workers().get("crowd", []))
            return known == count

        crowd.until(all_known, 10)
        routable = time.monotonic() - begin
        rows = {"workers": count, "registered_s": welcomed, "routable_s": routable, "known": known}
        if not back or known < count or routable > limit:
            problems.append(f"{known} of {count} workers are routable after {routable:.1f} s, the promise is {limit} s")
        problems += [f"ended by itself: {name}: {codes}" for name, codes in system.unasked_ends().items()]
        return rows, problems
    finally:
        crowd.close()
        system.close()
