"""An HTTPS proxy that serves an API server below a path, as OCM's cluster-proxy does."""
import asyncio
import base64
import os
import re
import ssl
import threading

from .pki import make_pki

CHUNK = 65536


class PrefixProxy(threading.Thread):
    """Serves `cluster` at https://127.0.0.1:port/NAME with a certificate of its own authority.
    What lies elsewhere is answered 404, and noted in `strays`. Ends with the process."""

    piece = CHUNK  # bytes of an answer that are passed on at a time

    def __init__(self, cluster):
        super().__init__(daemon=True)
        self.prefix = f"/{cluster.name}"
        self.port, self.strays, self.passed = None, [], []  # "VERB /path"
        self._target = cluster.port
        self._folder = os.path.join(cluster.folder, "proxy")
        os.makedirs(self._folder)
        make_pki(self._folder)
        self._to_target = ssl.create_default_context(cadata=cluster.certificate().decode())
        self._listening = threading.Event()

    def url(self):
        return f"https://127.0.0.1:{self.port}{self.prefix}"

    def through(self, kubeconfig):
        """The same kubeconfig, which leads here."""
        with open(os.path.join(self._folder, "ca.crt"), "rb") as f:
            authority = base64.b64encode(f.read()).decode()
        cluster = {"server": self.url(), "certificate-authority-data": authority}
        return {**kubeconfig, "clusters": [{**kubeconfig["clusters"][0], "cluster": cluster}]}

    def start(self):
        super().start()
        self._listening.wait()
        return self

    def run(self):
        asyncio.run(self._listen())

    async def _listen(self):
        own = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        own.load_cert_chain(os.path.join(self._folder, "server.crt"),
                            os.path.join(self._folder, "server.key"))
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=own)
        self.port = server.sockets[0].getsockname()[1]
        self._listening.set()
        await server.serve_forever()

    async def _serve(self, reader, writer):
        upstream = None
        try:
            from_target, upstream = await asyncio.open_connection(
                "127.0.0.1", self._target, ssl=self._to_target)
            answers = asyncio.create_task(self._answers(from_target, writer))
            requests = asyncio.create_task(self._requests(reader, writer, upstream))
            await asyncio.wait([answers, requests], return_when=asyncio.FIRST_COMPLETED)
            answers.cancel()
            requests.cancel()
            await asyncio.gather(answers, requests, return_exceptions=True)
        except OSError:
            pass  # one side is gone, and so the other learns
        finally:
            for one in filter(None, (writer, upstream)):
                one.transport.abort()

    async def _requests(self, reader, writer, upstream):
        """Passes requests on, each without the prefix."""
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            line, rest = head.split("\r\n", 1)
            verb, path, version = line.split(" ")
            if not path.startswith(f"{self.prefix}/"):
                self.strays.append(f"{verb} {path}")
                writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                return await writer.drain()
            if await self._misbehaves(verb, path, writer):
                continue
            length = re.search(r"^content-length: *(\d+)", rest, re.IGNORECASE | re.MULTILINE)
            body = await reader.readexactly(int(length[1])) if length else b""
            line = f"{verb} {path[len(self.prefix):]} {version}\r\n"
            upstream.write((line + rest).encode("latin-1") + body)
            await upstream.drain()
            self.passed.append(f"{verb} {path[len(self.prefix):]}")

    async def _misbehaves(self, verb, path, writer):
        """Whether the request was answered here."""
        return False

    async def _answers(self, reader, writer):
        while data := await reader.read(self.piece):
            writer.write(data)
            await writer.drain()
            await self._passed_piece()

    async def _passed_piece(self):
        """Before the next piece of an answer."""
