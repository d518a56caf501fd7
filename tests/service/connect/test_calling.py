"""A check that reaches no server, or is refused, says why and what to do."""

import socket
from http.server import HTTPServer

import pytest

from muisti.service.connect.calling import CallFailed, call
from tests.local_server import Handler, running


class _WantsKey(Handler):
    def do_POST(self) -> None:
        self.taken()
        self.say(401)


@pytest.mark.parametrize(
    ("environ", "said"),
    [({}, "the server wants a key; put it into MUISTI_KEY"), ({"MUISTI_KEY": "k"}, "refuses the key in MUISTI_KEY")],
)
def test_a_server_that_wants_a_key_is_told_apart(environ: dict[str, str], said: str):
    with running(HTTPServer(("127.0.0.1", 0), _WantsKey)) as server, pytest.raises(CallFailed, match=said):
        call({"url": f"http://127.0.0.1:{server.server_port}/mcp"}, environ, None)


def test_a_closed_port_is_named_with_the_command_that_starts_a_server():
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}/mcp"
    with pytest.raises(CallFailed, match=f"no server answers at {url}; `muisti serve` starts one"):
        call({"url": url}, {}, None)
