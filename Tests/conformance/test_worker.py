"""Every worker program against a router made of docs/protocol.md: what any worker, in any language, has to do."""
import signal
import struct

import pytest

from wire import (ACCEPTED, BODY_FRAME, CANCEL, CREDIT, DELTA, DISPATCH, DRAIN, ERROR, EVENT, EVENT_ACK, FAILED, FENCED,
                  FINISHED, GOODBYE, HEARTBEAT, NACK, REGISTER, STARTED, TERMINAL, WELCOME, Message, encode_executions,
                  encode_job, job_id, new_id, read_records, text_id)
from peers import Peer

REQUESTS = {
    "summarize": "The river rose by two metres on Monday. The bridge was closed at noon. Trains ran late all day. "
                 "The council met in the evening. It decided to build a higher bridge.",
    "keywords": "Solar panels turn sunlight into electricity. Electricity from solar panels needs storage at night.",
    "knowledge": "What does the handbook say about the river?",
    "calculator": "what is 0.1 + 0.2",
    "chat": "Hello!",
    "translate": "translate to French: The river rose by two metres.",
    "citations": "list the references: see https://example.org/rivers and doi:10.1000/182",
}
# What a skill says here, where it has nothing to do its work with.
REFUSALS = {"knowledge": ("no_index", "skillbus index"), "translate": ("model_needed", "SKILLBUS_LLM_URL")}
MANIFEST_FIELDS = {"id", "displayName", "description", "version", "inputTypes", "inputSchema", "consumes", "produces",
                   "examples", "priority", "concurrency", "timeout", "cacheTTL", "idempotent", "sendsDataTo"}


class Router:
    """The router's side, for one worker."""

    def __init__(self, endpoint=None, heartbeat=200):
        self.peer = Peer(bind=endpoint or "tcp://127.0.0.1:*")
        self.instance = text_id(new_id())
        self.heartbeat = heartbeat
        self.dispatched = 0
        self.worker = None

    def registration(self):
        """Waits for REGISTER and answers it."""
        self.worker, message = self.peer.expect(REGISTER, within=20)
        self.peer.send(Message(WELCOME, body={"router": self.instance, "heartbeat": self.heartbeat, "liveness": 3,
                                              "product": "conformance"}), to=self.worker)
        self.dispatched = 0
        return message

    def dispatch(self, skill, text, job=None, generation=1, attempt=1, **fields):
        self.dispatched += 1
        job = job or job_id(new_id(), 1)
        body = encode_job(skill, session=text_id(new_id()), text=text, **fields)
        self.peer.send(Message(DISPATCH, body, job=job, generation=generation, attempt=attempt,
                               sequence=self.dispatched, value=30_000), to=self.worker)
        return job

    def events(self, job, within=20):
        """All records of a job up to its terminal one, checked for order; and the terminal message."""
        found, expected = [], 1
        while True:
            _, message = self.peer.expect(EVENT, within=within, ignore=(HEARTBEAT, CREDIT, ACCEPTED))
            if message.job != job:
                continue
            entries = read_records(message.body)
            assert message.sequence == expected and message.value == len(entries)
            expected += len(entries)
            found += entries
            if message.flags & TERMINAL:
                assert entries[-1][0] in (FINISHED, FAILED)
                assert not [kind for kind, _ in found[:-1] if kind in (FINISHED, FAILED)]
                return found, message

    def acknowledge(self, message):
        self.peer.send(Message(EVENT_ACK, body=encode_executions(message.execution)), to=self.worker)

    def close(self):
        self.peer.close()


@pytest.fixture
def router():
    router = Router()
    yield router
    router.close()


def environment(router):
    return {"SKILLBUS_ROUTERS": router.peer.endpoint.removeprefix("tcp://")}


@pytest.fixture(params=REQUESTS)
def skill(request):
    return request.param


@pytest.fixture
def worker(start, router, skill):
    return start(f"skillbus-worker-{skill}", environment=environment(router))


def test_registers_with_a_complete_manifest(worker, router, skill):
    message = router.registration()
    body = message.json
    manifest = body["manifests"][0]
    assert manifest["id"] == skill
    assert set(manifest) == MANIFEST_FIELDS
    assert manifest["description"].strip() and manifest["examples"]
    assert body["concurrency"] >= 1 and message.value == body["concurrency"]
    assert body["held"] == []
    assert body["pid"] == worker.process.pid


def test_heartbeats_carry_its_free_slots(worker, router):
    concurrency = router.registration().json["concurrency"]
    for _ in range(3):
        _, beat = router.peer.expect(HEARTBEAT, within=3, ignore=(CREDIT,))
        assert beat.value == concurrency
        assert beat.body == b""


def test_runs_a_job(worker, router, skill):
    router.registration()
    job = router.dispatch(skill, REQUESTS[skill])
    found, terminal = router.events(job)
    assert terminal.execution == (job, 1, 1)
    assert found[0][0] == STARTED and found[0][1]["worker"]
    kind, finished = found[-1]
    if skill in REFUSALS:
        # Nothing has been indexed here, there is no model, and it says so.
        code, advice = REFUSALS[skill]
        assert kind == FAILED and finished["code"] == code and advice in finished["hint"]
        return
    assert kind == FINISHED, finished
    assert finished["output"]["text"]
    assert finished["output"]["text"] == "".join(payload for kind, payload in found if kind == DELTA)
    router.acknowledge(terminal)


def test_keeps_the_end_until_it_is_acknowledged(worker, router, skill):
    router.registration()
    job = router.dispatch(skill, REQUESTS[skill])
    _, first = router.events(job)
    _, again = router.peer.expect(EVENT, within=10)
    assert again.execution == first.execution and again.sequence == first.sequence and again.body == first.body
    router.acknowledge(again)
    beats = [router.peer.expect(HEARTBEAT, EVENT, within=3, ignore=(CREDIT,)) for _ in range(15)]
    assert not [message for _, message in beats[2:] if message.type == EVENT]


def test_says_what_it_holds_when_it_registers_again(worker, router, skill):
    router.registration()
    job = router.dispatch(skill, REQUESTS[skill])
    _, terminal = router.events(job)
    router.peer.send(Message(ERROR, body={"code": "unregistered", "message": "who are you?"}), to=router.worker)
    _, message = router.peer.expect(REGISTER, ignore=(HEARTBEAT, CREDIT, EVENT))
    held = message.json["held"]
    assert [(entry["job"], entry["generation"], entry["attempt"], entry["state"]) for entry in held] == \
        [(text_id(job), 1, 1, "unacknowledged")]
    assert held[0]["sequence"] == terminal.sequence + terminal.value - 1


def test_refuses_a_skill_that_it_does_not_have(worker, router):
    router.registration()
    job = router.dispatch("juggling", "three balls")
    _, refusal = router.peer.expect(NACK)
    assert refusal.job == job and refusal.json["code"] == "unknown_skill"


def test_refuses_a_body_that_it_cannot_read(worker, router, skill):
    router.registration()
    router.dispatched += 1
    job = job_id(new_id(), 1)
    broken = encode_job(skill, text="x")[:-1] + b"\xff\xff"
    router.peer.send(Message(DISPATCH, broken, job=job, generation=1, attempt=1, sequence=router.dispatched), to=router.worker)
    _, refusal = router.peer.expect(NACK)
    assert refusal.job == job and refusal.json["code"] == "bad_message"


@pytest.mark.parametrize("garbage", [
    [b""], [b"x"], [bytes(48)], [b"SKB1" + bytes(44)], [b"SKB1\x02" + bytes(43)], [b"SKB1\x01\xff" + bytes(42)],
    [b"SKB1\x01" + bytes([DISPATCH]) + struct.pack("<H", BODY_FRAME) + bytes(40)], [b"a"] * 40,
], ids=["empty", "short", "zeros", "no version", "version 2", "type 255", "no body frame", "forty frames"])
def test_survives_garbage(start, router, garbage):
    worker = start("skillbus-worker-calculator", environment=environment(router))
    router.registration()
    router.peer.send_raw([router.worker, *garbage])
    job = router.dispatch("calculator", "1 + 1")
    found, terminal = router.events(job)
    assert found[-1][0] == FINISHED
    router.acknowledge(terminal)
    assert worker.process.poll() is None


def test_ignores_an_older_attempt(worker, router, skill):
    router.registration()
    job = router.dispatch(skill, REQUESTS[skill], generation=2, attempt=3)
    _, terminal = router.events(job)
    router.dispatch(skill, REQUESTS[skill], job=job, generation=2, attempt=2)
    # Whatever comes about this job is of the newer attempt.
    other = router.dispatch(skill, REQUESTS[skill])
    while True:
        _, message = router.peer.expect(EVENT, NACK, within=20, ignore=(HEARTBEAT, CREDIT, ACCEPTED))
        if message.job == other and message.flags & TERMINAL:
            break
        assert message.job == other or message.execution == terminal.execution, message


def test_forgets_a_fenced_attempt(worker, router, skill):
    router.registration()
    job = router.dispatch(skill, REQUESTS[skill])
    _, terminal = router.events(job)
    router.peer.send(Message(FENCED, body=encode_executions(terminal.execution)), to=router.worker)
    beats = [router.peer.expect(HEARTBEAT, EVENT, within=3, ignore=(CREDIT,)) for _ in range(15)]
    assert not [message for _, message in beats[2:] if message.type == EVENT]


def test_a_cancelled_job_ends_once(worker, router, skill):
    router.registration()
    job = router.dispatch(skill, REQUESTS[skill])
    router.peer.send(Message(CANCEL, job=job), to=router.worker)
    found, terminal = router.events(job)
    kind, payload = found[-1]
    assert kind == FINISHED or payload["code"] == "cancelled"
    router.acknowledge(terminal)


def test_drains_on_sigterm(worker, router, skill):
    router.registration()
    router.peer.expect(HEARTBEAT, ignore=(CREDIT,))  # so it has read the welcome
    job = router.dispatch(skill, REQUESTS[skill])
    worker.process.send_signal(signal.SIGTERM)
    # The job was begun before the signal or is refused after it, or crosses with the goodbye and is begun elsewhere. The
    # end of what was begun is acknowledged before the goodbye.
    begun = ended = drained = False
    while True:
        _, message = router.peer.expect(DRAIN, ACCEPTED, EVENT, NACK, GOODBYE, within=20, ignore=(HEARTBEAT, CREDIT))
        if message.type == GOODBYE:
            break
        drained = drained or message.type == DRAIN
        begun = begun or message.type in (ACCEPTED, EVENT)
        if message.type == NACK or message.flags & TERMINAL:
            assert message.job == job
            ended = True
            if message.type == EVENT:
                router.acknowledge(message)
    assert drained and ended >= begun
    assert worker.process.wait(10) == 0


def test_comes_back_to_a_router_that_restarted(start):
    first = Router()
    worker = start("skillbus-worker-calculator", environment=environment(first))
    first.registration()
    first.close()
    second = Router(first.peer.endpoint)
    try:
        second.registration()
        job = second.dispatch("calculator", "2 * 3")
        found, _ = second.events(job)
        assert "6" in found[-1][1]["output"]["text"]
        assert worker.process.poll() is None
    finally:
        second.close()


def test_refused_for_good_it_leaves_with_the_reason(start, router):
    worker = start("skillbus-worker-calculator", environment=environment(router))
    router.worker, _ = router.peer.expect(REGISTER)
    router.peer.send(Message(ERROR, body={"code": "manifest_conflict", "message": "calculator 1.0.0 is another one",
                                          "hint": "raise the version"}), to=router.worker)
    assert worker.process.wait(10) != 0
    assert "calculator 1.0.0 is another one" in worker.output and "raise the version" in worker.output


@pytest.mark.parametrize("arguments", [["--unknown"], ["--concurrency", "0"], ["--concurrency", "many"], ["operand"],
                                       ["--drain", "-1"]])
def test_a_wrong_command_line_is_a_usage_error(start, arguments):
    worker = start("skillbus-worker-calculator", *arguments)
    assert worker.process.wait(10) == 2
    assert arguments[0].lstrip("-") in worker.output
