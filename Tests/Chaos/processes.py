"""The real programs as processes that are hurt and started again. Only what was started here is ever signalled."""
import http.client
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import threading
import time

from proxy import Proxy

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/conformance"))

import postgres  # noqa: E402


def free_port():
    """A port that nobody has now, below the range from which the kernel gives out ports by itself."""
    for _ in range(1000):
        port = random.randint(10_000, 31_000)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise OSError("no free port")


def wait_until(condition, within=20.0, every=0.02):
    """The condition's first true value, or None when the time is over."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(every)
    return None


class Process:
    """A program that is started again after it was killed."""

    def __init__(self, folder, kind, number, command, environment):
        self.kind, self.name = kind, f"{kind}-{number}"
        self.command, self.environment = list(map(str, command)), environment
        self.log = folder / f"{self.name}.log"
        self.process = None
        self.starts = self.kills = 0
        self.ended_by_itself = []
        self.is_stopped = self.is_expected = False
        self.start()

    def start(self):
        clean = {key: value for key, value in os.environ.items() if not key.startswith("SKILLBUS_")}
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env=clean | {"SKILLBUS_LOG": "info"} | self.environment,
                                            start_new_session=True)
        self.starts += 1
        self.is_stopped = self.is_expected = False

    @property
    def pid(self):
        return self.process.pid

    def is_alive(self):
        return self.process.poll() is None

    def signal(self, number):
        if number in (signal.SIGKILL, signal.SIGTERM):
            self.is_expected = True
        self.kills += number == signal.SIGKILL
        self.is_stopped = number == signal.SIGSTOP or (self.is_stopped and number != signal.SIGCONT)
        self.process.send_signal(number)

    def resident(self):
        """Resident memory in MiB; None when it is gone."""
        try:
            for line in pathlib.Path(f"/proc/{self.pid}/status").read_text().splitlines():
                if line.startswith("VmRSS"):
                    return int(line.split()[1]) / 1024
        except OSError:
            pass
        return None

    def descriptors(self):
        try:
            return len(os.listdir(f"/proc/{self.pid}/fd"))
        except OSError:
            return None

    def check(self):
        """Notes an end that nobody asked for."""
        if not self.is_alive() and not self.is_expected:
            self.ended_by_itself.append(self.process.returncode)
            self.is_expected = True

    def close(self, within=10):
        if self.is_alive():
            if self.is_stopped:
                self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
            try:
                self.process.wait(within)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class System:
    """A router, a gateway and workers, each a process of its own, on ports of their own."""

    def __init__(self, folder, programs, workers, streams=500, state=None, is_proxied=False,
                 routers=1, gateways=1, router_options=(), environment=None):
        """`workers` has (kind, how many, concurrency): kind is a built-in skill, or one of Tests/Chaos/Worker. With
        `is_proxied` they reach the router, and the gateway does, through a network that can be made to fail. Several
        gateways share one PostgreSQL, which is started for them, and all connect to every router."""
        self.router_options, self.environment = router_options, environment or {}
        self.folder, self.programs, self.streams = pathlib.Path(folder), pathlib.Path(programs), streams
        self.state = pathlib.Path(state) if state else self.folder / "state"
        self.fronts = [free_port() for _ in range(routers)]
        self.backs = [free_port() for _ in range(routers)]
        self.frontend, self.backend = self.fronts[0], self.backs[0]
        self.front_proxy = self.back_proxy = None
        if is_proxied:
            self.front_proxy, self.back_proxy = Proxy(free_port(), self.frontend), Proxy(free_port(), self.backend)
        self.ledger = self.folder / "ledger"
        self.urls = [("127.0.0.1", free_port()) for _ in range(gateways)]
        self.url, self.http = self.urls[0], self.urls[0][1]
        self.processes = []
        self.store = None
        try:
            if gateways > 1:
                self.store = postgres.Postgres()
            self.router, *_ = [self.add("router", number, self.router_command(number)) for number in range(routers)]
            self.gateway, *_ = [self.add("gateway", number, self.gateway_command(number)) for number in range(gateways)]
            for kind, count, concurrency in workers:
                for number in range(count):
                    self.add_worker(kind, number, concurrency)
            if not wait_until(lambda: self.skills() >= {kind for kind, _, _ in workers}, 40):
                raise RuntimeError(f"not ready: {self.skills()}; logs in {self.folder}")
        except BaseException:
            self.close()
            raise

    def router_command(self, number=0):
        return [self.programs / "skillbus-router", "--frontend", f"tcp://127.0.0.1:{self.fronts[number]}",
                "--backend", f"tcp://127.0.0.1:{self.backs[number]}", *self.router_options]

    @staticmethod
    def routers(proxy, ports):
        return ",".join(f"127.0.0.1:{port}" for port in ([proxy.port] if proxy else ports))

    def gateway_command(self, number=0):
        command = [self.programs / "skillbus-gateway", "--http", f"127.0.0.1:{self.urls[number][1]}", "--routers",
                   self.routers(self.front_proxy, self.fronts), "--streams", self.streams]
        if self.store:
            # Each has a folder for its name.
            return [*command, "--state", f"{self.state}-{number}", "--store", self.store.url]
        return [*command, "--state", self.state]

    def add(self, kind, number, command, environment=None):
        process = Process(self.folder, kind, number, command, self.environment | (environment or {}))
        self.processes.append(process)
        return process

    def add_worker(self, kind, number, concurrency=None, options=()):
        own = self.programs / f"skillbus-worker-{kind}"
        program = own if own.exists() else self.programs / "ChaosWorker"
        command = [program, "--routers", self.routers(self.back_proxy, self.backs), "--name", f"{kind}-{number}", *options]
        if concurrency:
            command += ["--concurrency", concurrency]
        return self.add(kind, number, command, {
            "CHAOS_SKILL": kind, "CHAOS_LEDGER": str(self.ledger), "SKILLBUS_STATE": str(self.state)})

    def get(self, path, within=5):
        """The JSON of an answer; OSError unless it is 200."""
        connection = http.client.HTTPConnection(*self.url, timeout=within)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            content = response.read()
            if response.status != 200:
                raise OSError(f"{path}: {response.status}")
            return json.loads(content)
        except http.client.HTTPException as error:
            raise OSError(f"{path}: {error!r}") from None
        finally:
            connection.close()

    def workers(self):
        """Workers by skill, as the router knows them; empty while nobody answers."""
        try:
            return {skill["id"]: skill["workers"] for skill in self.get("/v1/skills")["skills"]}
        except (OSError, ValueError, KeyError):
            return {}

    def skills(self):
        return {skill for skill, workers in self.workers().items() if workers}

    def is_ready(self):
        try:
            self.get("/readyz")
            return True
        except (OSError, ValueError):
            return False

    def unasked_ends(self):
        for process in self.processes:
            process.check()
        return {process.name: process.ended_by_itself for process in self.processes if process.ended_by_itself}

    def close(self):
        for process in reversed(self.processes):
            process.close()
        for proxy in (self.front_proxy, self.back_proxy):
            if proxy:
                proxy.close()
        if self.store:
            self.store.close()


class Killer(threading.Thread):
    """Kills a random process every second, and starts it again a moment later."""

    def __init__(self, system, seed, every=1.0, kinds=None):
        super().__init__(daemon=True)
        self.system, self.every, self.kinds = system, every, kinds
        self.random = random.Random(seed)
        self.over = threading.Event()
        self.killed = []

    def run(self):
        due = []
        next_kill = time.monotonic() + self.every
        while not self.over.is_set() or due:
            now = time.monotonic()
            for entry in [entry for entry in due if entry[0] <= now]:
                due.remove(entry)
                entry[1].start()
            if now >= next_kill and not self.over.is_set():
                next_kill += self.every
                choices = [process for process in self.system.processes if process.is_alive()
                           and (self.kinds is None or process.kind in self.kinds)]
                self.system.unasked_ends()
                if choices:
                    # A kind first, so that the one router is hit as often as the three workers of a skill.
                    kind = self.random.choice(sorted({process.kind for process in choices}))
                    victim = self.random.choice([process for process in choices if process.kind == kind])
                    victim.signal(signal.SIGKILL)
                    victim.process.wait()
                    self.killed.append(victim.name)
                    due.append((now + self.random.uniform(0.1, 0.8), victim))
            time.sleep(0.01)

    def finish(self):
        self.over.set()
        self.join(30)
        return self.killed
