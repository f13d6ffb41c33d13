"""Routers that die and several at once: what runs is taken over, what is lost begins again elsewhere, nothing twice."""
import collections
import json
import os
import random
import signal
import socket
import subprocess
import threading
import time

import pytest

from conftest import BIN, Bus, Program, eventually
from gateways import Gateway as RunningGateway
from http_client import Client
from peers import Gateway, Worker
from wire import (ADOPTED, CLAIM, DELTA, DISPATCH, ELSEWHERE, EVENT, FENCED, FINISHED, SUBMIT, Message, decode_executions,
                  encode_executions, encode_job, job_id, new_id)

TERMINAL = ("request.finished", "request.failed", "request.cancelled")


class Router:
    """A router at ports of its own, that is killed and started again."""

    def __init__(self, folder, number=0):
        self.folder, self.number = folder / f"router-{number}", number
        self.folder.mkdir()
        bus = Bus(self.folder)
        self.program, self.frontend, self.backend = bus.program, bus.frontend, bus.backend

    def kill(self):
        self.program.process.kill()
        self.program.process.wait()

    def start(self):
        self.program = Program("skillbus-router", "--frontend", self.frontend, "--backend", self.backend, folder=self.folder)
        eventually(lambda: "ready " in self.program.output or self.program.process.poll() is not None)
        assert self.program.process.poll() is None, self.program.output


class Routers:
    """Several, as what a gateway is told where they are."""

    def __init__(self, folder, count):
        self.all = [Router(folder, number) for number in range(count)]

    frontend = property(lambda self: ",".join(router.frontend for router in self.all))
    backend = property(lambda self: ",".join(router.backend for router in self.all))


@pytest.fixture
def routers(tmp_path):
    """routers(COUNT) starts them for the test."""
    started = []

    def start(count):
        started.append(Routers(tmp_path, count))
        return started[-1]

    yield start
    for group in started:
        for router in group.all:
            router.program.process.kill()
            router.program.close()


class System:
    """Routers, a gateway, and workers of the skills that are made for tests."""

    def __init__(self, folder, start, routers, gateways):
        self.routers, self.start = routers, start
        self.ledger = folder / "ledger"
        self.gateway = RunningGateway(folder, routers)
        gateways.append(self.gateway)
        self.client = self.gateway.client

    def worker(self, skill, concurrency, routers=None):
        return self.start("ChaosWorker", "--routers", routers or self.routers.backend, "--concurrency", concurrency,
                          environment={"CHAOS_SKILL": skill, "CHAOS_LEDGER": str(self.ledger)})

    def workers(self, skill):
        answer = self.client.get("/v1/skills")
        if answer.status != 200:
            return []
        return next((entry["workers"] for entry in answer.json["skills"] if entry["id"] == skill), [])

    def serves(self, skill, count=1):
        eventually(lambda: len(self.workers(skill)) == count)

    def ask(self, session, skill, **arguments):
        answer = self.client.request(session, "t", skill=skill, arguments=arguments)
        assert answer.status == 202, answer.body
        return answer.json["id"]

    def events(self, session):
        last = self.client.get(f"/v1/sessions/{session}").json["seq"]
        with self.client.follow(session) as stream:
            found = [stream.event() for _ in range(last)]
        assert [number for number, _, _ in found] == list(range(1, last + 1))
        return [event for _, _, event in found]

    def until(self, session, kind, requests, within=30):
        """Waits until each of the requests has had an event of the kinds."""
        kinds = (kind,) if isinstance(kind, str) else kind
        missing = set(requests)
        with self.client.follow(session) as stream:
            end = time.monotonic() + within
            while missing:
                event = stream.event(end - time.monotonic())
                assert event is not None, f"{len(missing)} without {kinds}"
                if event[1] in kinds:
                    missing.discard(event[2].get("request"))

    def moved(self):
        """Requests that went to another router."""
        return self.gateway.database().execute("SELECT count(*) FROM requests WHERE generation > 1").fetchone()[0]

    def starts(self):
        """How often each job of the ledger was started."""
        lines = self.ledger.read_text().splitlines() if self.ledger.exists() else []
        return collections.Counter(line.split()[1] for line in lines if line.startswith("start "))


@pytest.fixture
def system(tmp_path, start, routers):
    gateways = []

    def make(count):
        return System(tmp_path, start, routers(count), gateways)

    yield make
    for gateway in gateways:
        gateway.program.close()


def outcomes(events):
    return collections.Counter(event["type"] for event in events if event["type"] in TERMINAL)


def check_no_second_start(events):
    starts = collections.Counter(event["job"] for event in events if event["type"] == "job.started")
    assert max(starts.values()) == 1, starts
    assert not [event for event in events if event["type"] == "job.retrying"]


def check_text(events):
    """The deltas of each job are its output, or the beginning where some were under way when a router died."""
    texts = collections.defaultdict(str)
    for event in events:
        if event["type"] == "job.delta":
            texts[event["job"]] += event["data"]["text"]
        if event["type"] == "job.finished" and event["skill"] == "tokens":
            assert event["data"]["output"]["text"].startswith(texts[event["job"]])


def test_fifty_running_jobs_outlive_their_router(system):
    running = system(1)
    running.worker("tokens", 32)
    running.worker("ledger", 32)
    running.serves("tokens")
    running.serves("ledger")
    session = running.client.session()
    requests = [running.ask(session, "tokens", count=40, milliseconds=6000) for _ in range(25)]
    requests += [running.ask(session, "ledger", milliseconds=6000) for _ in range(25)]
    running.until(session, "job.started", requests)
    running.routers.all[0].kill()
    killed = len(running.events(session))
    running.routers.all[0].start()
    reachable = time.monotonic()
    eventually(lambda: len(running.events(session)) > killed, within=5)
    delay = time.monotonic() - reachable
    running.until(session, TERMINAL, requests)
    events = running.events(session)
    assert outcomes(events) == {"request.finished": 50}
    check_no_second_start(events)
    check_text(events)
    assert max(running.starts().values()) == 1 and len(running.starts()) == 25
    print(f"first event {delay:.2f} s after the router was reachable")
    running.gateway.sound()


def test_what_nobody_holds_begins_after_a_new_router_has_waited_for_it(system):
    running = system(1)
    program = running.worker("tokens", 8)
    running.serves("tokens")
    session = running.client.session()
    requests = [running.ask(session, "tokens", count=10, milliseconds=1000) for _ in range(8)]
    running.until(session, "job.started", requests)
    running.routers.all[0].kill()
    program.process.kill()
    running.worker("tokens", 8)
    running.routers.all[0].start()
    reachable = time.monotonic()
    running.until(session, TERMINAL, requests, within=15)
    # Two heartbeats, and the job's own time.
    assert time.monotonic() - reachable < 5 + 1
    assert outcomes(running.events(session)) == {"request.finished": 8}


def test_one_of_two_routers_dies_in_mid_job(system):
    running = system(2)
    running.worker("tokens", 32)
    running.worker("ledger", 32)
    running.serves("tokens")
    running.serves("ledger")
    session = running.client.session()
    requests = [running.ask(session, "tokens", count=40, milliseconds=5000) for _ in range(20)]
    requests += [running.ask(session, "ledger", milliseconds=5000) for _ in range(20)]
    running.until(session, "job.started", requests)
    running.routers.all[0].kill()
    killed = time.monotonic()
    moved = eventually(lambda: running.moved(), within=3)
    took = time.monotonic() - killed
    print(f"{moved} requests went to the other router {took:.2f} s after the kill")
    assert took < 2
    # While one is away the other takes what is new.
    late = [running.ask(session, "tokens", count=2, milliseconds=100) for _ in range(5)]
    running.until(session, TERMINAL, late, within=5)
    assert running.client.get("/readyz").status == 200
    running.until(session, TERMINAL, requests + late, within=20)
    events = running.events(session)
    assert outcomes(events) == {"request.finished": 45}
    check_no_second_start(events)
    check_text(events)
    assert max(running.starts().values()) == 1 and len(running.starts()) == 20
    assert time.monotonic() - killed < 5 + 5
    running.gateway.sound()


def test_both_have_work_and_one_that_comes_back_gets_some_again(system):
    running = system(2)
    running.worker("tokens", 4)
    running.serves("tokens")

    def shares(count):
        session = running.client.session()
        requests = [running.ask(session, "tokens", count=2, milliseconds=300) for _ in range(count)]
        seen = [set(), set()]
        while True:
            done = outcomes(running.events(session))
            for number, router in enumerate(running.routers.all):
                if router.program.process.poll() is None:
                    answer = question(router.frontend)
                    entry = next((entry for entry in answer["skills"] if entry["id"] == "tokens"), {"workers": []})
                    seen[number] |= {worker["id"] for worker in entry["workers"] if worker["busy"]}
            if sum(done.values()) == count:
                assert done == {"request.finished": count}
                assert set(requests) == {event["request"] for event in running.events(session)}
                return [bool(workers) for workers in seen]

    # The gateway hears of the workers after the routers do: what it sends in between goes to the one that it knows of.
    eventually(lambda: shares(24) == [True, True])
    running.routers.all[1].kill()
    assert shares(8) == [True, False]
    running.routers.all[1].start()
    eventually(lambda: workers_at(running.routers.all[1]))
    eventually(lambda: shares(24) == [True, True])


def question(frontend):
    with Gateway(frontend) as gateway:
        return gateway.ask({"ask": "skills"})


def workers_at(router):
    return [worker for entry in question(router.frontend)["skills"] for worker in entry["workers"]]


def test_all_routers_die_and_come_back(system):
    running = system(2)
    running.worker("ledger", 8)
    running.serves("ledger")
    session = running.client.session()
    requests = [running.ask(session, "ledger", milliseconds=4000) for _ in range(8)]
    running.until(session, "job.started", requests)
    for router in running.routers.all:
        router.kill()
    eventually(lambda: running.client.get("/readyz").status == 503)
    late = running.ask(session, "ledger", milliseconds=100)
    running.routers.all[1].start()
    running.routers.all[0].start()
    running.until(session, TERMINAL, requests + [late], within=15)
    assert outcomes(running.events(session)) == {"request.finished": 9}
    assert set(running.starts().values()) == {1}


def test_a_worker_whose_second_router_is_away_for_long_is_back_when_it_is(system):
    running = system(2)
    running.routers.all[1].kill()
    program = running.worker("tokens", 4)
    running.serves("tokens")
    descriptors = len(os.listdir(f"/proc/{program.process.pid}/fd"))
    time.sleep(6)
    # Sockets that are tried anew are not kept (as with salt's minions).
    assert len(os.listdir(f"/proc/{program.process.pid}/fd")) <= descriptors + 3
    running.routers.all[1].start()
    begin = time.monotonic()
    eventually(lambda: workers_at(running.routers.all[1]), within=10)
    assert time.monotonic() - begin < 5


def test_a_request_goes_where_its_skill_is(system):
    running = system(2)
    running.worker("tokens", 4, routers=running.routers.all[0].backend)
    running.worker("ledger", 4, routers=running.routers.all[1].backend)
    running.serves("tokens")
    running.serves("ledger")
    session = running.client.session()
    requests = [running.ask(session, skill) for skill in ("tokens", "ledger") * 5]
    running.until(session, TERMINAL, requests)
    assert outcomes(running.events(session)) == {"request.finished": 10}


def test_a_router_that_drains_gets_nothing_new(system):
    running = system(2)
    running.worker("tokens", 8)
    running.serves("tokens")
    session = running.client.session()
    requests = [running.ask(session, "tokens", count=10, milliseconds=1500) for _ in range(8)]
    running.until(session, "job.started", requests)
    running.routers.all[0].program.process.send_signal(signal.SIGTERM)
    late = [running.ask(session, "tokens", count=1, milliseconds=10) for _ in range(8)]
    running.until(session, TERMINAL, requests + late)
    assert running.routers.all[0].program.process.wait(10) == 0
    events = running.events(session)
    assert outcomes(events) == {"request.finished": 16}
    check_no_second_start(events)


def test_one_router_under_two_addresses_is_one(system, tmp_path):
    running = system(1)
    port = running.routers.all[0].backend.rsplit(":", 1)[1]
    # Two numeric addresses of one machine; the router binds only one of them, so a relay is the other.
    with Relay(int(port)) as relay:
        program = running.worker("tokens", 4, routers=f"127.0.0.1:{port},127.0.0.1:{relay.port}")
        running.serves("tokens")
        eventually(lambda: "connected already" in program.output)
        session = running.client.session()
        requests = [running.ask(session, "tokens", count=2, milliseconds=200) for _ in range(8)]
        running.until(session, TERMINAL, requests)
        assert outcomes(running.events(session)) == {"request.finished": 8}
        assert len(running.workers("tokens")) == 1


class Relay:
    """Another address of a port."""

    def __init__(self, port):
        self.target = port
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        self.over = False
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                one, _ = self.server.accept()
                other = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                return
            for source, sink in ((one, other), (other, one)):
                threading.Thread(target=self._copy, args=(source, sink), daemon=True).start()

    @staticmethod
    def _copy(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.close()


# Names, in a mount namespace whose /etc/hosts is the test's own.

def may_mount():
    return os.geteuid() == 0 and subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0


class Hosts:
    """What a name stands for, for programs that are started with it."""

    def __init__(self, folder):
        self.file = folder / "hosts"
        self.set()

    def set(self, *addresses):
        # In place: what is mounted is the file, not its name.
        self.file.write_text("127.0.0.1 localhost\n" + "".join(f"{address} routers.test\n" for address in addresses))

    def wrap(self, program, *arguments):
        command = 'mount --bind "$1" /etc/hosts && shift && exec "$@"'
        return "/usr/bin/unshare", "-m", "sh", "-c", command, "sh", self.file, BIN / program, *arguments


class NamedRouter:
    """A router at one of the machine's own addresses."""

    def __init__(self, folder, address, port):
        self.folder = folder / address
        self.folder.mkdir(exist_ok=True)
        self.program = Program("skillbus-router", "--frontend", f"tcp://{address}:{port}", "--backend",
                               f"tcp://{address}:{port + 1}", folder=self.folder)
        eventually(lambda: "ready " in self.program.output or self.program.process.poll() is not None)
        assert self.program.process.poll() is None, self.program.output
        self.frontend = f"tcp://{address}:{port}"


@pytest.fixture
def named(tmp_path):
    """named(ADDRESS) starts a router there; all have the same ports."""
    port, started = free_port(), []

    def start(address):
        started.append(NamedRouter(tmp_path, address, port))
        return started[-1]

    start.port = port
    yield start
    for router in started:
        router.program.process.kill()
        router.program.close()


def free_port():
    for _ in range(1000):
        port = random.randint(10_000, 31_000)
        try:
            for offset in (0, 1):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.2", port + offset))
            return port
        except OSError:
            continue
    raise OSError("no free port")


@pytest.mark.skipif(not may_mount(), reason="needs the right to mount")
def test_a_name_of_two_addresses_is_two_routers_and_may_move(named, start, tmp_path):
    hosts = Hosts(tmp_path)
    routers = [named("127.0.0.2"), named("127.0.0.3")]
    worker = start(*hosts.wrap("ChaosWorker", "--routers", f"routers.test:{named.port + 1}", "--concurrency", 4),
                   environment={"CHAOS_SKILL": "tokens"})
    # Nobody knows the name yet.
    time.sleep(1)
    assert worker.process.poll() is None
    hosts.set("127.0.0.2", "127.0.0.3")
    for router in routers:
        eventually(lambda: workers_at(router), within=5)
    routers[1].program.process.kill()
    routers[1].program.process.wait()
    moved = named("127.0.0.4")
    hosts.set("127.0.0.2", "127.0.0.4")
    begin = time.monotonic()
    eventually(lambda: workers_at(moved), within=10)
    took = time.monotonic() - begin
    print(f"at its new address after {took:.2f} s")
    assert took < 5.5
    assert workers_at(routers[0])


@pytest.mark.skipif(not may_mount(), reason="needs the right to mount")
def test_a_gateway_follows_a_name(named, start, tmp_path):
    hosts = Hosts(tmp_path)
    router = named("127.0.0.2")
    hosts.set("127.0.0.2")
    ready = tmp_path / "ready"
    start(*hosts.wrap("skillbus-gateway", "--http", "127.0.0.1:0", "--state", tmp_path / "state", "--routers",
                      f"routers.test:{named.port}", "--ready-file", ready))
    eventually(ready.exists)
    client = Client(json.loads(ready.read_text())["url"])
    eventually(lambda: client.get("/readyz").status == 200)
    router.program.process.kill()
    eventually(lambda: client.get("/readyz").status == 503)
    named("127.0.0.3")
    hosts.set("127.0.0.3")
    begin = time.monotonic()
    eventually(lambda: client.get("/readyz").status == 200, within=10)
    assert time.monotonic() - begin < 5.5


# The messages, with peers of another make.

def test_a_held_job_is_adopted_and_its_events_pass(routers):
    group = routers(1)
    router = group.all[0]
    execution = (job_id(request := new_id(), 1), 1, 1)
    with Worker(router.backend, "held", held={execution: 3}, idempotent=False) as worker, \
            Gateway(router.frontend) as gateway:
        assert worker.welcome["adopts"] is True
        gateway.send(Message(SUBMIT, encode_job("held", session="s", text="t"), flags=ELSEWHERE, job=request, generation=2))
        adopted = worker.expect(ADOPTED, within=4)
        assert decode_executions(adopted.body) == [execution]
        job = Message(DISPATCH, job=execution[0], generation=1, attempt=1)
        worker.finish(job, "done", sequence=4)
        records, end = gateway.end(job.job)
        assert end.execution == execution and end.sequence == 4 and records[-1][0] == FINISHED
        worker.nothing(DISPATCH, FENCED, within=1)


def test_a_claim_without_a_request_gives_nothing_away(routers):
    router = routers(1).all[0]
    execution = (job_id(new_id(), 1), 1, 1)
    with Worker(router.backend, "claimed") as worker, Gateway(router.frontend) as gateway:
        worker.send(Message(CLAIM, encode_executions(execution)))
        worker.say(Message(DISPATCH, job=execution[0], generation=1, attempt=1), 1, (DELTA, "secret"))
        gateway.nothing(EVENT, within=1)
