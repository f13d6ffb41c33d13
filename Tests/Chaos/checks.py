"""What must hold of the events of a run, whatever died meanwhile. Each check gives sentences of what is wrong."""
import collections
import contextlib
import sqlite3

from client import TERMINAL


def check_session(session, events, accepted, mark):
    """One session, read from its beginning: `accepted` are the requests that a client was told are taken, `mark` is
    what its texts have in them and those of no other session have."""
    wrong = collections.Counter()
    details = []

    def fail(kind, sentence):
        wrong[kind] += 1
        details.append(f"{kind}: session {session}: {sentence}")

    expected = 1
    ends = collections.Counter()
    attempts = {}
    texts = collections.defaultdict(str)
    healed = 0
    for number, event in events:
        if number != expected or event.get("seq") != number:
            fail("order", f"number {number} where {expected} belongs")
        expected = (number or expected) + 1
        request, kind, data = event.get("request"), event["type"], event["data"]
        if event["session"] != session:
            fail("foreign", f"event {number} of session {event['session']}")
        if ends[request] and request:
            fail("order", f"{kind} of request {request} after its end")
        if kind in TERMINAL:
            ends[request] += 1
        if "job" in event:
            job, attempt = event["job"], event.get("attempt", 0)
            # After job.retrying another attempt comes, whose number begins anew under another router (the store tells
            # which is newer: check_fences). What the router ends has no number.
            if attempt < attempts.get(job, 0) and kind not in ("job.retrying", "job.failed"):
                fail("order", f"{kind} of attempt {attempt} after one of {attempts[job]}")
            if kind == "job.retrying" or attempt > attempts.get(job, 0):
                texts[job] = ""
            attempts[job] = 0 if kind == "job.retrying" else attempt
            if kind == "job.delta":
                texts[job] += data["text"]
            # What was lost on the way leaves a gap, after which nothing is shown before the whole output is.
            if kind == "job.finished":
                output = data["output"]["text"]
                if not output.startswith(texts[job]):
                    fail("text", f"the deltas of job {job} are not the beginning of its output")
                healed += bool(texts[job]) and texts[job] != output
        if kind == "request.finished" and mark not in data["output"]["text"]:
            fail("foreign", f"request {request} has an output without {mark}: {data['output']['text'][:80]!r}")
    for request in accepted:
        if ends[request] == 0:
            fail("lost", f"request {request} has no end")
        elif ends[request] > 1:
            fail("duplicate", f"request {request} has {ends[request]} ends")
    for request in set(ends) - set(accepted) - {None}:
        fail("unknown", f"request {request} was never accepted")
    wrong["healed"] = healed
    return wrong, details


def check_fences(store):
    """`store` is a file, or a PostgreSQL of the tests. Nothing of an older generation and attempt of a job is stored after something of a newer one, and nothing twice."""
    newest, problems = {}, []
    for job, generation, attempt, number, kind in job_events(store):
        execution = generation, attempt
        if execution < newest.get(job, (0, 0)):
            problems.append(f"order: {kind} {number} of {execution} of job {job} is stored after one of {newest[job]}")
        newest[job] = max(execution, newest.get(job, (0, 0)))
    return problems


def job_events(store):
    """(job, generation, attempt, number, type) of all events of jobs, in the order of their sessions."""
    if hasattr(store, "query"):
        for line in store.query("SELECT job, generation, attempt, job_seq, type FROM skillbus.events"
                                " WHERE job IS NOT NULL ORDER BY session, seq").splitlines():
            job, generation, attempt, number, kind = line.split("|")
            yield job, int(generation), int(attempt), int(number), kind
        return
    with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
        for job, *rest in connection.execute("SELECT job, generation, attempt, job_seq, type FROM events"
                                             " WHERE job IS NOT NULL ORDER BY session, seq"):
            yield job.hex(), *rest


def check_follower(session, seen, events):
    """A follower saw the beginning of the same sequence, each event once."""
    stored = [(number, event) for number, event in events]
    if seen != stored[:len(seen)]:
        at = next((place for place, (one, other) in enumerate(zip(seen, stored)) if one != other), len(stored))
        return [f"order: session {session}: a follower saw something else at place {at}: "
                f"{str(seen[at:at + 1])[:300]} instead of {str(stored[at:at + 1])[:300]}"]
    if len(seen) != len(stored):
        return [f"lost: session {session}: a follower saw {len(seen)} of {len(stored)} events"]
    return []


def check_ledger(path):
    """No line about the start of a job twice."""
    try:
        lines = path.read_text().split("\n")
    except OSError:
        return 0, []
    starts = collections.Counter(line.split()[1] for line in lines if line.startswith("start "))
    return len(starts), [f"twice: job {key} was started {count} times" for key, count in starts.items() if count > 1]


def percentile(values, share):
    """The value that so large a share of them does not pass; None if there are none."""
    values = sorted(values)
    return values[min(int(len(values) * share), len(values) - 1)] if values else None
