"""Every message is answered, on HTTP and on standard input alike, and what cannot be read gets an error."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from muisti.service.mcp.messages import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    MODERN,
    PARSE_ERROR,
    REVISIONS,
    UNSUPPORTED_VERSION,
    Unreadable,
    message_of,
)
from tests.service.mcp_client import call
from tests.service.mcp_client import message_of as message_in

pytestmark = pytest.mark.one_store

PING = b'{"jsonrpc":"2.0","id":7,"method":"ping"}'
RECALL = b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"recall","arguments":%s}}'
READ = {
    "a byte order mark": b"\xef\xbb\xbf" + PING,
    "null for params": PING.replace(b"}", b',"params":null}'),
    "spaces around": b"  " + PING + b"\r",
    "half a surrogate pair": PING.replace(b"}", b',"params":{"x":"cut \\ud83d"}}'),
}
REFUSED: dict[str, tuple[bytes, int, int | None]] = {
    "no JSON": (b"nonsense", PARSE_ERROR, None), "an open string": (b'"', PARSE_ERROR, None),
    "NaN as id": (PING.replace(b"7", b"NaN"), PARSE_ERROR, None),
    "NaN within": (PING.replace(b"}", b',"params":{"id":1,"x":NaN}}'), PARSE_ERROR, 7),
    "cut": (PING[:-1], PARSE_ERROR, 7), "too deep": (b"[" * 100_000, PARSE_ERROR, None),
    "too deep to parse": (PING.replace(b"}", b',"params":{"x":' + b"[" * 5_000 + b"]" * 5_000 + b"}}"), PARSE_ERROR, 7),
    "deep": (PING.replace(b"}", b',"params":{"x":' + b"[" * 200 + b"]" * 200 + b"}}"), INVALID_REQUEST, 7),
    "another encoding": (PING.replace(b"ping", b"p\xff"), PARSE_ERROR, 7),
    "a batch": (b"[" + PING + b"]", INVALID_REQUEST, 7), "an empty batch": (b"[]", INVALID_REQUEST, None),
    "a number": (b"7", INVALID_REQUEST, None), "a broken id": (PING.replace(b"7", b"27.5"), INVALID_REQUEST, None),
    "a null id": (PING.replace(b"7", b"null"), INVALID_REQUEST, None),
    "a boolean id": (PING.replace(b"7", b"true"), INVALID_REQUEST, None),
    "a list as method": (PING.replace(b'"ping"', b'["ping"]'), INVALID_REQUEST, 7),
    "no method": (b'{"jsonrpc":"2.0","id":7}', INVALID_REQUEST, 7),
    "no version": (b'{"id":7,"method":"ping"}', INVALID_REQUEST, 7),
    "another version": (PING.replace(b"2.0", b"1.0"), INVALID_REQUEST, 7),
    "a list as params": (PING.replace(b"}", b',"params":[]}'), INVALID_PARAMS, 7),
    "a text as params": (PING.replace(b"}", b',"params":"{}"}'), INVALID_PARAMS, 7),
    "a word as arguments": (RECALL % b'"x"', INVALID_PARAMS, 7),
    "a list as arguments": (RECALL % b"[1]", INVALID_PARAMS, 7),
}  # fmt: skip
BATCH = b"[%s,%s,1]" % (PING, PING.replace(b"7", b'"eight"'))


def asked(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}


HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
# What clients send that is no error, and what they send that is one, with words of the answer.
GOOD: dict[str, dict[str, Any]] = {
    "arguments left out": asked("tools/call", name="overview"),
    "null for arguments": asked("tools/call", name="overview", arguments=None),
    "an empty list for arguments": asked("tools/call", name="overview", arguments=[]),
    "an empty text for arguments": asked("tools/call", name="overview", arguments=""),
    "JSON for arguments": asked("tools/call", name="recall", arguments='{"query": "rye", "limit": "2"}'),
    "null for _meta": asked("tools/call", name="overview", arguments={}, _meta=None),
    "null for a progress token": asked("tools/call", name="overview", arguments={}, _meta={"progressToken": None}),
    "null for a cursor": asked("tools/list", cursor=None),
    "an unknown field": {**asked("ping"), "extra": 1},
    "initialize": asked("initialize", **HELLO),
    "initialize with nothing": {"jsonrpc": "2.0", "id": 7, "method": "initialize"},
    "initialize with nulls": asked("initialize", protocolVersion="2025-06-18", capabilities=None, clientInfo=None),
    "initialize with an unknown revision": asked("initialize", **{**HELLO, "protocolVersion": "1999-01-01"}),
    "a choice in other letters": asked("tools/call", name="recall", arguments={"query": "rye", "mode": "Keyword "}),
    "numbers for texts": asked("tools/call", name="recall", arguments={"query": 2024, "tags": [1.0, None]}),
}
BAD: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown tool": (asked("tools/call", name="nothing", arguments={}), "Unknown tool: nothing"),
    "no tool": (asked("tools/call", arguments={}), "name: Field required"),
    "a number for a tool": (asked("tools/call", name=5, arguments={}), "name: Input should be a valid string"),
    "an unknown method": (asked("tools/nothing"), "Method not found"),
    "a notification with an id": (asked("notifications/initialized"), "Method not found"),
    "a number for a cursor": (asked("tools/list", cursor=5), "cursor: Input should be a valid string"),
    "no uri": (asked("resources/read"), "uri: Field required"),
    "an unknown prompt": (asked("prompts/get", name="nothing"), "no prompt"),
    "NUL": (asked("tools/call", name="recall", arguments={"query": "a\0b"}), "NUL"),
    "an unknown argument": (asked("tools/call", name="recall", arguments={"kwargs": {}}), "there is no such field"),
    "an object for a text": (asked("tools/call", name="recall", arguments={"query": {}}), "Expected `str`"),
}  # fmt: skip
UNANSWERED: dict[str, bytes] = {
    "a notification": b'{"jsonrpc":"2.0","method":"notifications/what","params":{}}',
    "a request without an id": b'{"jsonrpc":"2.0","method":"tools/call","params":{"name":"overview"}}',
    "a cancellation": b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":999}}',
    "an answer": b'{"jsonrpc":"2.0","id":99,"result":{}}',
    "an error": b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}',
    "a broken answer": b'{"jsonrpc":"2.0","id":null,"result":[]}',
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
    assert (refused.value.code, refused.value.request_ids) == (code, (request_id,))


def posted(client: httpx.Client, body: bytes, **headers: str) -> httpx.Response:
    return client.post("/mcp", content=body, headers={"Content-Type": "application/json", **headers})


def test_http_answers_each_message(client: httpx.Client):
    for name, body in READ.items():
        assert posted(client, body).json()["id"] == 7, name
    for name, (body, code, request_id) in REFUSED.items():
        found = posted(client, body)
        assert (found.status_code, found.json()["id"], found.json()["error"]["code"]) == (400, request_id, code), name
    assert posted(client, b"").status_code == 400
    found = posted(client, CUT).json()
    assert found["id"] == 20 and found["result"]["structuredContent"]["memory"]["content"] == "cut \ufffd emoji"
    assert [one["id"] for one in posted(client, BATCH).json()] == [7, "eight"]
    large = posted(client, PING.replace(b"7", b"%d" % 10**30).replace(b"2.0", b"1.0"))
    assert (large.status_code, large.json()["id"]) == (400, 10**30)


@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=utf-8"])
@pytest.mark.parametrize("session", [{}, {"Mcp-Session-Id": "unknown"}, {"Mcp-Session-Id": "", "Last-Event-ID": "1"}])
def test_http_answers_what_clients_send(client: httpx.Client, kind: str, session: dict[str, str]):
    about = {"Content-Type": kind, "Accept": "application/json, text/event-stream", **session}
    for name, body in GOOD.items():
        found = message_in(client.post("/mcp", content=json.dumps(body), headers=about))
        assert found["id"] == 7 and not found["result"].get("isError"), (name, found)
    for name, (body, said) in BAD.items():
        found = message_in(client.post("/mcp", content=json.dumps(body), headers=about))
        assert found["id"] == 7 and said in json.dumps(found), (name, found)
        assert "error" in found or found["result"]["isError"], name
    for name, sent in UNANSWERED.items():
        found = client.post("/mcp", content=sent, headers=about)
        assert found.status_code == 202 or "broken" in name or b"null" in sent, (name, found.text)


@pytest.mark.parametrize("revision", ["1999-01-01", "2027-01-01", "nonsense", "x" * 200])
def test_a_revision_that_is_not_spoken_is_refused_with_those_that_are(client: httpx.Client, revision: str):
    for body in (PING, json.dumps(asked("tools/call", name="overview", arguments={})).encode()):
        found = posted(client, body, **{"MCP-Protocol-Version": revision})
        error = found.json()["error"]
        assert (found.status_code, found.json()["id"], error["code"]) == (400, 7, UNSUPPORTED_VERSION)
        assert error["data"] == {"supported": [MODERN], "requested": revision}
        assert all(one in error["message"] for one in REVISIONS)
    hello = json.dumps(GOOD["initialize"]).encode()
    assert posted(client, hello, **{"MCP-Protocol-Version": revision}).json()["result"]["protocolVersion"]
    assert posted(client, PING, **{"MCP-Protocol-Version": ""}).json()["result"] == {}


@pytest.mark.parametrize(("accept", "kind"), [
    ("application/json", "application/json"), ("text/event-stream", "text/event-stream"),
    ("*/*", "application/json"), ("", "application/json"), ("text/html", "application/json"),
    ("application/json, text/event-stream", "text/event-stream"),
])  # fmt: skip
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


def on_stdio(database: Path, lines: Sequence[bytes]) -> list[dict[str, Any]]:
    """Return the answers to lines on standard input."""
    command = ["-c", "from muisti.service.cli import main; main()", "mcp", "--database", str(database)]
    done = subprocess.run(
        [sys.executable, *command], input=b"\n".join(lines) + b"\n", capture_output=True,
        env={**os.environ, "MUISTI_EMBEDDINGS": "off"}, check=True,
    )  # fmt: skip
    assert b"Traceback" not in done.stderr, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_standard_input_answers_all_that_was_read_when_it_ends(tmp_path: Path):
    first = json.dumps({**asked("initialize", **HELLO), "id": 0}).encode()
    many = [CUT.replace(b'"id": 20', b'"id": "%d"' % number).replace(b"cut", b"%d" % number) for number in range(30)]
    wrong = [body for body, _, _ in REFUSED.values()]
    long = [
        b"x" * 20_000_000,
        b'{"id":"first","x":"%s"}' % (b"x" * 20_000_000),
        PING[:-1] + b" " * 20_000_000 + b',"id":"last"}',
    ]
    good = [json.dumps({**body, "id": f"good {name}"}).encode() for name, body in GOOD.items()]
    bad = [json.dumps({**body, "id": f"bad {name}"}).encode() for name, (body, _) in BAD.items()]
    lines = [first, *UNANSWERED.values(), *READ.values(), *wrong, *long, b"", b"\r", BATCH, CUT, *many, *good, *bad]
    answers = on_stdio(tmp_path / "m.db", lines)
    errors = [str(one["id"]) for one in answers if "error" in one or one["result"].get("isError")]
    refused = [request_id for *_, request_id in REFUSED.values()]
    expected = [*refused, None, "first", "last", 7, "eight", *(f"bad {name}" for name in BAD)]
    assert sorted(errors) == sorted(map(str, expected))
    results = [one["id"] for one in answers if "error" not in one and not one["result"].get("isError")]
    assert sorted(map(str, results)) == sorted(
        map(str, [0, *[7] * len(READ), 20, *range(30), *(f"good {name}" for name in GOOD)])
    )


def test_standard_input_speaks_both_eras_and_needs_no_initialize(tmp_path: Path):
    about = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    discover = {**asked("server/discover", _meta=about), "id": "discover"}
    modern = asked("tools/call", name="overview", arguments={}, _meta=about)
    hello, plain = {**asked("initialize", **HELLO), "id": "hello"}, {**asked("tools/list"), "id": "list"}
    for number, sent in enumerate(([plain], [discover, hello, plain], [hello, discover, modern, plain])):
        answers = on_stdio(tmp_path / f"{number}.db", [json.dumps(one).encode() for one in sent])
        assert all("result" in one for one in answers), answers
        assert sorted(str(one["id"]) for one in answers) == sorted(str(one["id"]) for one in sent)


def test_a_client_that_is_gone_ends_the_server_when_its_work_is_done(tmp_path: Path):
    command = [sys.executable, "-c", "from muisti.service.cli import main; main()"]
    options = ["--database", str(tmp_path / "m.db")]
    with subprocess.Popen(
        [*command, "mcp", *options],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "MUISTI_EMBEDDINGS": "off"},
    ) as server:  # fmt: skip
        assert server.stdin and server.stdout and server.stderr
        server.stdin.write(PING + b"\n")
        server.stdin.flush()
        server.stdout.readline()
        server.stdout.close()
        server.stdin.write(CUT + b"\n" + PING + b"\n")
        server.stdin.flush()  # input stays open: the failed answer ends it
        said = server.stderr.read()
        assert server.wait() == 0 and b"Traceback" not in said, said
    listed = subprocess.run([*command, "list", *options], capture_output=True, check=True)
    assert b"emoji" in listed.stdout
