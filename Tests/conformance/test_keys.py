"""The bus with keys: who gets in, who does not, and who may do what. The attacker is libzmq itself, from Python."""
import os
import pty
import signal
import subprocess
import time

import pytest
import zmq

from conftest import BIN, Bus, eventually
from peers import Gateway, Key, Peer, Worker
from wire import ERROR, EVENT, QUERY, REGISTER, SUBMIT, WELCOME, Message, encode_job, new_id, text_id


def keys(folder, *words):
    done = subprocess.run([BIN / "skillbus", "keys", *words, "--keys", folder / "keys"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


class GuardedBus(Bus):
    """A router with keys: for a gateway, a worker of any skill, and one of the skill `only`."""

    def __init__(self, folder):
        keys(folder, "new")
        keys(folder, "new", "narrow", "--skills", "only")
        self.folder = folder
        super().__init__(folder, "--key", folder / "keys/router.key")

    def key(self, name):
        return Key.read(self.folder / f"keys/{name}.key")

    def reload(self):
        count = self.program.output.count("read anew")
        self.program.process.send_signal(signal.SIGHUP)
        eventually(lambda: self.program.output.count("read anew") > count)


@pytest.fixture
def guarded(tmp_path):
    bus = GuardedBus(tmp_path)
    yield bus
    bus.program.close()


def answer(endpoint, message, key, within=5.0):
    with Peer(connect=endpoint, key=key) as peer:
        peer.send(message)
        return peer.receive(within)


def is_let_in(endpoint, key, within=2.0):
    """Whether a question of this peer is answered at all."""
    with Peer(connect=endpoint, key=key) as peer:
        peer.socket.sndtimeo = int(within * 1000)
        try:
            peer.send(Message(QUERY, sequence=1, body={"ask": "skills"}))
        except zmq.Again:
            return False
        return peer.receive(within) is not None


def forbidden(message):
    assert message is not None and message.type == ERROR, message
    assert message.json["code"] == "forbidden", message.json
    return message.json["message"]


def test_a_job_runs_between_those_who_have_keys(guarded):
    with Worker(guarded.backend, "only", key=guarded.key("narrow")) as worker, \
            Gateway(guarded.frontend, key=guarded.key("gateway")) as gateway:
        request = gateway.submit("do it", skill="only")
        job = worker.job()
        worker.start(job)
        worker.finish(job, "done")
        records, end = gateway.end(job.job)
        assert records[-1][1]["output"]["text"] == "done"


def test_a_stranger_gets_nothing(guarded):
    stranger = guarded.key("worker").but_new()
    for endpoint in (guarded.frontend, guarded.backend):
        assert not is_let_in(endpoint, stranger)
    refused = [line for line in guarded.program.output.splitlines() if "not let in" in line]
    assert refused and stranger.public.hex() in refused[0]
    assert is_let_in(guarded.backend, guarded.key("worker"))


def test_plain_peers_are_refused_once_there_are_keys(guarded):
    for endpoint in (guarded.frontend, guarded.backend):
        assert not is_let_in(endpoint, None)


def test_whoever_does_not_have_the_routers_key_does_not_reach_it(guarded):
    key = guarded.key("worker")
    key.router = key.but_new().public
    assert not is_let_in(guarded.backend, key)


def test_nobody_gets_in_with_plain_or_without_a_mechanism(guarded):
    context = zmq.Context()
    socket = context.socket(zmq.DEALER)
    socket.linger, socket.sndtimeo = 0, 1500
    socket.setsockopt(zmq.IMMEDIATE, 1)
    socket.plain_username, socket.plain_password = b"gateway", b"gateway"
    socket.connect(guarded.backend)
    with pytest.raises(zmq.Again):
        socket.send(b"x")
    context.destroy()


def registration(*skills):
    return Message(REGISTER, value=1, body={
        "worker": "w", "instance": text_id(new_id()), "host": "h", "pid": 1, "product": "p", "concurrency": 1,
        "manifests": [{"id": skill, "description": f"Does {skill}, for tests only."} for skill in skills], "held": []})


@pytest.mark.parametrize("side, key", [("backend", "gateway"), ("frontend", "worker"), ("frontend", "narrow")])
def test_a_key_in_the_wrong_role_is_refused(guarded, side, key):
    endpoint = getattr(guarded, side)
    message = registration("only") if side == "backend" else Message(
        SUBMIT, job=new_id(), generation=1, body=encode_job("only", text="x"))
    hello = Message(1, body={"gateway": "g", "instance": text_id(new_id()), "host": "h", "pid": 1, "product": "p"})
    for sent in [message] + ([hello] if side == "frontend" else []):
        assert f'"{key}"' in forbidden(answer(endpoint, sent, guarded.key(key)))
    assert any("may not do that" in line and key in line for line in guarded.program.output.splitlines())


def test_a_worker_registers_only_its_own_skills(guarded):
    for skills in (["other"], ["only", "other"]):
        said = forbidden(answer(guarded.backend, registration(*skills), guarded.key("narrow")))
        assert '"other"' in said and '"narrow"' in said
    assert any("worker refused" in line and "forbidden" in line for line in guarded.program.output.splitlines())
    with Worker(guarded.backend, "only", key=guarded.key("narrow")):
        pass


def test_a_batch_is_held_against_the_key_as_well(guarded):
    submit = Message(SUBMIT, job=new_id(), generation=1, body=encode_job("only", text="x"))
    assert "BATCH" in forbidden(answer(guarded.frontend, Message.batch([submit, submit]), guarded.key("worker"))).upper()
    forbidden(answer(guarded.backend, Message.batch([registration("only")] * 2), guarded.key("gateway")))
    with Peer(connect=guarded.backend, key=guarded.key("narrow")) as peer:
        peer.send(registration("only"))
        peer.expect(WELCOME)
        peer.send(Message.batch([registration("other"), registration("other")]))
        assert '"other"' in forbidden(peer.expect(ERROR))


def test_a_worker_cannot_take_another_keys_place(guarded):
    with Worker(guarded.backend, "only", key=guarded.key("narrow")) as worker:
        again = Message(REGISTER, value=1, body=registration("only").json | {"instance": worker.instance})
        assert "another key" in forbidden(answer(guarded.backend, again, guarded.key("worker")))


def test_a_worker_speaks_only_of_jobs_that_it_was_given(guarded):
    with Worker(guarded.backend, "only", key=guarded.key("narrow")) as owner, \
            Worker(guarded.backend, "other", key=guarded.key("worker")) as liar, \
            Gateway(guarded.frontend, key=guarded.key("gateway")) as gateway:
        gateway.submit("do it", skill="only")
        job = owner.job()
        owner.start(job)
        gateway.expect(EVENT, job=job.job)
        liar.running[job.execution] = 0
        liar.finish(job, "a lie")
        gateway.nothing(EVENT, within=1.0)
        owner.finish(job, "the truth")
        records, _ = gateway.end(job.job)
        assert records[-1][1]["output"]["text"] == "the truth"


def test_a_gateways_name_stays_its_own(guarded):
    keys(guarded.folder, "new", "second", "--role", "gateway")
    guarded.reload()
    with Gateway(guarded.frontend, "mine", key=guarded.key("gateway")):
        hello = Message(1, body={"gateway": "mine", "instance": text_id(new_id()), "host": "h", "pid": 1,
                                 "product": "p"})
        assert "another key" in forbidden(answer(guarded.frontend, hello, guarded.key("second")))


def test_keys_are_rotated_without_a_restart(guarded):
    keys(guarded.folder, "new", "next", "--skills", "only")
    following = guarded.key("next")
    assert not is_let_in(guarded.backend, following)
    guarded.reload()
    # Both at once.
    with Worker(guarded.backend, "only", key=following) as new:
        with Worker(guarded.backend, "only", key=guarded.key("narrow")) as old:
            kept = guarded.key("narrow")
            keys(guarded.folder, "remove", "narrow")
            guarded.reload()
            # The connection is there still, and nothing of it counts.
            assert "list" in forbidden(old.expect(ERROR))
            assert not is_let_in(guarded.backend, kept)
            with Gateway(guarded.frontend, key=guarded.key("gateway")) as gateway:
                [skill] = gateway.ask({"ask": "skills"})["skills"]
                assert [worker["id"] for worker in skill["workers"]] == [new.name]


def test_a_job_of_a_worker_that_is_shut_out_goes_to_another(guarded):
    with Worker(guarded.backend, "only", key=guarded.key("narrow")) as old, \
            Gateway(guarded.frontend, key=guarded.key("gateway")) as gateway:
        gateway.submit("do it", skill="only")
        job = old.job()
        old.start(job)
        gateway.expect(EVENT, job=job.job)
        keys(guarded.folder, "remove", "narrow")
        guarded.reload()
        with Worker(guarded.backend, "only", key=guarded.key("worker")) as new:
            again = new.job()
            assert again.job == job.job and again.attempt == job.attempt + 1
            new.start(again)
            new.finish(again, "done")
            records, _ = gateway.end(job.job)
            assert records[-1][1]["output"]["text"] == "done"


def test_a_list_that_cannot_be_read_changes_nothing(guarded):
    (guarded.folder / "keys/allowed").write_text("nonsense\n")
    guarded.program.process.send_signal(signal.SIGHUP)
    eventually(lambda: "stays as it was" in guarded.program.output)
    with Worker(guarded.backend, "only", key=guarded.key("narrow")):
        pass


@pytest.mark.parametrize("name", ["router", "gateway", "worker"])
def test_a_secret_that_others_can_read_is_refused(tmp_path, start, name):
    keys(tmp_path, "new")
    file = tmp_path / f"keys/{name}.key"
    file.chmod(0o644)
    program = {"worker": "skillbus-worker-chat"}.get(name, f"skillbus-{name}")
    process = start(program, "--key", file)
    assert process.process.wait(20) == 2
    assert "chmod 600" in process.output


@pytest.mark.parametrize("option", ["--frontend", "--backend"])
def test_a_wide_bind_needs_keys(tmp_path, start, option):
    other = {"--frontend": "--backend", "--backend": "--frontend"}[option]
    narrow = (other, "tcp://127.0.0.1:*")
    refused = start("skillbus-router", option, "tcp://0.0.0.0:*", *narrow)
    assert refused.process.wait(20) == 2 and "skillbus keys new" in refused.output
    keys(tmp_path, "new")
    bound = start("skillbus-router", option, "tcp://0.0.0.0:*", *narrow, "--key", tmp_path / "keys/router.key")
    eventually(lambda: "ready {" in bound.output)


def test_a_worker_whose_key_comes_later_gets_in_by_itself(guarded, start):
    keys(guarded.folder, "new", "talker", "--skills", "chat")
    worker = start("skillbus-worker-chat", "--routers", guarded.backend, "--key", guarded.folder / "keys/talker.key")
    eventually(lambda: "does not let this key in" in worker.output)
    guarded.reload()
    eventually(lambda: "ready {" in worker.output)


def test_a_worker_with_a_key_talks_to_no_router_without(guarded, bus, start):
    worker = start("skillbus-worker-chat", "--routers", bus.backend, "--key", guarded.folder / "keys/worker.key")
    eventually(lambda: "does not let this key in" in worker.output)
    assert "ready {" not in worker.output


def test_a_terminal_that_closes_ends_what_was_started_from_it(tmp_path):
    """SIGHUP reads lists anew, but not where it says that the terminal is gone."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(BIN / "skillbus-router", ["skillbus-router", "--frontend", f"ipc://{tmp_path}/f", "--backend",
                                           f"ipc://{tmp_path}/b"])
    shown = b""
    while b"ready {" not in shown:
        shown += os.read(terminal, 4096)
    os.kill(pid, signal.SIGHUP)
    while b"nothing to read anew" not in shown:
        shown += os.read(terminal, 4096)
    os.close(terminal)
    ended = eventually(lambda: os.waitpid(pid, os.WNOHANG)[0] == pid)
    assert ended


def test_health_checks_know_the_keys(guarded, start):
    worker = start("skillbus-worker-chat", "--routers", guarded.backend, "--key", guarded.folder / "keys/worker.key")
    eventually(lambda: "ready {" in worker.output)
    router = ("skillbus-router", "--health", "--backend", guarded.backend)
    chat = ("skillbus-worker-chat", "--health", "--routers", guarded.backend)
    assert start(*router, "--key", guarded.folder / "keys/router.key").process.wait(20) == 0
    assert start(*chat, "--key", guarded.folder / "keys/worker.key").process.wait(20) == 0
    assert start(*router).process.wait(20) == 1
    assert start(*chat).process.wait(20) == 1


def test_an_endless_message_of_a_stranger_does_not_reach_the_router(guarded):
    def resident():
        for line in open(f"/proc/{guarded.program.process.pid}/status"):
            if line.startswith("VmRSS"):
                return int(line.split()[1])

    before = resident()
    for key in (None, guarded.key("worker").but_new()):
        context = zmq.Context()
        socket = context.socket(zmq.DEALER)
        socket.linger, socket.sndtimeo, socket.sndhwm = 0, 500, 10
        if key:
            key.use(socket)
        socket.connect(guarded.backend)
        end = time.monotonic() + 2
        try:
            while time.monotonic() < end:
                socket.send(os.urandom(60_000), zmq.SNDMORE)
        except zmq.Again:
            pass
        context.destroy(linger=0)
    assert resident() < before + 20_000
