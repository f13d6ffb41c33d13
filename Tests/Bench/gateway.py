"""The whole gateway: HTTP in, store with fsync, bus, server-sent events out."""
import json
import os
import select
import statistics
import subprocess
import time

from systems import (BenchError, HERE, Processes, free_port, measure, read_line, router_command, wait_for_port,
                     worker_environment)

CLIENTS = 64


def gateway_command(programs, front, http, state):
    return [programs.product("skillbus-gateway"), "--routers", f"127.0.0.1:{front}", "--http", f"127.0.0.1:{http}",
            "--state", state]


class Running:
    """Router, two workers and gateway."""

    def __init__(self, programs, processes, name):
        self.front, self.back, self.http = free_port(), free_port(), free_port()
        state = os.path.join(programs.folder, f"state-{name}")
        self.children = [processes.start("router", router_command(programs, self.front, self.back))]
        wait_for_port(self.back, self.children[0])
        for number in range(2):
            self.children.append(processes.start(
                f"worker-{number}", [programs.product("BenchWorker")], worker_environment(self.front, self.back)))
        self.children.append(processes.start("gateway", gateway_command(programs, self.front, self.http, state)))
        wait_for_port(self.http, self.children[-1])
        self.pids = ",".join(str(child.pid) for child in self.children)


def load(programs, clients, seconds, name):
    program = os.path.join(programs.folder, "http_load")
    if not os.path.exists(program):
        subprocess.run(["cc", "-O2", "-Wall", "-o", program, os.path.join(HERE, "http_load.c"), "-lpthread"], check=True)
    with Processes(programs.folder) as processes:
        running = Running(programs, processes, name)
        time.sleep(0.5)  # the workers register; a request before that would only wait
        child = processes.start("http_load", [
            program, "--port", str(running.http), "--clients", str(clients), "--seconds", str(seconds),
            "--pids", running.pids], output=subprocess.PIPE)
        line = read_line(child, seconds + 40)
        if not line:
            logs = "; ".join(f"{name}: {processes.log_of(name)}" for name in ("http_load", "gateway", "router"))
            raise BenchError(f"no result. {logs}")
        return json.loads(line)


def store_limit(programs, seconds, name):
    with Processes(programs.folder) as processes:
        child = processes.start("store", [
            programs.product("BenchStore"), "--folder", os.path.join(programs.folder, f"store-{name}"),
            "--clients", str(CLIENTS), "--seconds", str(seconds)], output=subprocess.PIPE)
        line = read_line(child, seconds + 20)
        if not line:
            raise BenchError(f"no result. {processes.log_of('store')}")
        return json.loads(line)["requests_s"]


def gateway_figures(programs, rounds, seconds, figure, log):
    shares, rates, limits, firsts, wholes, cpu, troubles = [], [], [], [], [], [], []
    for number in range(rounds):
        try:
            limit = store_limit(programs, seconds, number)
            many = load(programs, CLIENTS, seconds, f"many-{number}")
            one = load(programs, 1, seconds, f"one-{number}")
            bus = measure(programs, "one", True, True, seconds)
        except (BenchError, OSError) as error:
            print(f"  whole gateway: {error}", file=log, flush=True)
            troubles.append(str(error))
            continue
        limits.append(limit)
        rates.append(many["requests_s"])
        shares.append(many["requests_s"] / limit)
        cpu.append(many["cpu_us_request"])
        firsts.append((one["first_p50_us"] - bus["p50_us"]) / 1000)
        wholes.append(one["p50_us"] / 1000)
    if not shares:
        detail = (troubles or ["no run"])[0].splitlines()[0]
        return [figure(6, "whole gateway: requests/s against the store alone", None, "x", "more", 0.3, 0.6, detail),
                figure(6, "whole gateway: first job event, over the bus's p50", None, "ms", "less", 12, 6, detail)]
    middle = statistics.median
    return [
        figure(6, "whole gateway: requests/s against the store alone", middle(shares), "x", "more", 0.3, 0.6,
               f"{middle(rates):,.0f} against {middle(limits):,.0f} requests/s, {CLIENTS} clients; "
               f"{middle(cpu):,.0f} us CPU a request; n={len(shares)}"),
        figure(6, "whole gateway: first job event, over the bus's p50", middle(firsts), "ms", "less", 12, 6,
               f"one client; whole request {middle(wholes):.2f} ms; n={len(firsts)}"),
    ]


def command_line(programs):
    """From starting `skillbus ask` to the first byte of the answer, with the gateway running."""
    times = []
    with Processes(programs.folder) as processes:
        running = Running(programs, processes, "cli")
        time.sleep(0.5)
        for _ in range(5):
            before = time.monotonic()
            child = processes.start(
                "ask", [programs.product("skillbus"), "ask", "--json", "--skill", "bench", "How long does it take?"],
                {"SKILLBUS_URL": f"http://127.0.0.1:{running.http}"}, output=subprocess.PIPE)
            ready, _, _ = select.select([child.stdout], [], [], 10)
            line = child.stdout.readline() if ready else ""
            times.append((time.monotonic() - before) * 1000)
            if not line:
                raise BenchError(f"no answer. {processes.log_of('ask')}")
            child.wait(10)
    return statistics.median(times), f"with the program's start; {min(times):.1f} to {max(times):.1f}, n={len(times)}"
