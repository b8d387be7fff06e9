"""A proxy in front of an API server that misbehaves when it is told to."""
import asyncio
import json

from .prefix_proxy import PrefixProxy

PIECE, PAUSE = 100, 0.1  # bytes and seconds: 1 KB/s
FOREVER = 3600

# What it may do, by name.
TROUBLES = ("hangs", "has_too_many_requests", "fails_to_create_jobs", "is_slow_at_writes",
            "lists_without_end", "trickles")


class BadProxy(PrefixProxy):
    piece = PIECE

    def __init__(self, cluster):
        super().__init__(cluster)
        self.trouble = None  # one of TROUBLES
        self._loop, self._clients = None, set()

    def begin(self, trouble):
        """With connections that are open, too. Watches are cut where only new ones are concerned."""
        assert trouble in TROUBLES, trouble
        self.trouble = trouble
        if trouble == "lists_without_end":
            self._loop.call_soon_threadsafe(self._cut)

    def end(self):
        self.trouble = None
        self._loop.call_soon_threadsafe(self._cut)

    def _cut(self):
        for writer in list(self._clients):
            writer.transport.abort()

    async def _serve(self, reader, writer):
        self._loop = asyncio.get_running_loop()
        self._clients.add(writer)
        try:
            await super()._serve(reader, writer)
        finally:
            self._clients.discard(writer)

    async def _misbehaves(self, verb, path, writer):
        watch = "watch=1" in path
        if self.trouble == "hangs":
            await asyncio.sleep(FOREVER)
        if self.trouble == "has_too_many_requests":
            return await answer(writer, failure(429, "TooManyRequests"), "Retry-After: 1")
        if self.trouble == "fails_to_create_jobs" and verb == "POST" and "/jobs" in path:
            return await answer(writer, failure(500, "InternalError"))
        if self.trouble == "is_slow_at_writes" and verb != "GET":
            await asyncio.sleep(2)
        if self.trouble == "lists_without_end" and verb == "GET":
            if watch:
                return await answer(writer, failure(410, "Expired"))
            if "limit=" in path:
                more = {"resourceVersion": "1", "continue": "more"}
                return await answer(writer, {"kind": "List", "apiVersion": "v1", "metadata": more,
                                             "items": []})
        return False

    async def _passed_piece(self):
        if self.trouble == "hangs":
            await asyncio.sleep(FOREVER)
        if self.trouble == "trickles":
            await asyncio.sleep(PAUSE)


def failure(code, reason):
    return {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code,
            "reason": reason, "message": "the proxy misbehaves"}


async def answer(writer, body, *headers):
    text = json.dumps(body).encode()
    head = [f"HTTP/1.1 {body.get('code', 200)} Answer", "Content-Type: application/json",
            f"Content-Length: {len(text)}", *headers]
    writer.write("\r\n".join(head).encode() + b"\r\n\r\n" + text)
    await writer.drain()
    return True
