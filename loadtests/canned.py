"""An HTTP server that answers anything with the same bytes: what the client and loopback alone cost."""

import asyncio
import sys

import uvloop

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


class Canned(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._transport.write(ANSWER)  # pyright: ignore[reportAttributeAccessIssue]


async def serve(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(Canned, "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1])))
