#!/usr/bin/env python3
"""Starts the real programs, kills them at random under load, and checks the promises. Signals only what it started.

  chaos.py [--seconds 60] [--seed N] [--json] [--part NAME]...    parts: storm failover followers reconnect
      overload frames
"""
import argparse
import asyncio
import json
import os
import pathlib
import sys
import tempfile
import time

import failover
import followers
import frames
import overload
import reconnect
import storm
from processes import ROOT

PARTS = ("storm", "failover", "followers", "reconnect", "overload", "frames")


def settings(part, options):
    """How large a part is, by the time that all of them have."""
    share = options.seconds / 60
    if part == "storm":
        return {"seconds": options.storm_seconds or max(20 * share, 5), "seed": options.seed, "jobs": options.jobs,
                "sessions": options.sessions, "routers": options.routers, "gateways": options.gateways}
    if part == "failover":
        return {"rounds": max(round(2 * share), 1)}
    if part == "followers":
        return {"count": options.followers}
    if part == "reconnect":
        return {"count": options.workers}
    if part == "frames":
        return {"count": options.frames, "seed": options.seed}
    return {"seconds": max(round(3 * share), 2)}


def text(value):
    if isinstance(value, float):
        return f"{value:.3f}" if value < 10 else f"{value:.1f}"
    if isinstance(value, dict):
        return ", ".join(f"{name} {count}" for name, count in sorted(value.items())) or "none"
    return str(value)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60, help="time for all parts, about")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this one; may be given several times")
    parser.add_argument("--seed", type=int, default=None, help="of the faults and the jobs; another each time if left out")
    parser.add_argument("--jobs", type=int, help="the storm ends after so many jobs")
    parser.add_argument("--storm-seconds", type=float, help="the storm ends after so many seconds at the latest")
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--routers", type=int, default=1, help="of the storm; the programs must be able to")
    parser.add_argument("--gateways", type=int, default=1, help="of the storm; several share a PostgreSQL of its own")
    parser.add_argument("--followers", type=int, default=2000)
    parser.add_argument("--frames", type=int, default=1_000_000, help="fuzzed frames")
    parser.add_argument("--workers", type=int, default=500, help="workers that reconnect at once")
    parser.add_argument("--quick", action="store_true", help="a minute for all of them: what the tests run")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of tables")
    parser.add_argument("--keep", action="store_true", help="keep the logs and the store also when all went well")
    options = parser.parse_args()
    if options.quick:
        options.seconds, options.followers, options.workers, options.frames = 30, 200, 200, 100_000
        options.part = options.part or [part for part in PARTS if part != "overload"]
    if options.seed is None:
        options.seed = int.from_bytes(os.urandom(3), "big")
    programs = pathlib.Path(os.environ.get("SKILLBUS_BIN") or ROOT / ".build/release")
    if not (programs / "skillbus-router").exists():
        parser.error(f"{programs} has no skillbus-router; SKILLBUS_BIN names another folder")
    results, failed = {"seed": options.seed}, False
    folder = pathlib.Path(tempfile.mkdtemp(prefix="skillbus-chaos-"))
    for part in options.part or PARTS:
        own = folder / part
        own.mkdir()
        begin = time.monotonic()
        try:
            rows, problems = asyncio.run(globals()[part].run(own, programs, **settings(part, options)))
        except (RuntimeError, OSError) as error:
            rows, problems = {}, [str(error)]
        results[part] = {"figures": rows, "problems": problems[:50], "took_s": round(time.monotonic() - begin, 1)}
        failed |= bool(problems)
        if not options.json:
            print(f"\n{part} (seed {options.seed}, {results[part]['took_s']} s): {'FAILED' if problems else 'passed'}")
            for name, value in rows.items():
                print(f"  {name:22} {text(value)}")
            for problem in problems[:20]:
                print(f"  ! {problem}")
            sys.stdout.flush()
    if options.json:
        print(json.dumps(results))
    if failed or options.keep:
        print(f"logs and stores: {folder}", file=sys.stderr)
    else:
        import shutil
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
