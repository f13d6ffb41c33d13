"""The router between a worker and a gateway made of docs/protocol.md."""
import itertools
import statistics
import threading
import time

import pytest

from wire import (ATTACHMENTS, BATCH, CANCEL, CREDIT, DELTA, DISPATCH, ERROR, EVENT, EVENT_ACK, FAILED, FENCED, FINISHED,
                  GOODBYE, NACK, PLAN, REGISTER, RESENT, RETRYING, STARTED, SUBMIT, TAKES_BATCHES, TERMINAL, Message,
                  decode_executions, decode_job, encode_executions, encode_job, encode_records, job_id, new_id,
                  read_records, text_id)
from conftest import eventually
from peers import Connection, Gateway, Peer, Worker

numbers = itertools.count(1)


@pytest.fixture
def skill():
    """A skill id of this test's own: they share one router."""
    return f"test-{next(numbers)}-{new_id().hex()[-8:-4]}"


@pytest.fixture
def gateway(bus):
    with Gateway(bus.frontend) as gateway:
        yield gateway


def skills(gateway):
    return {entry["id"]: entry for entry in gateway.ask({"ask": "skills"})["skills"]}


def test_a_registered_skill_is_listed_with_its_worker(bus, gateway, skill):
    with Worker(bus.backend, skill, concurrency=3, displayName="A test") as worker:
        entry = skills(gateway)[skill]
        assert entry["displayName"] == "A test"
        assert [(item["id"], item["credit"], item["busy"]) for item in entry["workers"]] == [(worker.name, 3, 0)]


class BatchingWorker(Worker):
    flags = TAKES_BATCHES


class BatchingGateway(Gateway):
    flags = TAKES_BATCHES


def job_ends(jobs):
    """The one message of each job that ends it."""
    records = encode_records((STARTED, {"worker": "w", "engine": "e"}), (FINISHED, {
        "output": {"text": "", "parts": []}, "engine": "e", "cached": False, "milliseconds": 1}))
    return [Message(EVENT, records, flags=TERMINAL, job=job.job, generation=job.generation, attempt=job.attempt,
                    sequence=1, value=2) for job in jobs]


@pytest.mark.parametrize("kind", [Gateway, BatchingGateway])
def test_small_messages_travel_together_to_those_who_take_that(bus, skill, kind):
    with kind(bus.frontend) as gateway, BatchingWorker(bus.backend, skill, concurrency=9) as worker:
        assert gateway.welcome_flags & TAKES_BATCHES and worker.welcome_flags & TAKES_BATCHES
        requests = [new_id() for _ in range(5)]
        gateway.send(Message.batch([
            Message(SUBMIT, job=request, generation=1, body=encode_job(skill, session=text_id(new_id()), text=f"{n}"))
            for n, request in enumerate(requests)]))
        jobs = worker.expect(BATCH).parts()
        assert [job.type for job in jobs] == [DISPATCH] * 5
        assert [job.job for job in jobs] == [job_id(request, 1) for request in requests]
        assert [job.sequence for job in jobs] == [1, 2, 3, 4, 5]
        worker.send(Message.batch(job_ends(jobs)))
        if kind is BatchingGateway:
            events = gateway.expect(BATCH).parts()
        else:
            events = [gateway.expect(EVENT) for _ in jobs]
        assert [event.job for event in events] == [job.job for job in jobs]
        assert all(event.flags & TERMINAL and event.frames() == sent.frames()
                   for event, sent in zip(events, job_ends(jobs)))
        gateway.send(Message(EVENT_ACK, body=encode_executions(*(event.execution for event in events))))
        assert decode_executions(worker.expect(EVENT_ACK).body) == [job.execution for job in jobs]


def test_a_worker_that_takes_no_batches_gets_none(bus, gateway, skill):
    with Worker(bus.backend, skill, concurrency=9) as worker:
        gateway.send(Message.batch([
            Message(SUBMIT, job=new_id(), generation=1, body=encode_job(skill, session=text_id(new_id()), text="x"))
            for _ in range(3)]))
        for _ in range(3):
            job = worker.job()
            worker.start(job)
            worker.finish(job, "")
            gateway.end(job.job)


def test_large_messages_keep_their_place_between_the_small_ones(bus, skill):
    with BatchingGateway(bus.frontend) as gateway, BatchingWorker(bus.backend, skill, concurrency=9) as worker:
        texts = ["a", "b", "c" * 5000, "d", "e" * 70_000, "f", "g"]
        small = [Message(SUBMIT, job=new_id(), generation=1, body=encode_job(skill, session=text_id(new_id()), text=text))
                 for text in texts]
        for run in (small[0:2], small[2:3], small[3:4], small[4:5], small[5:7]):
            gateway.send(run[0] if len(run) == 1 else Message.batch(run))
        jobs = []
        while len(jobs) < len(texts):
            jobs += worker.expect(BATCH, DISPATCH).parts()
        assert [decode_job(job.body)[1]["text"] for job in jobs] == texts
        worker.send(Message.batch(job_ends(jobs)))
        ended = []
        while len(ended) < len(jobs):
            ended += gateway.expect(BATCH, EVENT).parts()
        assert [event.job for event in ended] == [job.job for job in jobs]
        gateway.send(Message(EVENT_ACK, body=encode_executions(*(event.execution for event in ended))))


@pytest.mark.parametrize("body, says", [
    (b"\x09\x00", "ends early"),
    (b"\xff\xff\xff\xff" + Message(SUBMIT).frames()[0], "ends early"),
    (Message.batch([Message(BATCH)]).body, "BATCH"),
    (Message.batch([Message(SUBMIT, flags=ATTACHMENTS, attachments=[b"x"])]).body, "several frames"),
])
def test_a_batch_that_is_none_is_refused_and_nothing_else(bus, gateway, skill, body, says):
    good = Message(SUBMIT, job=new_id(), generation=1, body=encode_job(skill, session=text_id(new_id()), text="x"))
    with Worker(bus.backend, skill) as worker:
        gateway.send(Message(BATCH, Message.batch([good]).body + body))
        error = gateway.expect(ERROR)
        assert error.json["code"] == "bad_message" and says in error.json["message"]
        assert worker.job().job == job_id(good.job, 1)


def test_a_stranger_is_told_once_for_all_of_a_batch(bus):
    with Peer(connect=bus.backend) as stranger:
        stranger.send(Message.batch([Message(CREDIT), Message(CREDIT), Message(CREDIT)]))
        assert stranger.expect(ERROR).json["code"] == "unregistered"
        assert stranger.receive(0.3) is None


def test_a_skill_goes_with_its_last_worker(bus, gateway, skill):
    worker = Worker(bus.backend, skill)
    assert skills(gateway)[skill]["workers"]
    worker.send(Message(GOODBYE))
    worker.close()
    eventually(lambda: not skills(gateway).get(skill, {"workers": []})["workers"])


def test_a_job_goes_there_and_back(bus, gateway, skill):
    with Worker(bus.backend, skill) as worker:
        request = gateway.submit("hello", skill, arguments={"loud": True})
        job = worker.job()
        assert job.job == job_id(request, 1) and (job.generation, job.attempt) == (1, 1)
        assert job.skill == skill and job.input["text"] == "hello" and job.input["arguments"] == {"loud": True}
        worker.start(job)
        worker.finish(job, "HELLO")
        found, terminal = gateway.end(job.job)
        assert [kind for kind, _ in found] == [STARTED, DELTA, FINISHED]
        assert found[-1][1]["output"]["text"] == "HELLO"
        acknowledgement = worker.expect(EVENT_ACK)
        assert decode_executions(acknowledgement.body) == [job.execution]
        assert terminal.execution == job.execution


def test_the_deadline_travels_with_the_job(bus, gateway, skill):
    with Worker(bus.backend, skill) as worker:
        gateway.submit("hello", skill, milliseconds=20_000)
        job = worker.job()
        assert 0 < job.value <= 20_000
        worker.finish(job, "done", sequence=1)
        gateway.end(job.job)


def test_no_more_jobs_than_free_slots(bus, gateway, skill):
    with Worker(bus.backend, skill, concurrency=2) as worker:
        requests = [gateway.submit(str(number), skill) for number in range(5)]
        first, second = worker.job(), worker.job()
        worker.nothing(DISPATCH, within=1.5)
        worker.finish(first, "done", sequence=1)
        third = worker.job()
        assert {job.input["text"] for job in (first, second, third)} == {"0", "1", "2"}
        for job in (second, third):
            worker.finish(job, "done", sequence=1)
        for _ in range(2):
            worker.finish(worker.job(), "done", sequence=1)
        ended = set()
        while len(ended) < len(requests):
            message = gateway.expect(EVENT)
            if message.flags & TERMINAL:
                gateway.acknowledge(message)
                ended.add(message.job)
        assert ended == {job_id(request, 1) for request in requests}


def test_jobs_are_shared_among_workers(bus, gateway, skill):
    with Worker(bus.backend, skill) as one, Worker(bus.backend, skill) as other:
        gateway.submit("a", skill)
        gateway.submit("b", skill)
        jobs = [one.job(), other.job()]
        assert {job.input["text"] for job in jobs} == {"a", "b"}
        for worker, job in zip((one, other), jobs):
            worker.finish(job, "done", sequence=1)
            gateway.end(job.job)


def test_a_dead_workers_job_moves_at_once(bus, gateway, skill):
    first = Worker(bus.backend, skill)
    request = gateway.submit("hello", skill)
    job = first.job()
    first.start(job)
    gateway.expect(EVENT, job=job.job)
    with Worker(bus.backend, skill) as second:
        first.close()
        again = second.job(within=5)
        assert again.job == job.job and (again.generation, again.attempt) > (job.generation, job.attempt)
        message = gateway.expect(EVENT, job=job.job)
        kind, payload = read_records(message.body)[0]
        assert kind == RETRYING and message.sequence == 0 and payload["reason"]
        second.start(again)
        second.finish(again, "HELLO")
        found, _ = gateway.end(job_id(request, 1))
        assert found[-1][0] == FINISHED


def test_a_silent_workers_job_moves_and_its_late_events_are_fenced(bus, gateway, skill):
    with Worker(bus.backend, skill) as silent, Worker(bus.backend, skill, concurrency=1) as other:
        gateway.submit("hello", skill)
        eventually(lambda: not silent.inbox.empty() or not other.inbox.empty())
        holder, spare = (silent, other) if not silent.inbox.empty() else (other, silent)
        job = holder.job()
        holder.start(job)
        holder.is_silent = True
        again = spare.job(within=10)
        holder.say(job, 2, (DELTA, "too late"))
        fenced = holder.expect(FENCED)
        assert job.execution in decode_executions(fenced.body)
        spare.start(again)
        spare.finish(again, "in time")
        found, _ = gateway.end(job.job)
        assert not [payload for kind, payload in found if payload == "too late"]


def test_a_job_that_ends_its_workers_is_dead_lettered(bus, gateway, skill):
    with Worker(bus.backend, skill) as first:
        request = gateway.submit("poison", skill)
        first.start(first.job())
    for _ in range(2):
        with Worker(bus.backend, skill) as next:
            next.start(next.job())
    # Somebody is there to run it; it is not run a fourth time.
    with Worker(bus.backend, skill) as spare:
        found, _ = gateway.end(job_id(request, 1))
        kind, error = found[-1]
        assert kind == FAILED and error["code"] == "dead_lettered" and error["message"]
        spare.nothing(DISPATCH, within=0.5)


def test_jobs_that_shared_two_dead_workers_run_alone(bus, gateway, skill):
    requests = [gateway.submit(str(number), skill) for number in range(2)]
    for attempt in (1, 2):
        worker = Worker(bus.backend, skill, concurrency=2)
        # Both at once, also after the first death.
        jobs = [worker.job() for _ in requests]
        for job in jobs:
            worker.start(job)
        begun = 0
        while begun < len(jobs):
            event = gateway.expect(EVENT)
            begun += event.attempt == attempt and event.sequence == 1
        worker.close()
    with Worker(bus.backend, skill, concurrency=2) as second:
        first = second.job()
        second.start(first)
        second.nothing(DISPATCH, within=1)
        second.finish(first, "done")
        other = second.job()
        assert {job.job for job in (first, other)} == {job_id(request, 1) for request in requests}
        assert {job.attempt for job in (first, other)} == {3}
        second.finish(other, "done", sequence=1)
        for job in (first, other):
            found, _ = gateway.end(job.job)
            assert found[-1][0] == FINISHED


def test_a_request_that_is_asked_for_goes_on_or_is_unknown(bus, gateway, skill):
    with Worker(bus.backend, skill) as worker:
        request = gateway.submit("pay", skill)
        job = worker.job()
        worker.start(job)
        again = Message(SUBMIT, encode_job(skill, session="s", text="pay"), flags=RESENT, job=request, generation=1)
        gateway.send(again)
        worker.nothing(DISPATCH, FENCED, CANCEL, within=1)
        worker.finish(job, "paid")
        gateway.end(job.job)
        worker.expect(EVENT_ACK)
        # It is over here, and nothing begins anew under a number that was used.
        gateway.send(again)
        refusal = gateway.expect(NACK)
        assert refusal.job == request and refusal.json["code"] == "unknown_request"
        worker.nothing(DISPATCH, within=1)
        gateway.submit("pay", skill, request=request, generation=2)
        assert worker.job().generation == 2


def test_an_event_over_its_limit_fails_the_job(bus, gateway, skill):
    with Worker(bus.backend, skill) as worker:
        gateway.submit("talk", skill)
        job = worker.job()
        # Two that are within it, in a message that is over it.
        worker.say(job, 1, (DELTA, "x" * 262_144), (DELTA, "y" * 262_144))
        assert len(gateway.expect(EVENT, job=job.job).body) > 524_288
        worker.say(job, 3, (DELTA, "x" * 262_145))
        assert decode_executions(worker.expect(FENCED).body) == [job.execution]
        found, _ = gateway.end(job.job)
        assert found[-1][0] == FAILED and found[-1][1]["code"] == "event_too_large"


def test_a_cancel_reaches_the_worker(bus, gateway, skill):
    with Worker(bus.backend, skill) as worker:
        request = gateway.submit("hello", skill)
        job = worker.job()
        worker.start(job)
        gateway.expect(EVENT, job=job.job)
        gateway.send(Message(CANCEL, job=request, generation=1))
        assert worker.expect(CANCEL).job == job.job
        worker.say(job, 2, (FAILED, {"code": "cancelled", "message": "cancelled", "retryable": False}))
        found, _ = gateway.end(job.job)
        assert found[-1][1]["code"] == "cancelled"


def test_a_registering_worker_keeps_its_running_job(bus, gateway, skill):
    with Worker(bus.backend, skill) as worker:
        gateway.submit("hello", skill)
        job = worker.job()
        worker.start(job)
        gateway.expect(EVENT, job=job.job)
        worker.send(worker.introduction())
        worker.nothing(DISPATCH, FENCED, within=1)
        worker.finish(job, "HELLO")
        found, terminal = gateway.end(job.job)
        assert found[-1][0] == FINISHED and terminal.execution == job.execution


def test_an_unknown_skill_is_refused_by_name(gateway):
    request = gateway.submit("hello", "no-such-skill")
    refusal = gateway.expect(NACK, job=request)
    assert refusal.json["code"] == "unknown_skill" and "no-such-skill" in refusal.json["message"]


def test_a_request_without_a_skill_gets_a_plan(bus, gateway, start):
    start("skillbus-worker-calculator", environment={"SKILLBUS_ROUTERS": bus.backend})
    eventually(lambda: "calculator" in skills(gateway))
    request = gateway.submit("what is 0.1 + 0.2")
    plan = gateway.expect(PLAN, job=request).json
    assert plan["mode"] == "single"
    assert [(step["id"], step["skill"], step["after"]) for step in plan["steps"]] == [("s1", "calculator", [])]
    found, _ = gateway.end(job_id(request, 1))
    assert "0.3" in found[-1][1]["output"]["text"]


PLACES = {
    "greenhouse": ["tomatoes", "basil", "vents", "seedlings"], "kennel": ["spaniel", "collie", "leash", "puppy"],
    "observatory": ["telescope", "comet", "dome", "mirror"],
}


def examples(place, count):
    """What a user would say of a place that no lexicon knows; each a little different."""
    things = PLACES[place]
    return [f"look after the {things[number % 4]} and the {things[number // 4 % 4]} of row {number}, please"
            for number in range(count)]


def test_a_skill_that_registers_is_learned_while_others_run(own_bus):
    with Gateway(own_bus.frontend) as asking, Gateway(own_bus.frontend) as gateway, \
            Worker(own_bus.backend, "greenhouse", examples=examples("greenhouse", 60)), \
            Worker(own_bus.backend, "kennel", concurrency=4, examples=examples("kennel", 60)) as kennel:
        def route(text):
            """The skills that a text would go to; all that were scored; and whether examples were learned for that."""
            plan = asking.ask({"ask": "route", "text": text})
            reasons = {score["skill"]: score["reasons"] for score in plan["scores"]}
            is_learned = any("like its examples in all" in reason for given in reasons.values() for reason in given)
            return [step["skill"] for step in plan["steps"]], reasons, is_learned

        eventually(lambda: route("look after the spaniel and the collie")[2])
        text = "look after the telescope and the dome"
        assert "observatory" not in route(text)[1]

        # Jobs of another skill, chosen by name and by text in turn, one after the other all the while.
        times, failures, ended = [], [], threading.Event()

        def run_jobs():
            try:
                while not ended.is_set():
                    start = time.monotonic()
                    request = gateway.submit("look after the puppy and the collie", "kennel" if len(times) % 2 else "")
                    job = kennel.job()
                    times.append((start, time.monotonic() - start))
                    assert job.job == job_id(request, 1)
                    kennel.finish(job, "done", sequence=1)
                    gateway.end(job.job)
            except Exception as error:
                failures.append(error)

        thread = threading.Thread(target=run_jobs, daemon=True)
        thread.start()
        try:
            eventually(lambda: len(times) >= 20)
            routers = [peer.welcome["router"] for peer in (asking, gateway, kennel)]
            registered = time.monotonic()
            with Worker(own_bus.backend, "observatory", examples=examples("observatory", 900)):
                eventually(lambda: route(text)[0] == ["observatory"])
                eventually(lambda: any("in all" in reason for reason in route(text)[1].get("observatory", [])))
                learned = time.monotonic()
                eventually(lambda: times[-1][0] > learned)
        finally:
            ended.set()
            thread.join(20)
        assert not failures, failures
        # Everybody has kept the router that they had: nothing was started anew.
        assert own_bus.program.process.poll() is None
        assert [peer.welcome["router"] for peer in (asking, gateway, kennel)] == routers
        during = [taken for start, taken in times if registered <= start <= learned]
        before = [taken for start, taken in times if start < registered]
        assert during, "no job was dispatched while the skill was learned"
        # What waits for the learning waits for all of it.
        bound = max((learned - registered) / 2, 10 * statistics.median(before))
        assert max(during) < bound, f"a dispatch took {max(during):.3f} s in {learned - registered:.3f} s of learning"


@pytest.mark.parametrize("field, value", [
    ("id", "Not An Id"), ("description", " "), ("description", ""), ("description", None), ("version", "latest"), ("concurrency", 0), ("timeout", -1),
])
def test_a_manifest_that_is_not_valid_is_refused_by_field(bus, skill, field, value):
    with Worker(bus.backend, skill, wait=False, **{field: value}) as worker:
        error = worker.expect(ERROR).json
        assert error["code"] == "bad_manifest" and field in error["message"] and not error.get("retryable")


def test_a_manifest_without_a_description_is_refused_with_the_reason(bus, skill):
    class Wordless(Worker):
        def introduction(self):
            self.manifest.pop("description", None)
            return super().introduction()

    with Wordless(bus.backend, skill, wait=False) as worker:
        error = worker.expect(ERROR).json
        assert error["code"] == "bad_manifest" and "description" in error["message"] and not error.get("retryable")


def test_another_manifest_under_the_same_version_is_refused(bus, gateway, skill):
    with Worker(bus.backend, skill):
        with Worker(bus.backend, skill, wait=False, description="Something else.") as other:
            assert other.expect(ERROR).json["code"] == "manifest_conflict"
        with Worker(bus.backend, skill, description="Something else.", version="1.1.0") as newer:
            gateway.submit("hello", skill)
            job = newer.job()
            newer.finish(job, "done", sequence=1)
            gateway.end(job.job)


GARBAGE = [[b""], [b"x" * 47], [bytes(48)], [b"SKB1" + bytes(44)], [b"SKB1\x09" + bytes([SUBMIT]) + bytes(42)],
           [b"SKB1\x01\xfe" + bytes(42)], [b"SKB1\x01" + bytes([REGISTER]) + bytes(42) + b"{"], [b"a", b"b", b"c"] * 20]


@pytest.mark.parametrize("side", ["frontend", "backend"])
def test_garbage_disturbs_nobody(bus, gateway, skill, side):
    class Vandal(Connection):
        def introduction(self):
            return GARBAGE[0]

    with Worker(bus.backend, skill) as worker, Vandal(getattr(bus, side)) as vandal:
        for garbage in GARBAGE:
            vandal.send(list(garbage))
        vandal.send(Message(SUBMIT, job=new_id(), generation=1, body=encode_job(skill, text="from a stranger")))
        request = gateway.submit("hello", skill)
        job = worker.job()
        while job.job != job_id(request, 1):
            worker.finish(job, "?", sequence=1)
            job = worker.job()
        worker.finish(job, "HELLO", sequence=1)
        found, _ = gateway.end(job.job)
        assert found[-1][0] == FINISHED


def test_a_large_body_and_an_attachment_pass_unchanged(bus, gateway, skill):
    with Worker(bus.backend, skill) as worker:
        text, attachment = "水" * 100_000, bytes(range(256)) * 4096
        request = new_id()
        gateway.send(Message(SUBMIT, job=request, generation=1, attachments=[attachment], body=encode_job(
            skill, session=text_id(new_id()), text=text,
            attachments=[{"name": "a.bin", "mediaType": "application/octet-stream", "bytes": len(attachment)}])))
        job = worker.job()
        assert job.input["text"] == text and job.attachments == [attachment]
        worker.finish(job, "ok", sequence=1)
        gateway.end(job.job)
