"""The programs under test, and one run of one system in one case."""
import collections
import ctypes
import json
import os
import select
import signal
import socket
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SWIFT = os.environ.get("SWIFT", "swift")
# As `make build` does it: the programs are measured as they ship.
RELEASE_FLAGS = os.environ.get(
    "RELEASE_FLAGS", "-c release --static-swift-stdlib -Xswiftc -enforce-exclusivity=unchecked").split()
ROOT = os.path.dirname(os.path.dirname(HERE))

CASES = collections.OrderedDict([
    ("one", {"in_flight": 1, "workers": 1}),
    ("w2-64", {"in_flight": 64, "workers": 2}),
    ("w2-1024", {"in_flight": 1024, "workers": 2}),
    ("deltas", {"in_flight": 16, "workers": 2, "deltas": 100}),
    ("large", {"in_flight": 8, "workers": 1, "payload": 1 << 20}),
])
DELTA_BYTES = 64


class BenchError(Exception):
    """What went wrong, in one sentence."""


class Programs:
    """Builds what the rows need and knows where it lies."""

    def __init__(self, folder, rows, build, log):
        self.folder = folder
        self.build = build
        self.floor = os.path.join(folder, "floor")
        self.scratch = os.path.join(ROOT, ".build")
        self.release = os.path.join(self.scratch, "release")
        command = ["cc", "-O2", "-Wall", "-Wextra", "-o", self.floor, os.path.join(HERE, "floor.c"), "-lzmq"]
        self._run(command)
        products = ["skillbus-router", "BenchGateway", "BenchWorker", "BenchCodec"]
        if rows & {6, 10}:
            products += ["skillbus", "skillbus-gateway", "BenchStore", "skillbus-worker-keywords"]
        for product in products if build else []:
            print(f"  building {product}", file=log, flush=True)
            self._run([SWIFT, "build", *RELEASE_FLAGS, "--package-path", ROOT, "--product", product])
        self.router = self._product("skillbus-router")

    def _run(self, command):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise BenchError(f"{' '.join(command)} failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")

    def _product(self, name):
        return os.path.join(self.release, name)

    def product(self, name):
        path = self._product(name)
        if not os.path.exists(path):
            raise BenchError(f"{path} is not built")
        return path


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Processes:
    """Children that end with the block, and with this process if that ends first."""

    def __init__(self, folder):
        self.folder = folder
        self.children = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for child in self.children:
            if child.poll() is None:
                child.kill()
        for child in self.children:
            child.wait()
            if child.stdout:
                child.stdout.close()

    def start(self, name, command, environment=None, output=None):
        log = open(os.path.join(self.folder, f"{name}.log"), "w")
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output or log, stderr=log, preexec_fn=die_with_parent,
            env={**os.environ, **(environment or {})}, text=True)
        log.close()
        child.name = name
        self.children.append(child)
        return child

    def log_of(self, name):
        with open(os.path.join(self.folder, f"{name}.log"), errors="replace") as log:
            return log.read()[-600:].strip()


def free_port():
    """A port below the range that outgoing connections take theirs from."""
    for _ in range(1000):
        free_port.next = 20000 + (free_port.next - 20000 + 1) % 10000
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", free_port.next))
                return free_port.next
            except OSError:
                continue
    raise BenchError("no free port between 20000 and 30000")


free_port.next = 20000 + os.getpid() * 37 % 10000


def wait_for_port(port, child, seconds=10):
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if child.poll() is not None:
            break
        time.sleep(0.0005)
    raise BenchError(f"{child.name} does not listen on port {port}")


def wait_for_file(path, child, seconds):
    """Waits for what a program writes when it is ready."""
    limit = time.monotonic() + seconds
    while not os.path.exists(path):
        if time.monotonic() > limit or child.poll() is not None:
            return False
        time.sleep(0.01)
    return True


def router_command(programs, front, back):
    return [programs.router, "--frontend", f"tcp://127.0.0.1:{front}", "--backend", f"tcp://127.0.0.1:{back}"]


def worker_environment(front, back, deltas=0):
    return {"SKILLBUS_ROUTERS": f"127.0.0.1:{back}", "BENCH_DELTAS": str(deltas)}


def measure(programs, case, swift_router, swift_peers, seconds):
    """One run: starts router, workers and load generator, and returns the figures that the last one prints."""
    setting = CASES[case]
    deltas, workers = setting.get("deltas", 0), setting["workers"]
    front, back = free_port(), free_port()
    front_address, back_address = f"tcp://127.0.0.1:{front}", f"tcp://127.0.0.1:{back}"
    with Processes(programs.folder) as processes:
        if swift_router:
            router = processes.start("router", router_command(programs, front, back))
        else:
            router = processes.start("router", [programs.floor, "router", "--front", front_address, "--back", back_address])
        wait_for_port(back, router)
        others = []
        for number in range(workers):
            if swift_peers:
                command, environment = [programs.product("BenchWorker")], worker_environment(front, back, deltas)
            else:
                command, environment = [programs.floor, "worker", "--back", back_address, "--deltas", str(deltas)], None
            others.append(processes.start(f"worker-{number}", command, environment))
        program = [programs.product("BenchGateway")] if swift_peers else [programs.floor, "gateway"]
        gateway = processes.start("gateway", program + [
            "--front", front_address, "--in-flight", str(setting["in_flight"]), "--workers", str(workers),
            "--payload", str(setting.get("payload", 256)), "--seconds", str(seconds),
            "--router-pid", str(router.pid), "--other-pids", ",".join(str(other.pid) for other in others),
        ], output=subprocess.PIPE)
        line = read_line(gateway, seconds + 30)
        if not line:
            trouble = "; ".join(f"{child.name}: {processes.log_of(child.name)}" for child in reversed(processes.children))
            raise BenchError(f"no result. {trouble}")
    result = json.loads(line)
    result["deltas_s"] = result["jobs_s"] * deltas
    streamed = result["delta_bytes_s"] / (result["deltas_s"] * DELTA_BYTES) if deltas else 1
    if not 0.8 < streamed < 1.25:
        raise BenchError(f"{streamed:.2f} of the expected deltas arrived")
    return result


def read_line(child, seconds):
    ready, _, _ = select.select([child.stdout], [], [], seconds)
    return child.stdout.readline() if ready else ""
