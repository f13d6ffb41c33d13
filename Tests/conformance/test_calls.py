"""Calls of a skill by a skill: what goes along with one, and what of its end is the caller's too."""
import pytest

from conftest import eventually
from peers import Gateway, Worker
from wire import DELTA, FINISHED, SUBMIT, Message, encode_job, job_id, new_id, text_id

FILES = [("scale.bin", bytes(range(256)) * 300), ("empty.txt", b"")]
HISTORY = [{"role": "user", "text": "is it heavy?"}]


@pytest.fixture
def agent(start, own_bus):
    """The agent without a model, which calls what the router plans."""
    worker = start("skillbus-worker-agent", "--routers", own_bus.backend)
    eventually(lambda: "ready " in worker.output)
    return worker


def submit(gateway, text):
    request = new_id()
    described = [{"name": name, "mediaType": "application/octet-stream", "bytes": len(data)} for name, data in FILES]
    gateway.send(Message(SUBMIT, job=request, generation=1, attachments=[data for _, data in FILES], body=encode_job(
        "agent", session=text_id(new_id()), text=text, history=HISTORY, summary="They spoke of parcels.",
        attachments=described)))
    return request


@pytest.mark.parametrize("provisional", [True, False])
def test_a_call_takes_along_what_came_and_brings_back_whether_it_may_be_used_again(agent, own_bus, provisional):
    with Worker(own_bus.backend, "weigh", description="Weigh a parcel.", examples=["weigh the parcel"]) as worker, \
            Gateway(own_bus.frontend) as gateway:
        request = submit(gateway, "weigh the parcel")
        job = worker.job()
        assert job.skill == "weigh" and job.input["text"] == "weigh the parcel"
        assert job.attachments == [data for _, data in FILES]
        assert [(file["name"], file["bytes"]) for file in job.input["attachments"]] == [
            (name, len(data)) for name, data in FILES]
        assert job.input["history"] == HISTORY and job.input["summary"] == "They spoke of parcels."
        worker.start(job)
        worker.say(job, 2, (DELTA, "two pounds"), (FINISHED, {
            "output": {"text": "two pounds", "parts": []}, "engine": "offline", "cached": False, "milliseconds": 1}
            | ({"provisional": True} if provisional else {})))
        records, _ = gateway.end(job_id(request, 1))
        end = records[-1][1]
        assert end["output"]["text"] == "two pounds" and end.get("provisional", False) is provisional
