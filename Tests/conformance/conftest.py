"""The built programs, as these tests start them: on free ports, in temporary folders, never left behind."""
import json
import os
import pathlib
import signal
import subprocess
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("SKILLBUS_BIN") or ROOT / ".build/debug")


def eventually(condition, within=20.0):
    """The condition's first true value; fails when the time is over."""
    end = time.monotonic() + within
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"did not come true within {within} s"
        time.sleep(0.02)


@pytest.fixture(scope="session", autouse=True)
def no_key_is_left_behind(tmp_path_factory):
    """After all tests, whatever they were: no log, store or other file that a program wrote has the key of a model in it.
    All keys of these tests begin alike, and the files that hold one are called `key`."""
    yield
    found = subprocess.run(["grep", "-rlaF", "--exclude=key", "sk-canary-", tmp_path_factory.getbasetemp()],
                           capture_output=True, text=True)
    assert found.returncode == 1, f"a key is in {found.stdout}{found.stderr}"


class Program:
    """A running program. It ends with the test: SIGTERM, then SIGKILL to its process group."""

    def __init__(self, name, *arguments, folder, environment=None):
        self.log = folder / f"{name}-{time.monotonic_ns()}.log"
        clean = {key: value for key, value in os.environ.items() if not key.startswith("SKILLBUS_")}
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [BIN / name, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=clean | {"SKILLBUS_STATE": str(folder / "state")} | (environment or {}), start_new_session=True)

    def terminate(self, within=20.0):
        """Asks it to drain; its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(within)

    def close(self):
        try:
            if self.process.poll() is None:
                self.process.terminate()
                self.process.wait(10)
        except subprocess.TimeoutExpired:
            pass
        finally:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.process.wait()

    @property
    def output(self):
        return self.log.read_text(errors="replace")


@pytest.fixture
def start(tmp_path):
    """start(NAME, ARGUMENT...) runs a program until the end of the test."""
    running = []

    def start(name, *arguments, environment=None):
        running.append(Program(name, *arguments, folder=tmp_path, environment=environment))
        return running[-1]

    yield start
    for program in reversed(running):
        program.close()


class System:
    """Everything, as `skillbus up` starts it."""

    def __init__(self, folder, environment=None):
        ready = folder / "ready.json"
        self.program = Program("skillbus", "up", "--http", "127.0.0.1:0", "--state", folder / "state",
                               "--ready-file", ready, folder=folder, environment=environment)
        try:
            self.ready = json.loads(eventually(lambda: self.program.process.poll() is not None or (
                ready.exists() and ready.read_text()), within=40))
        except Exception:
            self.program.close()
            raise AssertionError(f"skillbus up did not become ready:\n{self.program.output[-2000:]}")
        self.url = self.ready["url"]
        self.backend = self.ready["router"]["backend"]
        self.frontend = self.ready["router"]["frontend"]


@pytest.fixture(scope="session")
def system(tmp_path_factory):
    """One running system for all tests that only need one."""
    system = System(tmp_path_factory.mktemp("system"))
    yield system
    system.program.close()


class Bus:
    """A router alone."""

    def __init__(self, folder, *arguments):
        self.program = Program("skillbus-router", "--frontend", "tcp://127.0.0.1:*", "--backend", "tcp://127.0.0.1:*",
                               *arguments, folder=folder)

        def ready_line():
            return next((line for line in self.program.output.splitlines() if line.startswith("ready ")), None)

        try:
            eventually(lambda: self.program.process.poll() is not None or ready_line())
            ready = json.loads(ready_line().removeprefix("ready "))
        except Exception:
            self.program.close()
            raise AssertionError(f"the router did not become ready:\n{self.program.output[-2000:]}")
        self.frontend, self.backend = ready["frontend"], ready["backend"]


@pytest.fixture(scope="session")
def bus(tmp_path_factory):
    """One running router for all tests that bring their own workers and gateways."""
    bus = Bus(tmp_path_factory.mktemp("bus"))
    yield bus
    bus.program.close()


@pytest.fixture(scope="module")
def own_bus(tmp_path_factory):
    """A router for the tests of one module, whose gateways come and go."""
    bus = Bus(tmp_path_factory.mktemp("bus"))
    yield bus
    # Not drained: some tests leave jobs behind that nobody runs any more.
    bus.program.process.kill()
    bus.program.close()


@pytest.fixture
def gateway(tmp_path, own_bus):
    """gateway(ARGUMENT...) starts a gateway over a folder of the test's own."""
    from gateways import Gateway
    started = []

    def start(*arguments):
        started.append(Gateway(tmp_path, own_bus, *arguments))
        return started[-1]

    yield start
    for gateway in started:
        gateway.program.close()
