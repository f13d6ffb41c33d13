"""What the programs tell a service manager (sd_notify), and the units for systemd."""
import configparser
import os
import re
import shutil
import signal
import socket
import subprocess
import time

import pytest

from conftest import BIN, ROOT, Program, eventually

UNITS = sorted((ROOT / "deploy/systemd").glob("*.service"))


class Manager:
    """The socket that a service manager listens on."""

    def __init__(self, address):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(address.replace("@", "\0", 1) if address.startswith("@") else address)
        self.environment = {"NOTIFY_SOCKET": address}

    def expect(self, message, within=20.0):
        """The time until the message comes; others are passed over."""
        begun = time.monotonic()
        while True:
            self.socket.settimeout(max(begun + within - time.monotonic(), 0.001))
            if self.socket.recv(1000).decode() == message:
                return time.monotonic() - begun

    def silent(self, message, within):
        """Fails if the message comes in this time."""
        end = time.monotonic() + within
        while (rest := end - time.monotonic()) > 0:
            self.socket.settimeout(rest)
            try:
                assert self.socket.recv(1000).decode() != message
            except TimeoutError:
                return

    def drain(self):
        self.socket.setblocking(False)
        try:
            while self.socket.recv(1000):
                pass
        except BlockingIOError:
            pass


def programs(folder):
    frontend, backend = f"ipc://{folder}/f", f"ipc://{folder}/b"
    return {
        "skillbus-router": ["--frontend", frontend, "--backend", backend],
        "skillbus-gateway": ["--http", "127.0.0.1:0", "--state", folder / "state", "--routers", frontend],
        "skillbus-worker-chat": ["--routers", backend],
    }


@pytest.mark.parametrize("name", ["skillbus-router", "skillbus-gateway", "skillbus-worker-chat"])
@pytest.mark.parametrize("is_abstract", [False, True])
def test_a_program_says_that_it_is_ready_alive_and_stopping(tmp_path, name, is_abstract):
    manager = Manager(f"@skillbus-{os.getpid()}-{name}" if is_abstract else str(tmp_path / "notify"))
    # No router is there for gateway and worker: that is no reason to start them anew.
    program = Program(name, *programs(tmp_path)[name], folder=tmp_path,
                      environment=manager.environment | {"WATCHDOG_USEC": "600000"})
    try:
        manager.expect("READY=1")
        for _ in range(3):
            assert manager.expect("WATCHDOG=1") < 0.6
        # One that does not turn does not say that it does.
        program.process.send_signal(signal.SIGSTOP)
        manager.drain()
        manager.silent("WATCHDOG=1", 1)
        program.process.send_signal(signal.SIGCONT)
        manager.expect("WATCHDOG=1")
        program.process.send_signal(signal.SIGTERM)
        manager.expect("STOPPING=1")
        assert program.process.wait(20) == 0
    finally:
        program.close()


def test_up_speaks_for_itself_and_its_children_do_not(tmp_path):
    manager = Manager(str(tmp_path / "notify"))
    program = Program("skillbus", "up", "--http", "127.0.0.1:0", "--state", tmp_path / "state", "--skills", "chat",
                      folder=tmp_path, environment=manager.environment | {"WATCHDOG_USEC": "300000"})
    try:
        assert manager.socket.recv(1000) == b"READY=1"
        eventually(lambda: "skillbus is ready" in program.output)
        manager.silent("READY=1", 0.5)
        program.process.send_signal(signal.SIGTERM)
        manager.expect("STOPPING=1")
        assert program.process.wait(30) == 0
    finally:
        program.close()


def unit(path):
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str
    parser.read(path)
    return parser


def test_there_is_a_unit_of_each_kind():
    assert [path.name for path in UNITS] == ["skillbus-gateway.service", "skillbus-router.service",
                                             "skillbus-worker@.service"]


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_a_unit_is_hardened_and_its_command_is_understood(path):
    service = unit(path)["Service"]
    assert service["Type"] == "notify" and service["Restart"] == "always" and service["WatchdogSec"]
    # More than the programs take for draining.
    assert int(service["TimeoutStopSec"]) > 50
    for key in ("NoNewPrivileges", "PrivateTmp", "PrivateDevices", "ProtectHome", "MemoryDenyWriteExecute",
                "RestrictNamespaces", "LockPersonality", "DynamicUser"):
        assert service[key] == "yes", key
    assert service["ProtectSystem"] == "strict" and service["CapabilityBoundingSet"] == ""
    assert service["MemoryMax"] and service["TasksMax"]
    command = service["ExecStart"].replace("%i", "chat").split()
    help = subprocess.run([BIN / os.path.basename(command[0]), "--help"], capture_output=True, text=True).stdout
    for option in (word for word in command[1:] if word.startswith("--")):
        assert re.search(rf"^\s+{option}\b", help, re.MULTILINE), option


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd-analyze here")
@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_systemd_understands_a_unit(path):
    answer = subprocess.run(["systemd-analyze", "verify", "--man=no", path], capture_output=True, text=True)
    # Installed or not is not what is asked here.
    complaints = [line for line in answer.stderr.splitlines() if "is not executable" not in line]
    assert complaints == []
