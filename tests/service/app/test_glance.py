"""A request that is recognised without parsing is the same request for the parser."""

from typing import Any

import httptools
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from muisti.service.app.glance import Glance, glance

POST = b"POST /v1/spaces/a/search?x=%20 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nX-Request-Id: mine\r\n\r\n{}"


class Parsed:
    """Parts of a request, as the server's parser reads them from bytes."""

    def __init__(self) -> None:
        self.url, self.headers, self.body, self.complete = b"", list[tuple[bytes, bytes]](), b"", 0
        self.parser: Any = httptools.HttpRequestParser(self)

    def on_url(self, url: bytes) -> None:
        self.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name.lower(), value))

    def on_body(self, body: bytes) -> None:
        self.body += body

    def on_message_complete(self) -> None:
        self.complete += 1


pieces = st.sampled_from(
    [
        *(b"POST", b"GET", b"PATCH", b"BREW", b" ", b"/v1/spaces", b"/%2e", b"*", b"?q=1&r=%20", b" HTTP/1.1"),
        *(b" HTTP/1.0", b"\r\n", b"\n", b"Host: a", b"Content-Length: 2", b"content-length:2", b"Content-Length: +2"),
        *(b"Content-Length: 0", b"Content-Length: 2, 2", b"Transfer-Encoding: chunked", b"Connection: close"),
        *(b"Connection: Keep-Alive", b"Expect: 100-continue", b"Upgrade: h2c", b"X-Request-Id: mine", b"A B: c"),
        *(b"A: \xff", b"A:", b": b", b"A: b ", b"{}", b"{", b"\x00", b"\r\n\r\n", POST),
    ]
)
made_up = st.lists(pieces, max_size=14).map(b"".join)
changed = st.builds(
    lambda at, piece, gone: POST[:at] + piece + POST[at + gone :],
    st.integers(0, len(POST)),
    st.just(b"") | pieces,
    st.integers(0, 9),
)


@given(made_up | changed)
@example(POST)
def test_a_glance_sees_what_the_parser_sees_or_nothing(data: bytes):
    seen = glance(data)
    if seen is None:
        return
    parsed = Parsed()
    parsed.parser.feed_data(data)
    path = httptools.parse_url(parsed.url).path
    assert parsed.complete == 1 and parsed.parser.should_keep_alive() and not parsed.parser.should_upgrade()
    assert (seen.method, seen.path.encode()) == (parsed.parser.get_method().decode(), path)
    assert list(seen.headers.items()) == parsed.headers
    assert int(seen.headers.get(b"content-length", b"0")) == len(parsed.body)
    after = Parsed()
    after.parser.feed_data(data + POST)  # nothing of what comes next belonged to it
    assert after.complete == 2


def test_what_clients_send_is_seen():
    found = glance(POST)
    assert found == Glance(
        "POST", "/v1/spaces/a/search", {b"host": b"a", b"content-length": b"2", b"x-request-id": b"mine"}
    )
    assert glance(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n") == Glance("GET", "/healthz", {b"host": b"a"})


@pytest.mark.parametrize(
    "data",
    [
        b"",
        POST[:-1],
        POST + b"x",
        POST * 2,
        POST.replace(b"Host", b"Expect"),
        POST.replace(b": 2", b": " + b"2" * 5_000),
    ],
)
def test_what_is_not_a_whole_plain_request_is_left_to_the_parser(data: bytes):
    assert glance(data) is None
