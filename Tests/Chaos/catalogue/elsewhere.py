"""Faults that other programs here make already: parts of chaos.py, and tests from outside that need a bus of their own."""
import os
import re
import subprocess
import sys

import followers
import frames
import reconnect
from processes import ROOT

from .case import Broken, NotTried, fault, require


def outside(programs, test, within=300):
    """Runs a test of Tests/conformance; what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rs", "-s", "-p", "no:cacheprovider", "Tests/conformance", "-k", test],
        cwd=ROOT, env=os.environ | {"SKILLBUS_BIN": str(programs)}, capture_output=True, text=True, timeout=within)
    if re.search(r"^\d+ skipped", done.stdout, re.MULTILINE):
        raise NotTried(re.findall(r"SKIPPED.*?: (.*)", done.stdout)[-1])
    require(done.returncode == 0, done.stdout[-500:])
    return done.stdout


def first(problems):
    if problems:
        raise Broken("; ".join(problems[:3]))


@fault(12, "PostgreSQL is stopped for 20 s, killed, and started again; two gateways")
async def database_away(folder, programs):
    said = outside(programs, "test_the_database_goes_away_and_comes_back")
    seconds = re.search(r"3 passed.* in ([\d.]+)s", said)
    require(seconds, said[-300:])
    return f"each time 503 with Retry-After, what ran went on and ended once, both healed by themselves ({seconds[1]} s for all three)"


@fault(22, "a router's name moves to another address")
async def name_moves(folder, programs):
    took = re.search(r"at its new address after ([\d.]+) s", outside(programs, "test_a_name_of_two_addresses"))
    return f"the worker was there after {took[1]} s"


@fault(26, "100,000 broken messages, broken ZMTP and broken HTTP")
async def broken_messages(folder, programs):
    rows, problems = await frames.run(folder, programs, count=100_000)
    first(problems)
    return (f"{rows['frames']} frames, {rows['broken_zmtp']} ZMTP and {rows['broken_http']} HTTP connections; "
            f"{rows['real_jobs']} real jobs meanwhile, the slowest {rows['slowest_real_job_s']:.2f} s")


@fault(33, "100 of 1,000 followers read nothing")
async def slow_followers(folder, programs):
    rows, problems = await followers.run(folder, programs, count=1000, share=0.1)
    first(problems)
    return (f"p99 of the others {rows['p99_of_the_others_s']:.2f} s, {rows['p99_none_stalled_s']:.2f} s without them; "
            f"the gateway has {rows['gateway_MiB']:.0f} MiB")


@fault(42, "500 workers come back at once, after their router was killed")
async def all_come_back(folder, programs):
    rows, problems = await reconnect.run(folder, programs, count=500)
    first(problems)
    return f"all routable again after {rows['routable_s']:.2f} s"
