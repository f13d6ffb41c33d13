"""Many at once: a heavy session beside a light one, refusals, followers that do not read, jobs that end their worker."""
import contextlib
import pathlib
import socket
import statistics
import threading
import time

from conftest import eventually
from peers import Worker
from wire import DELTA, FINISHED, STARTED


def test_a_heavy_session_delays_a_light_one_by_one_job(own_bus, gateway):
    client = gateway().client
    with Worker(own_bus.backend, "queue") as worker:
        heavy, light = client.session(), client.session()
        for number in range(45):
            assert client.request(heavy, f"heavy {number}", skill="queue").status == 202
        first = worker.job()
        assert client.request(light, "light", skill="queue").status == 202
        # The light one's job is in the router's queue when the skill is seen to have so many waiting.
        eventually(lambda: next(skill for skill in client.get("/v1/skills").json["skills"]
                                if skill["id"] == "queue")["queued"] == 45)
        order, job = [], first
        for _ in range(46):
            order.append(job.input["text"])
            worker.start(job)
            worker.finish(job, "done")
            if len(order) < 46:
                job = worker.job()
        assert "light" in order[1:3], order
        assert [text for text in order if text != "light"] == [f"heavy {number}" for number in range(45)]


def test_what_is_too_much_is_refused_quickly_with_a_hint(own_bus, gateway):
    client = gateway().client
    with Worker(own_bus.backend, "slow"):
        sessions = [client.session() for _ in range(4)]
        for session in sessions:
            for _ in range(50):
                assert client.request(session, "wait", skill="slow").status == 202
        times = []
        for number in range(100):
            begun = time.monotonic()
            answer = client.request(sessions[number % 4], "more", skill="slow")
            times.append(time.monotonic() - begun)
            assert answer.status == 429 and int(answer.headers["Retry-After"]) >= 1
            assert answer.json["code"] == "too_many_requests"
        # Others share the processors with this test: the median says what a refusal takes.
        assert statistics.median(times) < 0.010 and max(times) < 1, (statistics.median(times), max(times))


def resident(process):
    """Resident memory of a process in megabytes."""
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


def test_a_follower_that_does_not_read_costs_no_memory_and_gets_everything_later(own_bus, gateway):
    running = gateway()
    client = running.client
    piece, rounds = "x" * 250_000, 50
    with Worker(own_bus.backend, "flood") as worker:
        session = client.session()

        def run(rounds):
            """So many megabytes of events, with never more than a few on their way."""
            request = client.request(session, "much", skill="flood", timeout=300).json["id"]
            job = worker.job()
            worker.say(job, 1, (STARTED, {"worker": worker.name, "engine": "offline"}))
            base = client.get("/v1/sessions?limit=1").json["sessions"][0]["seq"]
            for number in range(rounds):
                worker.say(job, 2 + 4 * number, *[(DELTA, piece)] * 4)
                eventually(lambda: client.get("/v1/sessions?limit=1").json["sessions"][0]["seq"] >= base + 4 * (number - 4))
            worker.say(job, 2 + 4 * rounds, (FINISHED, {
                "output": {"text": "much", "parts": []}, "engine": "offline", "cached": False, "milliseconds": 1}))
            eventually(lambda: client.get(f"/v1/sessions/{session}").json["running"] == [])
            return request

        # What the gateway takes for its work is there after a first round.
        run(20)
        before = resident(running.program.process)
        host, port = client.host.split(":")
        stalled = socket.create_connection((host, int(port)))
        stalled.sendall(f"GET /v1/sessions/{session}/events HTTP/1.1\r\nHost: {client.host}\r\n\r\n".encode())
        for _ in range(4):
            run(rounds)
        after = resident(running.program.process)
        assert after - before < 24, (before, after)
        # Another one is served meanwhile, and the first gets all of it when it reads on.
        last = client.get(f"/v1/sessions/{session}").json["seq"]
        stalled.settimeout(60)
        seen, rest, total = [], b"", 0
        while not seen or seen[-1] < last:
            part = stalled.recv(1 << 20)
            assert part, "the stream ended"
            total += len(part)
            lines = (rest + part).split(b"\n")
            rest = lines.pop()
            seen += [int(line[3:]) for line in lines if line.startswith(b"id:")]
        stalled.close()
        assert seen == list(range(1, last + 1)) and total > 200_000_000
    running.sound()


def test_a_job_that_ends_its_workers_is_given_up_and_its_neighbours_are_not(own_bus, gateway):
    client = gateway().client
    ended = threading.Event()

    def work():
        """Workers of four slots, one after the other: what says poison ends them without a word."""
        worker = Worker(own_bus.backend, "poison", concurrency=4)
        while not ended.is_set():
            jobs = []
            with contextlib.suppress(AssertionError):
                while True:
                    jobs.append(worker.job(within=0.3))
                    worker.start(jobs[-1])
            if any(job.input["text"] == "poison" for job in jobs):
                worker.close()
                worker = Worker(own_bus.backend, "poison", concurrency=4)
                continue
            for job in jobs:
                worker.finish(job, "well")
        worker.close()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        sessions = {text: client.session() for text in ["poison"] + [f"good {number}" for number in range(7)]}
        requests = {text: client.request(session, text, skill="poison").json["id"] for text, session in sessions.items()}
        ends = {}
        for text, session in sessions.items():
            with client.follow(session) as stream:
                ends[text] = stream.until_end(requests[text], within=60)
        error = ends.pop("poison")[-1][2]["data"]["error"]
        assert error["code"] == "dead_lettered" and "3 attempts" in error["message"] and error["hint"]
        for text, events in ends.items():
            assert events[-1][1] == "request.finished", (text, events[-1])
            # In the same worker as the poison at most twice.
            assert [type for _, type, _ in events].count("job.retrying") <= 2, text
    finally:
        ended.set()
        thread.join(20)
