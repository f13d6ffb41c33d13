"""What a gateway takes from strangers: sizes at the limit and one above, bytes that drip, requests that two parsers
may read differently."""
import json
import re
import selectors
import socket
import time

import pytest

from conftest import eventually
from http_client import Client
from test_http import problem


@pytest.fixture(scope="module")
def gateway(tmp_path_factory):
    """A gateway alone: most of what is refused never gets further."""
    from conftest import Program
    program = Program("skillbus-gateway", "--http", "127.0.0.1:0", folder=tmp_path_factory.mktemp("gateway"))
    program.url = eventually(lambda: re.search(r'ready {"url":"([^"]+)"', program.output)).group(1)
    program.address = ("127.0.0.1", int(program.url.rsplit(":", 1)[1]))
    yield program
    program.close()


@pytest.fixture
def client(gateway):
    return Client(gateway.url)


def raw(gateway, request, within=10):
    """What is answered to these bytes, up to the end of the connection or the time."""
    with socket.create_connection(gateway.address, within) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        try:
            while piece := connection.recv(65536):
                answer += piece
        except (TimeoutError, ConnectionResetError):
            pass
        return answer


def status(answer):
    match = re.match(rb"HTTP/1\.1 (\d+)", answer)
    return int(match.group(1)) if match else None


@pytest.mark.parametrize("size, expected", [(8 * 1024, 404), (8 * 1024 + 1, 414)])
def test_the_length_of_a_target(client, size, expected):
    assert client.get("/" + "x" * (size - 1)).status == expected


@pytest.mark.parametrize("fields, size, expected", [(90, 10, 200), (101, 10, 431), (5, 3000, 200), (5, 3500, 431)])
def test_the_headers(client, fields, size, expected):
    headers = {f"X-{number}": "x" * size for number in range(fields)}
    assert client.get("/healthz", headers=headers).status == expected


@pytest.mark.parametrize("depth, expected", [(64, 503), (65, 400), (100_000, 400)])
def test_the_depth_of_arguments(client, depth, expected):
    """At the limit it is the router that is missing, or the request is taken."""
    body = b'{"text": "x", "skill": "s", "arguments": {"a": ' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}}"
    session = client.session()
    answer = client.call("POST", f"/v1/sessions/{session}/requests", body, {"Content-Type": "application/json"})
    assert answer.status in ((202, 503) if expected == 503 else (expected,)), answer.body


def test_the_body(client):
    session = client.session()
    path = f"/v1/sessions/{session}/requests"
    answer = client.call("POST", path, b" " * (36 * 1024 * 1024 + 1), {"Content-Type": "application/json"})
    assert "37748736" in problem(answer, 413)["detail"]


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_a_form_of_a_strange_page_is_not_taken(client, media_type):
    """What a browser sends without asking first."""
    answer = client.call("POST", "/v1/sessions", b'{"a": 1}', {"Content-Type": media_type} if media_type else None)
    assert answer.status == 415


SMUGGLED = b"GET /v1/sessions HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.parametrize("head", [
    b"Content-Length: 0\r\nTransfer-Encoding: chunked", b"Transfer-Encoding: chunked\r\nContent-Length: 5",
    b"Content-Length: 5\r\nContent-Length: 6", b"Content-Length: 5\r\nContent-Length: 5", b"Content-Length: +5",
    b"Content-Length: 5,5", b"Transfer-Encoding: chunked, identity", b"Transfer-Encoding: xchunked",
    b"Transfer-Encoding : chunked", b" Content-Length: 5", b"X: a\r\n Transfer-Encoding: chunked",
    b"X: a\rTransfer-Encoding: chunked", b"Content-Length: 5\r\nContent-Length : 0",
])
def test_nothing_is_smuggled_past_a_proxy(gateway, head):
    answer = raw(gateway, b"POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + head
                 + b"\r\n\r\n0\r\n\r\n" + SMUGGLED)
    assert status(answer) in (400, 501, None), answer
    # The connection is over with that: what follows is not read as a request.
    assert b"HTTP/1.1 2" not in answer and b'"sessions"' not in answer, answer


def test_five_hundred_dripping_clients_hinder_nobody_and_are_ended(gateway):
    """A byte a second each, of headers and of bodies: the time for both is counted in sum."""
    selector, drips = selectors.DefaultSelector(), []
    body = b"POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n"
    began = time.monotonic()
    for number in range(500):
        connection = socket.create_connection(gateway.address, 10)
        connection.setblocking(False)
        connection.send(body if number % 50 == 0 else b"GET / HTTP/1.1\r\nX: ")
        selector.register(connection, selectors.EVENT_READ)
        drips.append(connection)
    client, ended, slowest = Client(gateway.url), 0, 0.0
    headers = 490
    try:
        while ended < headers and time.monotonic() < began + 30:
            asked = time.monotonic()
            assert client.get("/healthz", within=5).status == 200
            slowest = max(slowest, time.monotonic() - asked)
            for connection in list(drips):
                try:
                    connection.send(b"a")
                except OSError:
                    pass
            time.sleep(1)
            for key, _ in selector.select(0):
                try:
                    if key.fileobj.recv(65536):
                        continue
                except OSError:
                    pass
                selector.unregister(key.fileobj)
                drips.remove(key.fileobj)
                key.fileobj.close()
                ended += 1
        assert ended >= headers, ended
        assert 9 < time.monotonic() - began < 25
        assert slowest < 1, slowest
    finally:
        for connection in drips:
            connection.close()


def test_more_connections_than_allowed_are_told(gateway):
    eventually(lambda: Client(gateway.url).get("/healthz").status == 200)
    held = []
    try:
        for _ in range(1000):
            held.append(socket.create_connection(gateway.address, 10))
        eventually(lambda: Client(gateway.url).get("/healthz").status == 503, within=5)
    finally:
        for connection in held:
            connection.close()
    eventually(lambda: Client(gateway.url).get("/healthz").status == 200)


def test_errors_say_nothing_of_the_inside(gateway, client):
    """No path, no query of a database, no stack, for whatever is asked."""
    session = client.session()
    answers = [client.get("/v1/sessions/x"), client.get("/v1/skills"), client.get("/v1/sessions?before=x"),
               client.get("/v1/../../etc/passwd"), client.call("POST", "/v1/route", {"text": "x"}),
               client.call("POST", f"/v1/sessions/{session}/requests", {"text": "x", "attachments": [{}]}),
               client.call("DELETE", f"/v1/sessions/{session}/requests/x"), client.get("/%00"), client.get("/%ff")]
    for answer in answers:
        assert answer.status >= 400
        text = json.dumps(answer.json) + str(answer.headers)
        assert not re.search(r"/tmp|/home|/work|\.swift|sqlite|SELECT|0x[0-9a-f]{6}|tcp://|ipc://", text, re.I), text
    assert "Server" not in client.get("/healthz").headers
