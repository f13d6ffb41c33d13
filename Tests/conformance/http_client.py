"""HTTP and event streams with Python's own library, as a program of a user would speak them."""
import http.client
import json
import time
import urllib.parse


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def json(self):
        return json.loads(self.body)


class Client:
    def __init__(self, url, token=None):
        self.host = urllib.parse.urlsplit(url).netloc
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}

    def call(self, method, path, body=None, headers=None, within=30):
        connection = http.client.HTTPConnection(self.host, timeout=within)
        try:
            if isinstance(body, (dict, list)):
                body = json.dumps(body).encode()
                headers = {"Content-Type": "application/json"} | (headers or {})
            connection.request(method, path, body, self.headers | (headers or {}))
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def get(self, path, **options):
        return self.call("GET", path, **options)

    def session(self):
        answer = self.call("POST", "/v1/sessions", {})
        assert answer.status == 201, answer.body
        return answer.json["id"]

    def request(self, session, text, headers=None, **fields):
        return self.call("POST", f"/v1/sessions/{session}/requests", {"text": text} | fields, headers)

    def follow(self, session, after=None):
        return Stream(self.host, session, after, self.headers)

    def run(self, text, session=None, within=30, **fields):
        """A request in a session, from its first event to its end: (answer, events)."""
        session = session or self.session()
        answer = self.request(session, text, **fields)
        assert answer.status == 202, answer.body
        with self.follow(session) as stream:
            return answer.json, stream.until_end(answer.json["id"], within)


class Stream:
    """An event stream (SSE) of a session."""

    def __init__(self, host, session, after=None, headers=None):
        self.connection = http.client.HTTPConnection(host, timeout=30)
        headers = (headers or {}) | {"Accept": "text/event-stream"} | ({"Last-Event-ID": str(after)} if after is not None else {})
        self.connection.request("GET", f"/v1/sessions/{session}/events", headers=headers)
        self.response = self.connection.getresponse()

    def event(self, within=30):
        """The next event as (id, type, object); comments are skipped. None at the end of the stream."""
        fields = {}
        end = time.monotonic() + within
        while True:
            self.connection.sock and self.connection.sock.settimeout(max(end - time.monotonic(), 0.01))
            line = self.response.readline()
            if not line:
                return None
            line = line.decode().rstrip("\r\n")
            if line == "":
                if "data" in fields:
                    number = fields.get("id")
                    return number and int(number), fields.get("event"), json.loads(fields["data"])
                fields = {}
            elif not line.startswith(":"):
                name, _, value = line.partition(":")
                value = value.removeprefix(" ")
                fields[name] = fields["data"] + "\n" + value if name == "data" and "data" in fields else value

    def until_end(self, request, within=30):
        """Events up to the terminal one of a request."""
        found, end = [], time.monotonic() + within
        while True:
            event = self.event(end - time.monotonic())
            assert event is not None, "the stream ended"
            found.append(event)
            if event[2].get("request") == request and event[1] in (
                    "request.finished", "request.failed", "request.cancelled"):
                return found

    def close(self):
        self.connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
