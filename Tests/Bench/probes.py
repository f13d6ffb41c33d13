"""Figures of single processes: memory, start-up, wake-ups, sizes, the codec."""
import json
import os
import re
import shutil
import statistics
import subprocess
import time

from gateway import gateway_command
from systems import (BenchError, Processes, ROOT, SWIFT, free_port, router_command, wait_for_port,
                     worker_environment)


def status_of(pid, field):
    with open(f"/proc/{pid}/status") as status:
        return int(re.search(rf"^{field}:\s+(\d+)", status.read(), re.M).group(1))


def wakeups_of(pid):
    """Times that a thread of the process went to sleep by itself, which is once for each time that it was woken."""
    return sum(status_of(f"{pid}/task/{task}", "voluntary_ctxt_switches") for task in os.listdir(f"/proc/{pid}/task"))


def codec_nanoseconds(programs):
    output = subprocess.run([programs.product("BenchCodec")], capture_output=True, text=True, timeout=60).stdout
    figures = json.loads(output)
    both = (figures["encode_ns"] + figures["decode_ns"]) / 1000
    return both, f"{figures['encode_ns']:.0f} + {figures['decode_ns']:.0f} ns"


def static_router(programs):
    """The router as it ships, stripped."""
    binary = programs.product("skillbus-router")
    stripped = os.path.join(programs.folder, "skillbus-router")
    shutil.copyfile(binary, stripped)
    os.chmod(stripped, 0o755)
    subprocess.run(["strip", stripped], check=True)
    return stripped, binary


def idle_router(programs, seconds):
    stripped, binary = static_router(programs)
    starts = []
    with Processes(programs.folder) as processes:
        for number in range(7):
            front, back = free_port(), free_port()
            before = time.monotonic()
            router = processes.start("idle-router", [stripped] + router_command(programs, front, back)[1:])
            wait_for_port(front, router)
            starts.append((time.monotonic() - before) * 1000)
            if number < 6:
                router.kill()
                router.wait()
        time.sleep(1)
        before = wakeups_of(router.pid)
        time.sleep(seconds)
        wakeups = (wakeups_of(router.pid) - before) / seconds
        anonymous = status_of(router.pid, "RssAnon") / 1024
        sizes = [os.path.getsize(path) / 1e6 for path in (stripped, binary)]
        return {
            "size": (sizes[0], f"stripped; {sizes[1]:.1f} with symbols"),
            "memory": (status_of(router.pid, "VmRSS") / 1024, f"{anonymous:.1f} MB of it its own"),
            "wakeups": (wakeups, f"over {seconds} s, no peers"),
            "start": (statistics.median(starts), f"{min(starts):.1f} to {max(starts):.1f}, n={len(starts)}"),
        }


def idle_worker(programs):
    worker = programs.product("skillbus-worker-keywords")
    with Processes(programs.folder) as processes:
        front, back = free_port(), free_port()
        wait_for_port(back, processes.start("router", router_command(programs, front, back)))
        child = processes.start("worker", [worker], worker_environment(front, back))
        time.sleep(1.5)
        if child.poll() is not None:
            raise BenchError(processes.log_of("worker"))
        return status_of(child.pid, "VmRSS") / 1024, "keywords, registered"


def start_up(programs):
    """One probe for each service: from exec to the moment at which it can serve."""
    def median(once):
        times = sorted(once() for _ in range(5))
        return statistics.median(times), f"{times[0]:.1f} to {times[-1]:.1f}, n={len(times)}"

    def gateway():
        with Processes(programs.folder) as processes:
            front, back, http = free_port(), free_port(), free_port()
            wait_for_port(back, processes.start("router", router_command(programs, front, back)))
            before = time.monotonic()
            state = os.path.join(programs.folder, f"state-{http}")
            child = processes.start("gateway", gateway_command(programs, front, http, state))
            wait_for_port(http, child)
            return (time.monotonic() - before) * 1000

    def command():
        before = time.monotonic()
        subprocess.run([programs.product("skillbus"), "--version"], capture_output=True, timeout=10)
        return (time.monotonic() - before) * 1000

    return [("gateway, to listening", lambda: median(gateway)), ("skillbus --version", lambda: median(command))]

