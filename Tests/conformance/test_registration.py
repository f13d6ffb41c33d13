"""A skill registers while others work: it is routed to at once, better a moment later, and nobody waits for that."""
import contextlib
import threading
import time

from conftest import eventually
from peers import Worker

PLANTS = ["tomato", "basil", "fern", "orchid", "rose", "cactus", "vine", "moss", "palm", "ivy"]
EXAMPLES = [f"{ask} the {plant}" for plant in PLANTS
            for ask in ("water", "is the soil dry around", "repot", "how much sun wants", "cut back")]


@contextlib.contextmanager
def at_work(client, worker):
    """One job after another, each of which is finished at once; yields the seconds that each took."""
    times, over, session = [], threading.Event(), client.session()

    def work():
        with client.follow(session) as stream:
            while not over.is_set():
                begun = time.monotonic()
                request = client.request(session, "more", skill=worker.skill).json["id"]
                job = worker.job()
                worker.start(job)
                worker.finish(job, "done")
                assert stream.until_end(request)[-1][1] == "request.finished"
                times.append(time.monotonic() - begun)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield times
    finally:
        over.set()
        thread.join(30)
        assert not thread.is_alive()


def test_a_new_skill_is_routed_to_at_once_and_holds_up_no_job(own_bus, gateway):
    client = gateway().client
    router = own_bus.program.process.pid
    text = "is the soil dry around my little palm"

    def route():
        return client.call("POST", "/v1/route", {"text": text}).json

    with contextlib.ExitStack() as stack:
        busy = stack.enter_context(Worker(own_bus.backend, "busy", description="Does busy work."))
        others = [f"other-{number}" for number in range(30)]
        for name in others:
            examples = [f"do {verb} for {name} number {count}" for verb in ("this", "that", "more") for count in range(10)]
            stack.enter_context(Worker(own_bus.backend, name, description=f"Does {name}.", examples=examples))
        eventually(lambda: len(client.get("/v1/skills").json["skills"]) == 31)
        assert "greenhouse" not in [step["skill"] for step in route()["steps"]]
        times = stack.enter_context(at_work(client, busy))
        eventually(lambda: len(times) >= 5)
        before = len(times)
        stack.enter_context(Worker(own_bus.backend, "greenhouse", description="The greenhouse.", examples=EXAMPLES))
        eventually(lambda: [step["skill"] for step in route()["steps"]] == ["greenhouse"])
        # Learned as well, in the background.
        eventually(lambda: any("in all" in reason for score in route()["scores"] if score["skill"] == "greenhouse"
                               for reason in score["reasons"]))
        eventually(lambda: len(times) >= before + 5)
        assert max(times) < 2, times
    assert own_bus.program.process.pid == router and own_bus.program.process.poll() is None
