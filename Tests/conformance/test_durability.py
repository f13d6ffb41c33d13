"""What a gateway keeps, whatever happens to it: it is killed, its disk is full, its store is locked, old or too new."""
import contextlib
import json
import os
import random
import resource
import subprocess
import threading
import time

import pytest

from conftest import Bus, Program, eventually
from gateways import Echo
from peers import Worker
from wire import CANCEL, DELTA, DISPATCH, FENCED, FINISHED, PROGRESS, STARTED

TERMINAL = {"request.finished", "request.failed", "request.cancelled"}


def test_killed_again_and_again_the_store_stays_sound(own_bus, gateway):
    seed = random.randrange(1 << 30)
    chance = random.Random(seed)
    running = gateway()
    echo = Echo(own_bus, "kill-echo")
    try:
        accepted, sessions = {}, [running.client.session() for _ in range(4)]
        for turn in range(8):
            stop = threading.Event()

            def ask(number, client=running.client, turn=turn, stop=stop):
                count = 0
                while not stop.is_set():
                    count += 1
                    text = f"{turn}-{number}-{count}"
                    try:
                        answer = client.request(sessions[number], text, skill="kill-echo", headers={
                            "Idempotency-Key": text})
                    except Exception:
                        return
                    if answer.status == 202:
                        accepted[text] = answer.json["id"]

            threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
            for thread in threads:
                thread.start()
            time.sleep(chance.uniform(0.1, 0.7))
            running.kill()
            stop.set()
            for thread in threads:
                thread.join(30)
            # As the crash left it, and as the next start finds it.
            running.sound()
            running.start()
        report = eventually(lambda: (report := running.sound())["open"] == 0 and report, within=30)
        assert report["requests"] >= len(accepted) > 20, (seed, report)
        # What was accepted has its one end, and what nobody knows about was not run twice under its key.
        ends = {}
        for session in sessions:
            last = running.client.get(f"/v1/sessions/{session}").json["seq"]
            with running.client.follow(session) as stream:
                events = [stream.event() for _ in range(last)]
            assert [number for number, _, _ in events] == list(range(1, last + 1)), seed
            for _, type, event in events:
                if type in TERMINAL:
                    ends.setdefault(event["request"], []).append(type)
        assert all(ends.get(request) == ["request.finished"] for request in accepted.values()), seed
        text, request = next(iter(accepted.items()))
        session = sessions[int(text.split("-")[1])]
        again = running.client.request(session, text, skill="kill-echo", headers={"Idempotency-Key": text})
        assert again.json["id"] == request
    finally:
        echo.close()


@pytest.mark.parametrize("idempotent", [False, True])
def test_what_runs_goes_on_when_the_gateway_is_killed(own_bus, gateway, idempotent):
    running = gateway()
    skill = f"once-{idempotent}".lower()
    with Worker(own_bus.backend, skill, idempotent=idempotent) as worker:
        session = running.client.session()
        request = running.client.request(session, "pay", skill=skill).json["id"]
        job = worker.job()
        worker.start(job)
        worker.say(job, 2, (DELTA, "half "))
        eventually(lambda: running.client.get(f"/v1/sessions/{session}").json["running"][0]["steps"][0]["text"])
        running.kill()
        # Said to nobody: the end has it all.
        worker.say(job, 3, (DELTA, "of "))
        running.start()
        worker.nothing(DISPATCH, FENCED, CANCEL, within=2)
        worker.say(job, 4, (DELTA, "it"), (FINISHED, {
            "output": {"text": "half of it", "parts": []}, "engine": "offline", "cached": False, "milliseconds": 1}))
        with running.client.follow(session) as stream:
            events = stream.until_end(request)
        types = [type for _, type, _ in events]
        assert types.count("job.finished") == 1 and types[-1] == "request.finished"
        assert "job.retrying" not in types and types.count("job.started") == 1
        assert events[-1][2]["data"]["output"]["text"] == "half of it"
        worker.nothing(DISPATCH, within=1)
    running.sound()


def test_what_ended_while_the_gateway_was_away_is_told_once(own_bus, gateway):
    running = gateway()
    with Worker(own_bus.backend, "away", idempotent=False) as worker:
        session = running.client.session()
        request = running.client.request(session, "pay", skill="away").json["id"]
        job = worker.job()
        worker.start(job)
        running.kill()
        worker.finish(job, "paid")
        running.start()
        # The worker sends its end again until it is acknowledged (protocol 5.4); this one does it by hand.
        worker.running[job.execution] = 0
        worker.finish(job, "paid")
        with running.client.follow(session) as stream:
            events = stream.until_end(request)
        assert [type for _, type, _ in events].count("job.finished") == 1
        assert events[-1][2]["data"]["output"]["text"] == "paid"
    running.sound()


def test_a_router_that_has_forgotten_says_so_and_what_ran_is_unknown(tmp_path, gateway):
    """Gateway and router are killed: the new router has nothing, and what must not run twice does not."""
    own = Bus(tmp_path)
    try:
        running = gateway()
        running.bus = own
        running.kill()
        running.start()
        with Worker(own.backend, "unknown", idempotent=False) as worker:
            session = running.client.session()
            request = running.client.request(session, "pay", skill="unknown").json["id"]
            worker.start(worker.job())
            running.kill()
        own.program.process.kill()
        own.program.process.wait()
        port = [address.rsplit(":", 1)[1] for address in (own.frontend, own.backend)]
        own.program = Program("skillbus-router", "--frontend", f"tcp://127.0.0.1:{port[0]}", "--backend",
                              f"tcp://127.0.0.1:{port[1]}", folder=tmp_path)
        with Worker(own.backend, "unknown", idempotent=False) as worker:
            running.start()
            with running.client.follow(session) as stream:
                events = stream.until_end(request)
            assert events[-1][1] == "request.failed"
            assert events[-1][2]["data"]["error"]["code"] == "outcome_unknown"
            worker.nothing(DISPATCH, within=1)
        running.sound()
    finally:
        own.program.close()


def refused(answer):
    assert answer.status == 503, (answer.status, answer.body)
    assert int(answer.headers["Retry-After"]) >= 1
    assert answer.json["code"] == "store_unavailable", answer.json
    return answer.json


class SizeLimit:
    """A limit on the size of files: nobody needs to be root for it, and SQLite calls it an I/O error."""
    words = "disk I/O error"

    def __init__(self, folder):
        self.hard = resource.RLIM_INFINITY

    def fill(self, process):
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (200_000, self.hard))

    def free(self, process):
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (self.hard, self.hard))

    def close(self):
        pass


class SmallDisk:
    """A file system of its own that something else fills."""
    words = "no space is left"

    def __init__(self, folder):
        self.folder = folder / "state"
        self.folder.mkdir(exist_ok=True)
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", self.folder]).returncode:
            pytest.skip("a file system can only be mounted by root")

    def fill(self, _):
        with open(self.folder / "other", "wb", buffering=0) as file, contextlib.suppress(OSError):
            while file.write(bytes(4096)):
                pass

    def free(self, _):
        (self.folder / "other").unlink()

    def close(self):
        subprocess.run(["umount", "-l", self.folder], check=True)


@pytest.mark.parametrize("disk", [SizeLimit, SmallDisk])
def test_a_full_disk_answers_503_and_recovers(own_bus, gateway, tmp_path, disk):
    disk = disk(tmp_path)
    running = gateway()
    try:
        fill_and_free(own_bus, running, disk)
    finally:
        running.program.close()
        disk.close()


def fill_and_free(own_bus, running, disk):
    client, process = running.client, running.program.process
    session = client.session()
    with Worker(own_bus.backend, "full") as worker:
        kept = client.request(session, "kept", skill="full").json["id"]
        job = worker.job()
        disk.fill(process)
        worker.start(job)
        for _ in range(100):
            answer = client.request(session, "x" * 50_000, skill="full")
            if answer.status == 503:
                break
        assert disk.words in refused(answer)["detail"]
        # From now on at once, whoever asks.
        begun = time.monotonic()
        refused(client.request(session, "small", skill="full"))
        refused(client.call("POST", "/v1/sessions", {}))
        assert time.monotonic() - begun < 1
        assert client.get("/readyz").json["code"] == "store_unavailable"
        assert client.get("/healthz").status == 200 and client.get(f"/v1/sessions/{session}").status == 200
        # A cancel that cannot be kept is not promised.
        refused(client.call("DELETE", f"/v1/sessions/{session}/requests/{kept}"))
        disk.free(process)
        eventually(lambda: client.get("/readyz").status == 200)
        with client.follow(session) as stream:
            assert stream.until_end(kept)[-1][1] == "request.cancelled"
        assert client.request(session, "again", skill="full").status == 202
    assert process.poll() is None
    running.sound()


def test_a_locked_store_answers_503_and_recovers(own_bus, gateway):
    running = gateway()
    client = running.client
    session = client.session()
    lock = running.database()
    with Worker(own_bus.backend, "locked") as worker:
        kept = client.request(session, "kept", skill="locked").json["id"]
        job = worker.job()
        lock.execute("BEGIN IMMEDIATE")
        worker.start(job)
        worker.finish(job, "all of it")
        refused(client.request(session, "other", skill="locked"))
        begun = time.monotonic()
        assert "locked" in refused(client.request(session, "other", skill="locked"))["detail"]
        assert time.monotonic() - begun < 1
        lock.execute("ROLLBACK")
        eventually(lambda: client.get("/readyz").status == 200)
        with client.follow(session) as stream:
            assert stream.until_end(kept)[-1][2]["data"]["output"]["text"] == "all of it"
    lock.close()
    running.sound()


def test_a_cancel_that_is_acknowledged_outlives_the_gateway(own_bus, gateway):
    running = gateway()
    with Worker(own_bus.backend, "stays") as worker:
        session = running.client.session()
        for _ in range(5):
            request = running.client.request(session, "long", skill="stays").json["id"]
            worker.start(worker.job())
            assert running.client.call("DELETE", f"/v1/sessions/{session}/requests/{request}").status == 202
            running.kill()
            running.start()
            with running.client.follow(session) as stream:
                assert stream.until_end(request)[-1][1] == "request.cancelled"
            worker.free, worker.running = 1, {}
    running.sound()


def test_old_sessions_are_deleted_and_whoever_comes_back_is_told(own_bus, gateway):
    running = gateway("--retention", "30")
    client = running.client
    echo = Echo(own_bus, "old-echo")
    old, young = client.session(), client.session()
    for session in (old, young):
        client.run("text", session, skill="old-echo")
    running.kill()
    database = running.database()
    month = 31 * 86_400_000
    database.execute("UPDATE requests SET ended = ended - ?, created = created - ? WHERE number = 1", (month, month))
    database.execute("UPDATE sessions SET updated = updated - ? WHERE number = 1", (month,))
    database.close()
    client = running.start().client
    eventually(lambda: client.get(f"/v1/sessions/{old}").status == 410)
    for answer in (client.get(f"/v1/sessions/{old}"), client.get(f"/v1/sessions/{old}/events"),
                   client.request(old, "again", skill="old-echo")):
        assert answer.status == 410 and answer.json["code"] == "session_pruned" and answer.json["hint"]
    assert client.get(f"/v1/sessions/{young}").json["messages"]
    assert [entry["id"] for entry in client.get("/v1/sessions").json["sessions"]] == [young]
    running.sound()
    echo.close()


def test_a_follower_of_a_part_that_was_deleted_gets_a_gap(own_bus, gateway):
    running = gateway("--retention", "30")
    client = running.client
    echo = Echo(own_bus, "part-echo")
    session = client.session()
    _, first = client.run("one", session, skill="part-echo")
    client.run("two", session, skill="part-echo")
    running.kill()
    database = running.database()
    database.execute("UPDATE requests SET ended = ended - ? WHERE number = 1", (31 * 86_400_000,))
    database.close()
    client = running.start().client
    eventually(lambda: running.sound()["requests"] == 1)
    with client.follow(session, after=2) as stream:
        number, type, event = stream.event()
        assert number is None and type == "gap" and event["data"] == {"from": 3, "to": len(first)}
        assert stream.event()[0] == len(first) + 1
    assert [message["text"] for message in client.get(f"/v1/sessions/{session}").json["messages"]] == ["two", "two"]
    echo.close()


def test_a_check_says_what_it_finds_by_its_exit_code(own_bus, gateway):
    running = gateway()
    running.client.session()
    assert running.check().returncode == 0 and "sound" in running.check().stdout
    running.program.terminate()
    database = running.database()
    database.execute("UPDATE sessions SET next_seq = 5")
    answer = running.check()
    assert answer.returncode == 1 and "sequence" in answer.stdout and "not sound" in answer.stdout
    assert json.loads(running.check("--json").stdout)["problems"][0]["rule"] == "sequence"
    database.execute("UPDATE sessions SET next_seq = 1")
    database.execute("PRAGMA user_version=99")
    database.close()
    answer = running.check()
    assert answer.returncode == 2 and "99" in answer.stderr and "later" in answer.stderr
    running.start(wait=False)
    assert running.program.process.wait(20) == 1 and "the version that wrote it" in running.program.output
    assert running.check("--state", running.folder / "nowhere").returncode == 2


@pytest.mark.parametrize("kind, payload, over", [
    (DELTA, lambda n: "x" * n, False), (DELTA, lambda n: "x" * n, True),
    (PROGRESS, lambda n: '{"message":"' + "x" * (n - 14) + '"}', True)])
def test_an_event_over_its_limit_ends_the_job_and_says_why(own_bus, gateway, kind, payload, over):
    limit = 256 * 1024
    running = gateway()
    with Worker(own_bus.backend, "chatter") as worker:
        session = running.client.session()
        request = running.client.request(session, "talk", skill="chatter").json["id"]
        job = worker.job()
        worker.say(job, 1, (STARTED, {"worker": worker.name, "engine": "offline"}))
        text = payload(limit + over)
        worker.say(job, 2, (kind, text))
        if over:
            worker.expect(FENCED)
        else:
            worker.finish(job, text, sequence=3)
        with running.client.follow(session) as stream:
            end = stream.until_end(request)[-1]
        if not over:
            assert end[1] == "request.finished"
            return
        error = end[2]["data"]["error"]
        assert error["code"] == "event_too_large" and str(limit) in error["message"], error
        assert str(limit + 1) in error["message"] and error["hint"]
