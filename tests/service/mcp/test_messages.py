"""Every message is answered, on HTTP and on standard input alike, and what cannot be read gets an error."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from muisti.service.mcp.messages import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, Unreadable, message_of
from tests.service.mcp_client import call
from tests.service.mcp_client import message_of as message_in

pytestmark = pytest.mark.one_store

PING = b'{"jsonrpc":"2.0","id":7,"method":"ping"}'
READ = {
    "a byte order mark": b"\xef\xbb\xbf" + PING,
    "null for params": PING.replace(b"}", b',"params":null}'),
    "spaces around": b"  " + PING + b"\r",
    "half a surrogate pair": PING.replace(b"}", b',"params":{"x":"cut \\ud83d"}}'),
}
REFUSED: dict[str, tuple[bytes, int, int | None]] = {
    "no JSON": (b"nonsense", PARSE_ERROR, None),
    "an open string": (b'"', PARSE_ERROR, None),
    "NaN": (PING.replace(b"7", b"NaN"), PARSE_ERROR, None),
    "too deep": (b"[" * 100_000, PARSE_ERROR, None),
    "another encoding": (PING.replace(b"ping", b"p\xff"), PARSE_ERROR, 7),
    "a batch": (b"[" + PING + b"]", INVALID_REQUEST, None),
    "a number": (b"7", INVALID_REQUEST, None),
    "a broken id": (PING.replace(b"7", b"27.5"), INVALID_REQUEST, None),
    "a null id": (PING.replace(b"7", b"null"), INVALID_REQUEST, None),
    "a boolean id": (PING.replace(b"7", b"true"), INVALID_REQUEST, None),
    "a list as method": (PING.replace(b'"ping"', b'["ping"]'), INVALID_REQUEST, 7),
    "no method": (b'{"jsonrpc":"2.0","id":7}', INVALID_REQUEST, 7),
    "no version": (b'{"id":7,"method":"ping"}', INVALID_REQUEST, 7),
    "another version": (PING.replace(b"2.0", b"1.0"), INVALID_REQUEST, 7),
    "a list as params": (PING.replace(b"}", b',"params":[]}'), INVALID_PARAMS, 7),
}
CUT = json.dumps({
    "jsonrpc": "2.0", "id": 20, "method": "tools/call",
    "params": {"name": "remember", "arguments": {"content": "cut \ud83d emoji", "on_conflict": "keep"}},
}).encode()  # fmt: skip


@pytest.mark.parametrize("body", READ.values(), ids=READ)
def test_what_can_be_read_in_one_way_is_read(body: bytes):
    found = message_of(body)
    assert (found["id"], found["method"], found.get("params", {})) in (
        (7, "ping", {}),
        (7, "ping", {"x": "cut \ufffd"}),
    )


@pytest.mark.parametrize(("body", "code", "request_id"), REFUSED.values(), ids=REFUSED)
def test_any_other_message_has_an_error(body: bytes, code: int, request_id: int | None):
    with pytest.raises(Unreadable) as refused:
        message_of(body)
    assert (refused.value.code, refused.value.request_id) == (code, request_id)


def posted(client: httpx.Client, body: bytes, **headers: str) -> httpx.Response:
    return client.post("/mcp", content=body, headers={"Content-Type": "application/json", **headers})


def test_http_answers_each_message(client: httpx.Client):
    for name, body in READ.items():
        assert posted(client, body).json()["id"] == 7, name
    for name, (body, code, request_id) in REFUSED.items():
        found = posted(client, body)
        assert (found.status_code, found.json()["id"], found.json()["error"]["code"]) == (400, request_id, code), name
    found = posted(client, CUT).json()
    assert found["id"] == 20 and found["result"]["structuredContent"]["memory"]["content"] == "cut \ufffd emoji"


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("application/json", "application/json"),
        ("text/event-stream", "text/event-stream"),
        ("*/*", "application/json"),
        ("", "application/json"),
        ("text/html", "application/json"),
        ("application/json, text/event-stream", "text/event-stream"),
    ],
)
def test_no_accept_header_is_refused(client: httpx.Client, accept: str, kind: str):
    found = posted(client, PING, Accept=accept)
    assert (found.status_code, found.headers["content-type"].partition(";")[0]) == (200, kind)
    assert message_in(found)["id"] == 7


def test_a_body_over_the_limit_is_refused(client: httpx.Client):
    assert posted(client, PING + b" " * 10_000_001).status_code == 413


def test_the_answer_of_a_write_is_short(client: httpx.Client):
    long: dict[str, Any] = {"content": "word " * 19_000, "category": "a", "key": "b", "metadata": {"x": "y" * 2000}}
    calls = [("remember", long), ("update_memory", {"category": "a", "key": "b", "changes": {"reason": "why"}})]
    for tool, arguments in [*calls, ("undo", {"category": "a", "key": "b"}), ("undo", {})]:
        found = call(client, tool, **arguments)
        assert not found["isError"] and len(json.dumps(found)) < 5_000, tool
    assert (
        call(client, "get_memory", category="a", key="b")["structuredContent"]["memory"]["content"] == long["content"]
    )


def test_standard_input_answers_all_that_was_read_when_it_ends(tmp_path: Path):
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    first = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": about}).encode()
    cancelled = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":999}}'
    many = [CUT.replace(b'"id": 20', b'"id": "%d"' % number).replace(b"cut", b"%d" % number) for number in range(30)]
    wrong = [body for body, _, _ in REFUSED.values()]
    lines = [first, cancelled, *READ.values(), *wrong, b"x" * 20_000_000, b"", CUT, *many]
    command = ["-c", "from muisti.service.cli import main; main()", "mcp", "--database", str(tmp_path / "m.db")]
    done = subprocess.run(
        [sys.executable, *command],
        input=b"\n".join(lines) + b"\n",
        capture_output=True,
        env={**os.environ, "MUISTI_EMBEDDINGS": "off"},
        check=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    errors = sorted(str(one["id"]) for one in answers if "error" in one)
    assert errors == sorted(str(request_id) for *_, request_id in [*REFUSED.values(), (b"", 0, None)])
    results = {one["id"] for one in answers if "result" in one}
    assert results == {0, 7, 20, *map(str, range(30))}
    assert len(answers) == len(lines) - 2  # a notification and an empty line
    assert b"Traceback" not in done.stderr
