"""A client of the gateway for thousands of connections: HTTP/1.1 and event streams over asyncio, no more than is needed."""
import asyncio
import json


class Refused(Exception):
    """An answer other than 2xx."""

    def __init__(self, status, headers, body):
        super().__init__(f"{status} {body[:200]!r}")
        self.status, self.headers, self.body = status, headers, body


class Connection:
    """One connection that is opened when it is needed and kept."""

    def __init__(self, address):
        self.address = address
        self.reader = self.writer = None

    async def call(self, method, path, body=None, headers=None, within=10.0):
        """The answer's JSON. Raises Refused, or OSError when nobody answers."""
        try:
            return await asyncio.wait_for(self._call(method, path, body, headers or {}), within)
        except (asyncio.TimeoutError, asyncio.IncompleteReadError, ValueError, IndexError) as error:
            await self.close()
            raise OSError(f"no answer: {error!r}") from None
        except OSError:
            await self.close()
            raise

    async def _call(self, method, path, body, headers):
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection(*self.address, limit=1 << 22)
        content = b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self.address[0]}:{self.address[1]}",
                 "Content-Type: application/json", f"Content-Length: {len(content)}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self.writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + content)
        await self.writer.drain()
        status, received = await read_head(self.reader)
        payload = b""
        if received.get("transfer-encoding") == "chunked":
            while (size := int((await self.reader.readline()).split(b";")[0], 16)) > 0:
                payload += (await self.reader.readexactly(size + 2))[:-2]
            await self.reader.readline()
        elif status != 204:
            payload = await self.reader.readexactly(int(received.get("content-length", "0")))
        if received.get("connection", "").lower() == "close":
            await self.close()
        if not 200 <= status < 300:
            raise Refused(status, received, payload)
        return json.loads(payload) if payload else None

    async def close(self):
        writer, self.reader, self.writer = self.writer, None, None
        if writer is not None:
            writer.close()


async def read_head(reader):
    status = int((await reader.readline()).split()[1])
    headers = {}
    while (line := (await reader.readline()).strip()):
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    return status, headers


async def events(address, session, after=None):
    """The events of a session from one connection, as (id or None, object). Ends with the connection."""
    reader, writer = await asyncio.open_connection(*address, limit=1 << 22)
    try:
        resume = f"Last-Event-ID: {after}\r\n" if after else ""
        writer.write((f"GET /v1/sessions/{session}/events HTTP/1.1\r\nHost: {address[0]}:{address[1]}\r\n"
                      f"Accept: text/event-stream\r\n{resume}\r\n").encode())
        status, headers = await asyncio.wait_for(read_head(reader), 10)
        if status != 200:
            raise Refused(status, headers, b"")
        rest = b""
        while True:
            # Chunked: a size, so many bytes, an empty line. Events may be cut anywhere.
            size = int((await reader.readline()).split(b";")[0] or b"0", 16)
            if size == 0:
                return
            rest += (await reader.readexactly(size + 2))[:-2]
            while (end := rest.find(b"\n\n")) >= 0:
                block, rest = rest[:end], rest[end + 2:]
                number = data = None
                for line in block.split(b"\n"):
                    if line.startswith(b"data: "):
                        data = line[6:]
                    elif line.startswith(b"id: "):
                        number = int(line[4:])
                if data is not None:
                    yield number, json.loads(data)
    except (asyncio.IncompleteReadError, ValueError, IndexError):
        return
    finally:
        writer.close()


TERMINAL = ("request.finished", "request.failed", "request.cancelled")


class Follower:
    """Follows a session over any number of connections, and keeps what it saw. Of several addresses each new connection
    takes the next."""

    def __init__(self, address, session):
        self.addresses = address if isinstance(address, list) else [address]
        self.session = session
        self.seen = []
        self.last = 0
        self.connections = 0
        self.changed = asyncio.Condition()
        self.task = asyncio.create_task(self.run())

    async def run(self):
        while True:
            try:
                address = self.addresses[self.connections % len(self.addresses)]
                self.connections += 1
                async for number, event in events(address, self.session, self.last):
                    self.seen.append((number, event))
                    self.last = number or self.last
                    async with self.changed:
                        self.changed.notify_all()
            except (OSError, Refused, asyncio.TimeoutError):
                pass
            await asyncio.sleep(0.1)

    async def until(self, condition, within):
        """Waits until the condition holds for what was seen; whether it did."""
        try:
            async with asyncio.timeout(within):
                async with self.changed:
                    await self.changed.wait_for(condition)
            return True
        except TimeoutError:
            return False

    async def close(self):
        self.task.cancel()
        try:
            await self.task
        except asyncio.CancelledError:
            pass
