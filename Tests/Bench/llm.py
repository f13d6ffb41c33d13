#!/usr/bin/env python3
"""What an answer of a model costs on its way from the endpoint: memory and processor of the client alone, and the time
until a person sees it. Each figure has a limit; see README.md beside this file.

The endpoint is Tests/LLM/fake_llm.py, a process of its own.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

from systems import RELEASE_FLAGS, ROOT, SWIFT, BenchError, Processes, read_line, wait_for_file

PRODUCTS = ["BenchLLM", "skillbus", "skillbus-router", "skillbus-gateway", "skillbus-worker-chat"]
RELEASE = os.path.join(ROOT, ".build", "release")
FAKE = os.path.join(ROOT, "Tests", "LLM", "fake_llm.py")
# At 500 streams with a piece every quarter of a second 2,000 pieces come in a second.
STREAMS, PAUSE_MS, PIECES = 500, 250, 40
CLOCK_MS = 40


def build():
    for product in PRODUCTS:
        print(f"  building {product}", file=sys.stderr, flush=True)
        done = subprocess.run([SWIFT, "build", *RELEASE_FLAGS, "--package-path", ROOT, "--product", product],
                              capture_output=True, text=True)
        if done.returncode:
            raise BenchError(f"{product} does not build:\n{(done.stdout + done.stderr)[-3000:]}")


class Endpoint:
    def __init__(self, processes, folder):
        port_file = os.path.join(folder, "port")
        self.process = processes.start("endpoint", [
            sys.executable, FAKE, "--port", "0", "--port-file", port_file, "--max-threads", str(2 * STREAMS), "--life", "300"])
        if not wait_for_file(port_file, self.process, 20):
            raise BenchError(f"the endpoint did not start: {processes.log_of('endpoint')}")
        with open(port_file) as port:
            self.origin = f"http://127.0.0.1:{int(port.read())}"
        self.url = self.origin + "/v1"

    def at_most(self):
        """How many connections there were at a time."""
        with urllib.request.urlopen(self.origin + "/__fake/stats", timeout=10) as answer:
            return json.load(answer)["peak_active"]


def client(processes, endpoint, streams, model):
    """What the client says of itself after so many streams at a time."""
    child = processes.start("client", [
        os.path.join(RELEASE, "BenchLLM"), "--url", endpoint.url, "--model", model, "--streams", str(streams)],
        output=subprocess.PIPE)
    line = read_line(child, 120)
    if not line:
        raise BenchError(f"the client said nothing. {processes.log_of('client')}")
    return json.loads(line)


class System:
    """Router, gateway and chat, as `skillbus up` starts them."""

    def __init__(self, processes, folder, endpoint):
        ready = os.path.join(folder, "ready.json")
        environment = {"SKILLBUS_LLM_URL": endpoint.url, "SKILLBUS_LLM_MODEL": f"fake/clock?n=20&ms={CLOCK_MS}"}
        self.process = processes.start("up", [
            os.path.join(RELEASE, "skillbus"), "up", "--skills", "chat", "--http", "127.0.0.1:0", "--state",
            os.path.join(folder, "state"), "--ready-file", ready], environment)
        if not wait_for_file(ready, self.process, 30):
            raise BenchError(f"skillbus up did not become ready: {processes.log_of('up')}")
        with open(ready) as file:
            self.url = json.load(file)["url"]

    def stop(self):
        """Its children end with it if it ends in order."""
        self.process.terminate()
        self.process.wait(30)


def asked(processes, system, number):
    """Milliseconds from the sending of each piece by the endpoint to its line at the terminal's end; the first is first."""
    child = processes.start(
        f"ask-{number}", [os.path.join(RELEASE, "skillbus"), "ask", "--json", "--skill", "chat", "What time is it?"],
        {"SKILLBUS_URL": system.url}, output=subprocess.PIPE)
    times = []
    for line in child.stdout:
        now = time.monotonic_ns()
        event = json.loads(line)
        if event["type"] == "job.delta":
            # Pieces that came together have the time of the one that waited longest.
            times.append((now - int(event["data"]["text"].split()[0])) / 1e6)
    if child.wait(10) or not times:
        raise BenchError(f"no answer. {processes.log_of(f'ask-{number}')}")
    return times


def rest(times, share):
    return sorted(times)[min(int(len(times) * share), len(times) - 1)]


def measure(folder, asks, log):
    figures = []

    def add(measure, value, unit, limit, detail):
        figures.append({"measure": measure, "value": value, "unit": unit, "limit": limit,
                        "holds": limit is None or value <= limit, "detail": detail})

    with Processes(folder) as processes:
        endpoint = Endpoint(processes, folder)
        print(f"  {STREAMS} streams", file=log, flush=True)
        many = client(processes, endpoint, STREAMS, f"fake/clock?n={PIECES}&ms={PAUSE_MS}")
        at_most = endpoint.at_most()
        if at_most < STREAMS:
            raise BenchError(f"only {at_most} of {STREAMS} streams ran at a time")
        add(f"client, {STREAMS} streams at a time: memory", many["peak_MB"], "MB", 120,
            f"peak; {many['start_MB']:.1f} MB before the first")
        rate = many["chunks"] / many["seconds"]
        add(f"client, {STREAMS} streams at a time: CPU a piece", many["cpu_us_chunk"], "us", 50,
            f"at {rate:,.0f} pieces/s {many['cpu_us_chunk'] * rate / 1e4:.1f} % of a core; with the connections "
            f"{many['whole_us_chunk']:.1f} us")
        print("  20 streams, as fast as they come", file=log, flush=True)
        fast = client(processes, endpoint, 20, "fake/clock?n=1500")
        add("client, 20 streams without a pause: CPU a piece", fast["cpu_us_chunk"], "us", 50,
            f"{fast['chunks'] / fast['seconds']:,.0f} pieces/s, which is what the endpoint makes")
        print("  endpoint to command line", file=log, flush=True)
        system = System(processes, folder, endpoint)
        try:
            asked(processes, system, "warm")
            runs = [asked(processes, system, number) for number in range(asks)]
        finally:
            system.stop()
        first = [times[0] for times in runs]
        later = [each for times in runs for each in times[1:]]
        add("endpoint to command line: first piece", statistics.median(first), "ms", 12,
            f"p50; p90 {rest(first, 0.9):.1f}, {min(first):.1f} to {max(first):.1f}, n={len(first)}")
        add("endpoint to command line: later pieces", statistics.median(later), "ms", None,
            f"p50; p90 {rest(later, 0.9):.1f}, p99 {rest(later, 0.99):.1f}, one every {CLOCK_MS} ms, n={len(later)}")
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--asks", type=int, default=15, help="requests for the time to the first piece (default 15)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a limit is missed")
    parser.add_argument("--no-build", action="store_true", help="use the programs that are there")
    options = parser.parse_args()
    try:
        if not options.no_build:
            build()
        # Not /tmp, which may lie in memory: what the gateway stores before it shows it is part of what is measured.
        with tempfile.TemporaryDirectory(prefix="bench-", dir=os.path.join(ROOT, ".build")) as folder:
            before = os.getloadavg()[0]
            figures = measure(folder, options.asks, sys.stderr)
    except BenchError as error:
        sys.exit(f"bench-llm: {error}")
    load = {"before": before, "after": os.getloadavg()[0]}
    if options.json:
        print(json.dumps({"figures": figures, "load": load}))
    else:
        for each in figures:
            limit = "" if each["limit"] is None else f"<= {each['limit']:g}"
            verdict = "" if each["limit"] is None else "ok" if each["holds"] else "MISSED"
            value = f"{each['value']:,.2f} {each['unit']}"
            print(f"{each['measure']:<52} {value:>12}  {limit:<7} {verdict:<7} {each['detail']}")
        print(f"load {before:.1f} before, {load['after']:.1f} after, on {os.cpu_count()} processors")
    if options.check and not all(each["holds"] for each in figures):
        sys.exit(1)


if __name__ == "__main__":
    main()
