"""A TCP proxy on loopback that misbehaves when it is told to: the network between two processes."""
import asyncio
import socket
import struct
import threading


class Proxy:
    """Passes connections on, on a thread of its own. Modes: `pass`, `blackhole`, `up` and `down` (only that direction
    passes); `delay` in seconds and `cut` in bytes, after which each connection is reset."""

    def __init__(self, port, upstream):
        self.port, self.upstream = port, upstream
        self.mode, self.delay, self.cut = "pass", 0.0, None
        self.pairs = set()
        self.loop = asyncio.new_event_loop()
        self.ready = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()
        self.ready.wait(5)

    def _run(self):
        asyncio.set_event_loop(self.loop)
        self.server = self.loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", self.port))
        self.ready.set()
        self.loop.run_forever()

    async def _serve(self, reader, writer):
        try:
            other_reader, other = await asyncio.open_connection("127.0.0.1", self.upstream)
        except OSError:
            writer.close()
            return
        pair = writer, other
        self.pairs.add(pair)
        left = [self.cut]
        try:
            await asyncio.gather(self._pump(reader, other, "up", pair, left),
                                 self._pump(other_reader, writer, "down", pair, left), return_exceptions=True)
        except asyncio.CancelledError:
            pass  # The proxy ends, and this connection with it.
        self.pairs.discard(pair)
        for end in pair:
            end.close()

    async def _pump(self, reader, writer, direction, pair, left):
        while True:
            while self.mode not in ("pass", direction):
                await asyncio.sleep(0.01)
            data = await reader.read(65536)
            if not data:
                writer.close()
                return
            if self.delay:
                await asyncio.sleep(self.delay)
            while self.mode not in ("pass", direction):
                await asyncio.sleep(0.01)
            if left[0] is not None:
                data = data[:left[0]]
                left[0] -= len(data)
            writer.write(data)
            await writer.drain()
            if left[0] == 0:
                self._reset(pair)
                return

    @staticmethod
    def _reset(pair):
        for end in pair:
            plain = end.get_extra_info("socket")
            if plain is not None:
                plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            end.transport.abort()

    def reset(self):
        """Resets every connection now."""
        self.loop.call_soon_threadsafe(lambda: [self._reset(pair) for pair in list(self.pairs)])

    def close(self):
        async def end():
            tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self.loop.stop()

        asyncio.run_coroutine_threadsafe(end(), self.loop)
        self.thread.join(5)
