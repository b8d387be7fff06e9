"""A TCP relay that can hold everything back, as a network that loses its packets does."""
import asyncio
import threading

CHUNK = 65536


class Relay(threading.Thread):
    """Listens on a port of its own and passes bytes on to `target` on loopback. Ends with the
    process."""

    def __init__(self, target):
        super().__init__(daemon=True)
        self.target, self.port = target, None
        self._loop = asyncio.new_event_loop()
        self._listening = threading.Event()
        self._open = None  # an asyncio.Event: bytes may pass
        self._connections = set()

    def start(self):
        super().start()
        self._listening.wait()
        return self

    def run(self):
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._listen())
        self._loop.run_forever()

    def hold(self):
        """From now on nothing passes, either way. Connections stay, and new ones seem to work."""
        self._loop.call_soon_threadsafe(self._open.clear)

    def release(self, cut):
        """What was held back is delivered late; with `cut`, the connections break instead."""
        self._loop.call_soon_threadsafe(self._release, cut)

    def _release(self, cut):
        if cut:
            for writer in list(self._connections):
                writer.transport.abort()
        self._open.set()

    async def _listen(self):
        self._open = asyncio.Event()
        self._open.set()
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._listening.set()

    async def _serve(self, reader, writer):
        self._connections.add(writer)
        upstream = None
        try:
            await self._open.wait()
            from_target, upstream = await asyncio.open_connection("127.0.0.1", self.target)
            self._connections.add(upstream)
            await asyncio.gather(self._pass(reader, upstream), self._pass(from_target, writer))
        except OSError:
            pass  # one side is gone, and so the other learns
        finally:
            for one in filter(None, (writer, upstream)):
                self._connections.discard(one)
                one.transport.abort()

    async def _pass(self, reader, writer):
        while data := await reader.read(CHUNK):
            await self._open.wait()
            writer.write(data)
            await writer.drain()
        raise ConnectionResetError("one side ended the connection")
