"""A whole system with keys and tokens, as `skillbus up` runs it: who sees what, and what never shows."""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import threading

import pytest

from conftest import BIN, System, eventually
from http_client import Client
from peers import Key, Peer
from test_http import problem
from wire import QUERY, Message

CANARY = "canary-9f31-what-the-user-wrote"


def skillbus(*words, folder, environment=None, code=0, text=""):
    clean = {key: value for key, value in os.environ.items() if not key.startswith("SKILLBUS_")}
    done = subprocess.run([BIN / "skillbus", *map(str, words)], capture_output=True, text=True, input=text, timeout=60,
                          env=clean | {"SKILLBUS_STATE": str(folder / "state")} | (environment or {}))
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    return done


class GuardedSystem(System):
    def __init__(self, folder):
        self.folder = folder
        skillbus("keys", "new", folder=folder)
        self.tokens = {}
        for name, words in {"anna": [], "ben": [], "reader": ["--tenant", "anna", "--scope", "read"],
                            "asker": ["--tenant", "anna", "--scope", "ask"], "hasty": ["--rate", "100"]}.items():
            words = words if "--tenant" in words else ["--tenant", name, *words]
            self.tokens[name] = skillbus("tokens", "new", *words, folder=folder).stdout.strip()
        super().__init__(folder, environment={"SKILLBUS_LOG": "debug", "SKILLBUS_TOKEN": self.tokens["anna"]})

    def client(self, name):
        return Client(self.url, self.tokens[name])

    def logs(self):
        logs = {path.name: path.read_text() for path in (self.folder / "state/logs").iterdir()}
        return logs | {"up": self.program.output}

    def processes(self):
        """The ids of everything that runs, `skillbus up` first."""
        pids = [self.program.process.pid]
        for value in self.ready["pids"].values():
            pids += value if isinstance(value, list) else [value]
        return pids


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    system = GuardedSystem(tmp_path_factory.mktemp("guarded"))
    yield system
    system.program.close()


def test_a_request_runs_over_a_guarded_system(guarded):
    _, events = guarded.client("anna").run("what is 0.1 + 0.2")
    assert events[-1][1] == "request.finished" and "0.3" in events[-1][2]["data"]["output"]["text"]


def test_the_program_takes_its_token_from_a_variable_or_a_file(guarded):
    file = guarded.folder / "anna.token"
    made = skillbus("tokens", "new", "--tenant", "anna", "--out", file, folder=guarded.folder)
    assert made.stdout == "" and file.stat().st_mode & 0o777 == 0o600
    where = {"SKILLBUS_URL": guarded.url}
    refused = skillbus("ask", "what is 1 + 1", folder=guarded.folder, environment=where, code=1)
    assert "SKILLBUS_TOKEN" in refused.stderr
    variable = where | {"SKILLBUS_TOKEN": guarded.tokens["anna"]}
    assert "2" in skillbus("ask", "what is 1 + 1", folder=guarded.folder, environment=variable).stdout
    # The new one is on the list once the gateway has read it.
    os.kill(guarded.ready["pids"]["gateway"], signal.SIGHUP)
    by_file = where | {"SKILLBUS_TOKEN_FILE": str(file)}
    eventually(lambda: "read anew" in guarded.logs()["gateway.log"])
    assert "4" in skillbus("ask", "what is 2 + 2", folder=guarded.folder, environment=by_file).stdout
    file.chmod(0o644)
    assert "chmod 600" in skillbus("sessions", folder=guarded.folder, environment=by_file, code=2).stderr


def test_every_route_but_the_probes_needs_a_token(guarded):
    stranger = Client(guarded.url)
    session = guarded.client("anna").session()
    for method, path in [("GET", "/v1/sessions"), ("POST", "/v1/sessions"), ("GET", f"/v1/sessions/{session}"),
                         ("GET", f"/v1/sessions/{session}/events"), ("POST", f"/v1/sessions/{session}/requests"),
                         ("DELETE", f"/v1/sessions/{session}/requests/{session}"), ("GET", "/v1/skills"),
                         ("POST", "/v1/route"), ("GET", "/v1/jobs"), ("GET", "/nothing/there"), ("OPTIONS", "/v1/jobs")]:
        body = {} if method == "POST" else None
        answer = stranger.call(method, path, body)
        assert problem(answer, 401)["code"] == "unauthorized"
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        wrong = Client(guarded.url, guarded.tokens["anna"][:-1] + "x").call(method, path, body)
        problem(wrong, 401)
        assert wrong.headers["WWW-Authenticate"] == 'Bearer error="invalid_token"'
    for probe in ("/healthz", "/readyz"):
        assert stranger.get(probe).status == 200


def test_a_token_in_the_url_is_none(guarded):
    token = guarded.tokens["anna"]
    assert Client(guarded.url).get(f"/v1/sessions?token={token}&access_token={token}").status == 401


def test_scopes(guarded):
    reader, asker = guarded.client("reader"), guarded.client("asker")
    session = guarded.client("anna").session()
    assert reader.get(f"/v1/sessions/{session}").status == 200
    refused = reader.request(session, "what is 1 + 1")
    assert problem(refused, 403)["code"] == "insufficient_scope"
    assert 'scope="ask"' in refused.headers["WWW-Authenticate"]
    assert asker.request(session, "what is 1 + 1").status == 202
    assert problem(asker.get(f"/v1/sessions/{session}"), 403)["code"] == "insufficient_scope"


def test_the_sessions_of_one_tenant_are_not_there_for_another(guarded):
    anna, ben = guarded.client("anna"), guarded.client("ben")
    session = anna.session()
    answer, _ = anna.run("what is 1 + 1", session)
    calls = [("GET", f"/v1/sessions/{session}"), ("GET", f"/v1/sessions/{session}/events"),
             ("POST", f"/v1/sessions/{session}/requests"),
             ("DELETE", f"/v1/sessions/{session}/requests/{answer['id']}")]
    for method, path in calls:
        body = {"text": "x"} if method == "POST" else None
        assert problem(ben.call(method, path, body), 404)["code"] in ("session_not_found", "request_not_found")
    assert session not in ben.get("/v1/sessions?limit=1000").body.decode()
    assert session not in ben.get("/v1/jobs?limit=1000").body.decode()
    assert session in anna.get("/v1/sessions?limit=1000").body.decode()


def test_the_101st_request_in_a_minute_is_refused(guarded):
    hasty = guarded.client("hasty")
    answers = [hasty.get("/v1/sessions") for _ in range(103)]
    refused = [answer for answer in answers if answer.status != 200]
    # A slow machine gives some back meanwhile.
    assert 1 <= len(refused) <= 3 and answers[99].status == 200
    assert problem(refused[0], 429)["code"] == "rate_limited"
    assert 1 <= int(refused[0].headers["Retry-After"]) <= 60
    assert guarded.client("anna").get("/v1/sessions").status == 200


def test_a_revoked_token_is_nothing(guarded):
    made = json.loads(skillbus("tokens", "new", "--tenant", "gone", "--json", folder=guarded.folder).stdout)
    gateway = guarded.ready["pids"]["gateway"]
    client = Client(guarded.url, made["token"])
    os.kill(gateway, signal.SIGHUP)
    eventually(lambda: client.get("/v1/sessions").status == 200)
    skillbus("tokens", "revoke", made["id"], folder=guarded.folder)
    os.kill(gateway, signal.SIGHUP)
    eventually(lambda: client.get("/v1/sessions").status == 401)


def test_the_bus_of_a_guarded_system_is_closed_to_plain_peers(guarded):
    with Peer(connect=guarded.backend) as peer:
        peer.socket.sndtimeo = 1500
        with pytest.raises(Exception):
            peer.send(Message(QUERY, sequence=1, body={"ask": "skills"}))
    with Peer(connect=guarded.backend, key=Key.read(guarded.folder / "state/keys/worker.key")) as peer:
        peer.send(Message(QUERY, sequence=1, body={"ask": "skills"}))
        assert peer.receive(5)


def secrets(system):
    found = {name: token for name, token in system.tokens.items()}
    for path in (system.folder / "state/keys").glob("*.key"):
        found[path.name] = re.search(r"^secret (\w+)", path.read_text(), re.M).group(1)
    return found


def test_nothing_secret_and_nothing_of_the_users_shows(guarded):
    """Logs at debug, command lines, environments of services, the state folder's list."""
    anna = guarded.client("anna")
    session = anna.session()
    anna.run(f"what is 1 + 1 {CANARY}", session)
    anna.run(f"Summarize this: {CANARY} is here. It is long enough. It says little.", session, skill="summarize")
    anna.request(session, CANARY, skill="no-such-skill")
    anna.call("POST", f"/v1/sessions/{session}/requests", f'{{"text": "{CANARY}'.encode(),
              {"Content-Type": "application/json"})
    anna.get(f"/v1/sessions/{CANARY}")
    anna.get(f"/v1/sessions?limit={CANARY}")
    Client(guarded.url, guarded.tokens["ben"] + "x").get("/v1/sessions")
    Client(guarded.url).get(f"/v1/sessions?token={guarded.tokens['anna']}")
    logs = guarded.logs()
    assert {"gateway.log", "router.log", "chat.log"} <= set(logs) and any('"debug"' in log for log in logs.values())
    hidden = secrets(guarded)
    assert len(hidden) == 8
    for name, text in logs.items():
        assert CANARY not in text, name
        for what, secret in hidden.items():
            assert secret not in text and secret.split("_")[-1] not in text, (name, what)
    for pid in guarded.processes():
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode()
        variables = pathlib.Path(f"/proc/{pid}/environ").read_bytes().decode()
        for what, secret in hidden.items():
            assert secret not in words, (pid, what)
            # `skillbus up` itself was given one: its services were not.
            assert secret not in variables or pid == guarded.program.process.pid, (pid, what)
    listed = (guarded.folder / "state/tokens").read_text()
    assert not any(secret.split("_")[-1] in listed for secret in guarded.tokens.values())


def test_what_is_kept_is_for_this_user_only(guarded):
    state = guarded.folder / "state"
    assert state.stat().st_mode & 0o777 == 0o700
    for path in state.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0 or path.is_socket(), path


def test_a_wide_gateway_needs_tokens(tmp_path, start):
    refused = start("skillbus-gateway", "--http", "0.0.0.0:0")
    assert refused.process.wait(20) == 2 and "skillbus tokens new" in refused.output
    skillbus("tokens", "new", folder=tmp_path)
    served = start("skillbus-gateway", "--http", "0.0.0.0:0")
    url = eventually(lambda: re.search(r'ready {"url":"([^"]+)"', served.output)).group(1)
    assert Client(url).get("/v1/sessions").status == 401
    (tmp_path / "state/tokens").chmod(0o644)
    assert start("skillbus-gateway", "--http", "127.0.0.1:0").process.wait(20) == 2
    missing = start("skillbus-gateway", "--http", "127.0.0.1:0", "--tokens", tmp_path / "none")
    assert missing.process.wait(20) == 2


def test_only_listed_pages_may_use_a_gateway(start):
    served = start("skillbus-gateway", "--http", "127.0.0.1:0", "--allow-origins", "https://chat.example.org")
    client = Client(eventually(lambda: re.search(r'ready {"url":"([^"]+)"', served.output)).group(1))
    for origin, allowed in [("https://chat.example.org", "https://chat.example.org"), ("https://evil.example", None),
                            ("null", None)]:
        headers = {"Origin": origin, "Access-Control-Request-Method": "POST"}
        answer = client.call("OPTIONS", "/v1/sessions", headers=headers)
        assert answer.headers["Access-Control-Allow-Origin"] == allowed
        assert answer.headers["Access-Control-Allow-Credentials"] is None
        assert client.call("POST", "/v1/sessions", {}, headers=headers).status == (201 if allowed else 403)
    for wrong in ("*", "null", "chat.example.org"):
        assert start("skillbus-gateway", "--allow-origins", wrong).process.wait(20) == 2


@pytest.mark.skipif(not shutil.which("openssl"), reason="makes its certificate with openssl")
def test_a_gateway_whose_certificate_nobody_vouches_for_gets_no_token(tmp_path):
    """TLS is verified, and there is no option that turns that off."""
    names = [str(tmp_path / name) for name in ("key.pem", "cert.pem")]
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", names[0], "-out", names[1]],
                   check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(names[1], names[0])
    said = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        def serve():
            connection, _ = server.accept()
            try:
                with context.wrap_socket(connection, server_side=True) as encrypted:
                    said.append(encrypted.recv(65536))
            except OSError:
                connection.close()

        thread = threading.Thread(target=serve)
        thread.start()
        where = {"SKILLBUS_URL": f"https://127.0.0.1:{server.getsockname()[1]}", "SKILLBUS_TOKEN": "skillbus_a_b"}
        refused = skillbus("sessions", folder=tmp_path, environment=where, code=3)
        thread.join(20)
    assert "certificate" in refused.stderr
    assert not any(b"skillbus_a_b" in bytes_ for bytes_ in said)
