#!/usr/bin/env python3
"""The fault catalogue: each fault is made for real, and what came of it is measured.

  faults.py [--only N,N] [--markdown]

Prints one line a fault: its number, the fault, what was measured, and whether that is what is promised. With --markdown
it is the table of docs/reliability.md.
"""
import argparse
import asyncio
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from catalogue import FAULTS, Broken, NotTried
from client import Refused
from processes import ROOT


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="numbers with commas between")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    programs = pathlib.Path(os.environ.get("SKILLBUS_BIN") or ROOT / ".build/release")
    wanted = {int(number) for number in options.only.split(",")} if options.only else None
    top = pathlib.Path(tempfile.mkdtemp(prefix="skillbus-faults-"))
    failed = False
    if options.markdown:
        print("| # | fault | measured | |\n|---|---|---|---|", flush=True)
    for number, text, function in sorted(FAULTS, key=lambda one: one[0]):
        if wanted and number not in wanted:
            continue
        folder = top / f"{number}-{function.__name__}"
        folder.mkdir()
        try:
            outcome, verdict = asyncio.run(function(folder, programs)), "ok"
        except NotTried as reason:
            outcome, verdict = f"not tried: {reason}", "-"
        except (Broken, OSError, RuntimeError, Refused, asyncio.TimeoutError, subprocess.TimeoutExpired) as error:
            outcome, verdict, failed = f"{error}", "**no**", True
        print(f"| {number} | {text} | {outcome} | {verdict} |" if options.markdown
              else f"{verdict.strip('*'):3} {number:3} {text}\n        {outcome}", flush=True)
    if failed:
        print(f"logs: {top}", file=sys.stderr)
    else:
        shutil.rmtree(top, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
