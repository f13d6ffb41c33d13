"""What docker-compose.yml and the Dockerfile promise, without an engine. Each is easily lost in an edit."""
import json
import re
import subprocess

import pytest
import yaml

from conftest import ROOT

compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
dockerfile = (ROOT / "deploy/Dockerfile").read_text()
services = compose["services"]


def executables():
    package = (ROOT / "Package.swift").read_text()
    workers = re.search(r"let workers = \[(.*)\]", package).group(1)
    return {"skillbus-worker-" + name.lower() for name in re.findall(r'"(\w+)"', workers)}


def test_every_worker_is_a_service():
    assert {program for service in services.values() for program in service["entrypoint"]
            if program.startswith("skillbus-worker-")} == executables()


@pytest.mark.parametrize("name", services)
def test_is_hardened(name):
    service = services[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"] and "cap_add" not in service and not service.get("privileged")
    assert "no-new-privileges:true" in service["security_opt"]
    assert any(mount.startswith("/tmp") for mount in service["tmpfs"])
    assert service["mem_limit"] and service["pids_limit"]
    assert service["init"] is True
    assert service["restart"] == "unless-stopped"
    assert not any("docker.sock" in str(volume) for volume in service.get("volumes", []))


@pytest.mark.parametrize("name", services)
def test_has_time_to_drain(name):
    assert services[name]["stop_grace_period"] == "60s"


@pytest.mark.parametrize("name", services)
def test_is_its_own_probe(name):
    program = services[name]["entrypoint"][0]
    assert services[name]["healthcheck"]["test"] == ["CMD", program, "--health"]


@pytest.mark.parametrize("name", services)
def test_has_no_secret(name):
    environment = json.dumps(services[name].get("environment", {}))
    assert not re.search(r"PASSWORD|SECRET|TOKEN|KEY", environment)


def test_only_the_gateway_is_published_and_only_on_loopback():
    assert [name for name, service in services.items() if service.get("ports")] == ["gateway"]
    assert all(port.startswith("127.0.0.1:") for port in services["gateway"]["ports"])
    assert all("network_mode" not in service for service in services.values())


def test_the_bus_has_no_way_out():
    assert compose["networks"]["bus"]["internal"] is True
    for name, service in services.items():
        assert service["networks"] == (["bus", "edge"] if name == "gateway" else ["bus"])


def test_workers_stop_before_the_gateway_and_the_router_last():
    """Compose stops in the reverse order of what depends on what: a job that ends while draining is still recorded."""
    healthy = {"condition": "service_healthy"}
    for name, service in services.items():
        expected = {"router": {}, "gateway": {"router": healthy}}.get(name, {"router": healthy, "gateway": healthy})
        assert service.get("depends_on", {}) == expected


def test_the_image_runs_without_root_and_without_a_shell():
    final = dockerfile.rsplit("FROM ", 1)[1]
    assert re.search(r"^USER (?!0|root)\d+", final, re.M)
    for instruction in ("ENTRYPOINT", "CMD"):
        assert re.search(rf"^{instruction} \[", final, re.M)
    assert "swift:" not in final.splitlines()[0]


def test_the_image_has_what_the_machine_needs():
    listed = re.search(r"build_packages=\((.*?)\)", (ROOT / ".ci/install").read_text(), re.S).group(1)
    libraries = {name.split("|")[0] for name in re.findall(r"'([^']+-dev[^']*)'", listed)} - {"libc6-dev"}
    build = dockerfile.rsplit("FROM ", 1)[0]
    assert not [name for name in libraries if name not in build]


def test_a_run_without_a_terminal_names_every_skill_and_item(tmp_path):
    script = (ROOT / "deploy/run.sh").read_text()
    function = re.search(r"^show_states\(\) \{\n.*?^\}\n", script, re.M | re.S).group(0)
    events = [
        {"type": "request.plan", "steps": [{"skill": "summarize"}, {"skill": "keywords"}]},
        {"output": {"parts": [{"text": "one"}], "text": 'one\nthe "second"\n\nthree\n'}, "skill": "keywords",
         "type": "job.finished"},
    ]
    lines = "".join(json.dumps(event, separators=(",", ":")) + "\n" for event in events)
    shown = subprocess.run(["bash", "-c", f"work=$1\n{function}show_states", "-", tmp_path], input=lines, text=True,
                           capture_output=True, check=True, timeout=10).stdout.splitlines()
    assert shown[0].split() == ["request.plan", "summarize,", "keywords"]
    assert shown[1].split(None, 2) == ["job.finished", "keywords", 'one; the "second"; three']


shared = yaml.safe_load((ROOT / "deploy/compose.postgres.yml").read_text())["services"]


@pytest.mark.parametrize("name", ["postgres", "gateway-2"])
def test_what_is_added_for_several_gateways_is_hardened(name):
    service = shared[name]
    assert service["read_only"] is True and service["init"] is True and service["restart"] == "unless-stopped"
    assert service["cap_drop"] == ["ALL"] and "cap_add" not in service and not service.get("privileged")
    assert "no-new-privileges:true" in service["security_opt"]
    assert service["mem_limit"] and service["pids_limit"] and service["stop_grace_period"] == "60s"


def test_the_database_is_published_nowhere_and_its_password_is_a_file():
    assert "ports" not in shared["postgres"] and shared["postgres"]["networks"] == ["store"]
    added = yaml.safe_load((ROOT / "deploy/compose.postgres.yml").read_text())
    assert added["networks"]["store"]["internal"] is True
    for service in shared.values():
        values = service.get("environment", {})
        assert not any(re.search(r"PASSWORD|SECRET|TOKEN", name) and not name.endswith("_FILE") for name in values)
        assert not re.search(r"://[^/@]*:[^/@]*@", json.dumps(values)), "a password in a URL"
    assert all(port.startswith("127.0.0.1:") for service in shared.values() for port in service.get("ports", []))
    # Two gateways of one name would take each other's requests.
    assert shared["gateway-2"]["volumes"] != services["gateway"]["volumes"]
    assert "/deploy/secrets/" in (ROOT / ".gitignore").read_text().split()


def test_several_gateways_are_as_the_one():
    for key in ("entrypoint", "command", "mem_limit", "tmpfs", "cap_drop", "security_opt"):
        assert shared["gateway-2"][key] == services["gateway"][key], key
    assert shared["gateway"]["environment"].items() <= shared["gateway-2"]["environment"].items()
