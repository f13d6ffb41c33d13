#!/usr/bin/env python3
"""Measures Skillbus against a C floor of the same topology. See README.md beside this file.

Every figure is a ratio: the systems run one after the other within a round, in another order each round, and what is
shown is the median over the rounds of (this system / the floor in the same round).
"""
import argparse
import json
import os
import random
import statistics
import sys
import tempfile

from gateway import command_line, gateway_figures
from probes import codec_nanoseconds, idle_router, idle_worker, start_up
from systems import CASES, ROOT, BenchError, Programs, measure

FLOOR, ROUTER, BUS = "C floor", "Swift router in the floor", "all Swift"

# row, what, case, system, key, better, gate, goal
RATIOS = [
    (1, "single in flight p50", "one", ROUTER, "p50_us", "less", 1.15, 1.0),
    (1, "single in flight p99", "one", ROUTER, "p99_us", "less", 1.5, 1.2),
    (2, "router's CPU a job, 64 in flight", "w2-64", ROUTER, "cpu_router_us_job", "less", 1.5, 1.1),
    (3, "jobs/s, 64 in flight", "w2-64", ROUTER, "jobs_s", "more", 0.85, 1.0),
    (3, "jobs/s, 1024 in flight", "w2-1024", ROUTER, "jobs_s", "more", 0.85, 1.0),
    (4, "single in flight p50", "one", BUS, "p50_us", "less", 1.3, 1.1),
    (4, "jobs/s, 64 in flight", "w2-64", BUS, "jobs_s", "more", 0.7, 0.9),
    (4, "CPU a job, all processes, 64 in flight", "w2-64", BUS, "cpu_us_job", "less", 1.5, 1.15),
    (5, "deltas/s, 100 a job", "deltas", BUS, "deltas_s", "more", 1.0, 2.5),
    (7, "1 MiB payload, MB/s", "large", ROUTER, "MB_s", "more", 0.8, 1.0),
]


def collect(programs, rows, rounds, seconds, log):
    """Results by (case, system), one for each round; None where a run failed."""
    wanted = {}
    for row in RATIOS:
        if row[0] in rows:
            wanted.setdefault(row[2], set()).update((FLOOR, row[3]))
    results = {}
    for number in range(rounds if wanted else 0):
        for case in [case for case in CASES if case in wanted]:
            systems = sorted(wanted[case])
            random.Random(number).shuffle(systems)
            for system in systems:
                try:
                    result = measure(programs, case, system != FLOOR, system == BUS, seconds)
                except BenchError as error:
                    print(f"  {system}, {case}: {error}", file=log, flush=True)
                    result = None
                results.setdefault((case, system), []).append(result)
        print(f"  round {number + 1} of {rounds} done, load {os.getloadavg()[0]:.1f}", file=log, flush=True)
    return results


def figure(row, what, value, unit, better=None, gate=None, goal=None, detail=""):
    holds = None
    if gate is not None:
        holds = value is not None and (value <= gate if better == "less" else value >= gate)
    reaches = goal is not None and value is not None and (value <= goal if better == "less" else value >= goal)
    return {"row": row, "measure": what, "value": value, "unit": unit, "better": better, "gate": gate, "goal": goal,
            "holds": holds, "goal_reached": reaches, "detail": detail}


def ratios(results, rows):
    figures = []
    for row, what, case, system, key, better, gate, goal in RATIOS:
        if row not in rows:
            continue
        pairs = [(mine[key], floor[key]) for mine, floor in zip(results[case, system], results[case, FLOOR])
                 if mine and floor and floor[key]]
        value, detail = None, "no run succeeded"
        if pairs:
            each = sorted(mine / floor for mine, floor in pairs)
            value = statistics.median(each)
            middle = [statistics.median(side) for side in zip(*pairs)]
            detail = f"{middle[0]:,.1f} against {middle[1]:,.1f}; {each[0]:.2f} to {each[-1]:.2f}, n={len(each)}"
        figures.append(figure(row, f"{system}: {what}", value, "x", better, gate, goal, detail))
    return figures


def single_figures(programs, rows, rounds, seconds, log):
    """What needs no floor."""
    figures = []

    def add(row, what, unit, better, gate, goal, probe):
        try:
            value, detail = probe()
        except (BenchError, OSError) as error:
            value, detail = None, str(error)
        figures.append(figure(row, what, value, unit, better, gate, goal, detail))

    if 6 in rows:
        print("  whole gateway", file=log, flush=True)
        figures.extend(gateway_figures(programs, rounds, seconds, figure, log))
    if 8 in rows:
        add(8, "encode + decode of one event", "us", "less", 2, 0.8, lambda: codec_nanoseconds(programs))
    if 10 in rows:
        print("  idle processes", file=log, flush=True)
        idle = {}

        def of_router(key):
            if not idle:
                idle.update(idle_router(programs, 4))
            return idle[key]
        add(10, "idle router: memory", "MB", "less", 16, 11, lambda: of_router("memory"))
        add(10, "idle router: wake-ups", "/s", "less", 5, 2, lambda: of_router("wakeups"))
        add(10, "idle router: start to listening", "ms", "less", 50, 10, lambda: of_router("start"))
        add(10, "router: static binary", "MB", "less", 25, 14, lambda: of_router("size"))
        add(10, "idle worker: memory", "MB", "less", 40, None, lambda: idle_worker(programs))
        for what, probe in start_up(programs):
            add(10, f"{what}: start-up", "ms", "less", 150, None, probe)
        add(10, "skillbus: first streamed byte after the request", "ms", "less", 100, None,
            lambda: command_line(programs))
    return figures


def show(figures, notes):
    shown = 0
    for each in figures:
        if each["row"] != shown:
            shown = each["row"]
            print()
        value = "-" if each["value"] is None else f"{each['value']:,.2f} {each['unit']}"
        sign = {"less": "<=", "more": ">="}.get(each["better"], "")
        gate = "" if each["gate"] is None else f"{sign} {each['gate']:g}"
        goal = "" if each["goal"] is None else f"goal {each['goal']:g}"
        verdict = {True: "pass", False: "FAIL", None: ""}[each["holds"]]
        if each["goal_reached"]:
            verdict += ", goal"
        print(f"{each['row']:3}  {each['measure']:<58} {value:>14}  {gate:<8} {goal:<9} {verdict:<11} {each['detail']}")
    print()
    for note in notes:
        print(note)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5, help="rounds of the ratios (default 5)")
    parser.add_argument("--seconds", type=float, default=1.0, help="measured seconds of each run (default 1)")
    parser.add_argument("--rows", default="1,2,3,4,5,6,7,8,10", help="which rows of the table (default all)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a gate does not hold")
    parser.add_argument("--no-build", action="store_true", help="use the programs that are there")
    options = parser.parse_args()
    rows = {int(row) for row in options.rows.split(",")}
    log = sys.stderr
    # Not /tmp, which may lie in memory: the store's fsync is part of what is measured.
    os.makedirs(os.path.join(ROOT, ".build"), exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="bench-", dir=os.path.join(ROOT, ".build")) as folder:
        try:
            programs = Programs(folder, rows, build=not options.no_build, log=log)
        except BenchError as error:
            sys.exit(f"bench: {error}")
        results = collect(programs, rows, options.rounds, options.seconds, log)
        figures = ratios(results, rows) + single_figures(programs, rows, options.rounds, options.seconds, log)
    figures.sort(key=lambda each: each["row"])
    notes = ["Row 9 (10,000 open sessions) is not measured."]
    if options.json:
        print(json.dumps({"figures": figures, "rounds": options.rounds, "seconds": options.seconds,
                          "load": os.getloadavg()[0], "notes": notes}))
    else:
        show(figures, notes)
    if options.check and any(each["holds"] is False for each in figures):
        sys.exit(1)


if __name__ == "__main__":
    main()
