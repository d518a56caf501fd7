"""A check that reaches no server, or is refused, says why and what to do."""

import socket
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from muisti.service.connect.calling import CallFailed, call


class _WantsKey(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(401)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Write nothing."""


@pytest.mark.parametrize(
    ("environ", "said"),
    [({}, "the server wants a key; put it into MUISTI_KEY"), ({"MUISTI_KEY": "k"}, "refuses the key in MUISTI_KEY")],
)
def test_a_server_that_wants_a_key_is_told_apart(environ: dict[str, str], said: str):
    with HTTPServer(("127.0.0.1", 0), _WantsKey) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            with pytest.raises(CallFailed, match=said):
                call({"url": f"http://127.0.0.1:{server.server_port}/mcp"}, environ, None)
        finally:
            server.shutdown()


def test_a_closed_port_is_named_with_the_command_that_starts_a_server():
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}/mcp"
    with pytest.raises(CallFailed, match=f"no server answers at {url}; `muisti serve` starts one"):
        call({"url": url}, {}, None)
