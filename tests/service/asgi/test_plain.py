"""Both paths answer every declared header, parameter, field and kind of key alike; the registries say who leaves.

Each request goes to two spaces that hold the same: on the fast path to one, on the full path to the other. A media type
with a charset means the same as one without, and is not plain.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.core.identity.grants import SCOPES, Grant
from muisti.service.app.app import create_app
from muisti.service.app.entrance import WAYS
from muisti.service.asgi.header_names import TABLE, Header, plain_headers
from muisti.service.settings import Settings
from tests.core.fakes import Clock
from tests.service.issuer import AUDIENCE, NAME, Issuer, SigningKey
from tests.service.keyed import administrator, caller, expired, revoked
from tests.service.mcp_client import LONG, PLAIN, message_of
from tests.service.paths import VARYING, calls_taken, requests_taken, samples, scrubbed, told

pytestmark = pytest.mark.one_store

FAST, FULL = "notes-a", "notes-b"  # spaces
ORIGIN = "https://notes.example"
SECRET = "github_pat_11AAAAAAA0abcdefghijkl"
REQUEST_HEADERS = [header for header in TABLE if header.way != "out"]
FRAMING = {"Content-Type", "Content-Length"}  # plain when they say JSON, and a size within the limit
# Values that mean something; every header is sent with others too.
VALUES: Mapping[str, Sequence[str]] = {
    "Authorization": ("Bearer", "Basic abc", "Bearer unknown"), "Accept": ("application/json", "text/html", "*/*"),
    "Idempotency-Key": ("a-key",), "If-Match": ("*",), "If-None-Match": ("*",), "Prefer": ("return=minimal",),
    "Muisti-Freshness": ("strong", "session"), "Muisti-Allow": ("secrets", "personal_data,secrets"),
    "traceparent": ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",),
    "Content-Type": ("text/plain", LONG, "application/x-ndjson"), "X-Request-Id": ("mine",),
    "Mcp-Protocol-Version": ("2025-06-18", "2031-01-01"), "Content-Length": ("999999999",),
    "Origin": (ORIGIN, "https://other.example"), "Accept-Encoding": ("gzip", "zstd", "identity"),
    "Content-Encoding": ("identity", "gzip"), "Host": ("localhost", "evil.example"),
}  # fmt: skip


class Plain(NamedTuple):
    """A plain request over HTTP to `end` of a space."""

    end: str
    body: dict[str, Any]

    @property
    def tool(self) -> str:
        return {"/search": "recall", "/memories": "remember"}[self.end]


SEARCH = Plain("/search", {"query": "deploy on friday"})
ADD = Plain("/memories", {"content": f"The harbour opens at five; {SECRET}", "on_conflict": "keep"})
REQUESTS = pytest.mark.parametrize("request_", [SEARCH, ADD], ids=["search", "add"])


class Pair:
    """A server, and the same request on both paths. `taken`: the path of each, None when it came to neither."""

    def __init__(self, client: TestClient[Any], taken: list[Any], calls: list[bool]) -> None:
        self.client, self.taken, self.calls = client, taken, calls

    def http(
        self, path: str, body: Any, headers: Mapping[str, str] = {}, *, kind: str = PLAIN, space: str = FAST
    ) -> httpx.Response:
        """Send a request to a path of a space."""
        sent = {"Content-Type": kind, **headers}
        content = body if isinstance(body, bytes) else json.dumps(body)
        return self.client.post(f"/v1/spaces/{space}{path}", content=content, headers=sent)

    def both(self, end: str, body: Any, headers: Mapping[str, str] = {}) -> bool | None:
        """Compare both paths; return whether the plain request took the fast one."""
        fast, full = self.http(end, body, headers), self.http(end, body, headers, kind=LONG, space=FULL)
        assert told(fast, FAST) == told(full, FULL), (end, body, headers)
        assert self.taken[-1] is not True
        return self.taken[-2]

    def call(self, name: str, arguments: Mapping[str, Any], headers: Mapping[str, str] = {}) -> bool | None:
        """Compare both paths of a call over MCP; return whether the plain one took the fast path."""
        before = len(self.calls)
        answers = [
            (self.client.post("/mcp", content=called(name, arguments, space), headers=about(name, kind) | {**headers}),
             space)
            for kind, space in ((PLAIN, FAST), (LONG, FULL))
        ]  # fmt: skip
        fast, full = (_said(answer, space) for answer, space in answers)
        assert fast == full, (name, arguments, headers)
        taken = self.calls[before:]
        assert taken in ([], [True, False], [False, False])
        return taken[0] if taken else None


def called(name: str, arguments: Mapping[str, Any], space: str) -> str:
    params = {"name": name, "arguments": {"space": space, **arguments}, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }}  # fmt: skip
    return json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params})


def about(name: str, kind: str) -> dict[str, str]:
    """Headers of a call that is plain, but for its media type."""
    return {
        "Accept": "application/json, text/event-stream", "Content-Type": kind, "Mcp-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call", "Mcp-Name": name,
    }  # fmt: skip


def _said(answer: httpx.Response, space: str) -> tuple[int, dict[str, str], Any]:
    """Return what `told` does, with the message instead of the stream that the SDK wraps it in."""
    framing = {"content-type", "cache-control", "connection", "x-accel-buffering"}
    headers = {name: value for name, value in answer.headers.items() if name not in VARYING | framing}
    stream = answer.headers.get("content-type", "").startswith("text/event-stream")
    text = json.dumps(message_of(answer)) if stream else answer.text
    said = json.dumps(json.loads(text), sort_keys=True) if text.startswith("{") else text
    return answer.status_code, headers, scrubbed(said, space)


@pytest.fixture
def pair(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pair]:
    """A server without keys, with both spaces."""
    yield from opened(engine, monkeypatch, Settings(origins=ORIGIN))


def opened(engine: Engine, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Iterator[Pair]:
    for space in (FAST, FULL):
        engine.spaces.create(space)
    app = create_app(settings, engine=engine)
    taken, calls = requests_taken(app), calls_taken(monkeypatch)
    with TestClient(app) as client:
        yield Pair(client, taken, calls)


def leaves(header: Header, *, mcp: bool) -> bool:
    """Whether the registry says that a request with some value of a header leaves the fast path.

    A call over MCP says the same in its headers and its body: other values of those headers make it no plain call.
    """
    return header.decides or (header.once if mcp else header.name in FRAMING)


def sent() -> Iterator[tuple[Header, dict[str, str]]]:
    """Yield each declared header of requests with values that mean something, one that means nothing, and none."""
    for header in REQUEST_HEADERS:
        for value in (*VALUES.get(header.name, ()), "x", ""):
            yield header, {header.name: value}


@REQUESTS
def test_every_declared_header_is_answered_alike(pair: Pair, request_: Plain):
    for header, given in sent():
        if leaves(header, mcp=False):
            pair.http(request_.end, request_.body, given)
            assert pair.taken[-1] is not True, given
        else:
            taken = pair.both(request_.end, request_.body, given)
            assert taken is (None if refused_before(given) else True), given


@pytest.mark.parametrize("header", REQUEST_HEADERS, ids=lambda header: header.name)
def test_a_header_that_decides_or_comes_twice_is_not_plain(header: Header):
    plain, name = {b"content-type": PLAIN.encode(), b"content-length": b"2"}, header.name.lower().encode()
    again = (name, plain.get(name, b"x"))
    found = plain_headers([*plain.items(), again, *([] if name in plain else [again])], 10)
    assert (found is None) == (header.decides or header.once)


def refused_before(given: Mapping[str, str]) -> bool:
    """Whether the middleware of keys or of web pages refuses a request, so that it comes to neither path."""
    return "Authorization" in given or "Sec-Fetch-Site" in given or given.get("Origin", ORIGIN) != ORIGIN


@REQUESTS
def test_every_declared_header_is_answered_alike_over_mcp(pair: Pair, request_: Plain):
    for header, given in sent():
        if header.name == "Content-Type":  # says itself which path is taken
            kind = about(request_.tool, given[header.name])
            pair.client.post("/mcp", content=called(request_.tool, request_.body, FAST), headers=kind)
            assert pair.calls[-1] is False
            continue
        taken = pair.call(request_.tool, request_.body, given)
        if refused_before(given) or leaves(header, mcp=True):
            assert taken is not True, given
        else:
            assert taken is True, given


def test_every_query_parameter_leaves_the_fast_path(pair: Pair):
    api = pair.client.get("/openapi.json").json()
    for end, way in WAYS.items():
        parameters = api["paths"][way.template]["post"].get("parameters", ())
        declared = {one["name"] for one in parameters if one["in"] == "query"}
        for name in declared | {"unknown", ""}:
            pair.http(f"{end}?{name}=true", {})
            assert pair.taken[-1] is False, name


@REQUESTS
def test_every_field_of_the_body_is_answered_alike(pair: Pair, request_: Plain):
    api = pair.client.get("/openapi.json").json()
    known = api["components"]["schemas"]
    operation = api["paths"][WAYS[request_.end].template]["post"]
    schema = operation["requestBody"]["content"][PLAIN]["schema"]
    fields = known[schema["$ref"].rpartition("/")[2]]["properties"]
    pair.both("/memories", {"content": "We deploy on Fridays", "category": "rules", "key": "deploy"})
    asked = 0
    for name, field in fields.items():
        for value in samples(field, known):
            body = {**request_.body, "content": "The harbour opens at five."} if request_ is ADD else request_.body
            assert pair.both(request_.end, {**body, name: value}) is True, (name, value)
            asked += 1
    assert asked > 4 * len(fields)


@REQUESTS
def test_a_bad_body_is_answered_alike(pair: Pair, request_: Plain):
    for body in (b'{"query": ', b'{"query": "\xff"}', b"", b"[" * 100_000, b'{"quary": "x"}', b'{"content": ""}'):
        assert pair.both(request_.end, body) is True, body


@pytest.mark.parametrize(("path", "taken"), [
    ("/v1/spaces/notes-a/search", True), ("/v1/spaces/notes%2Da/search", True),
    ("/v1/spaces/notes%2Fa/search", False), ("/v1/spaces/notes-a/search/", False),
    ("/v1/spaces/notes-a/stats", False), ("/v1/spaces//search", False),
])  # fmt: skip
def test_other_paths_leave_the_fast_path(pair: Pair, path: str, taken: bool):
    answer = pair.client.post(path, json=SEARCH.body)
    assert (pair.taken[-1] is True) == taken and (answer.status_code == 200 or not taken)


Make = Callable[[Engine], Mapping[str, str]]


def with_grant(*scopes: Any, **held: Any) -> Make:
    def made(engine: Engine) -> Mapping[str, str]:
        key = engine.keys.create(Grant(frozenset(scopes), ("notes-*",), **held), engine.now(), name="a test")
        return {"Authorization": f"Bearer {key[1]}"}

    return made


KINDS: Mapping[str, Make] = {
    "no key": lambda _: {},
    "an unknown key": lambda _: {"Authorization": "Bearer unknown"},
    **{f"scope {scope}": with_grant(*{"read", scope} if scope in ("write", "delete") else {scope}) for scope in SCOPES},
    "every scope": lambda engine: administrator(engine).headers,
    "a category": with_grant("read", "append", category="rules"),
    "a category, not its own": with_grant("read", "append", category="plans"),
    "a category, only to add": with_grant("append", category="rules"),
    "a source class": with_grant("read", "append", "write", source_class="web"),
    "another space": lambda engine: caller(engine, ("read", "append"), "elsewhere").headers,
    "expired": lambda engine: expired(engine).headers,
    "revoked": lambda engine: revoked(engine).headers,
}
TOKENS: Mapping[str, Mapping[str, Any]] = {
    **{f"token, scope {scope}": {"scope": f"read {scope}"} for scope in SCOPES}, "token, nothing": {"scope": None},
    "token, only to add": {"scope": "append"}, "token, another space": {"muisti_spaces": ["elsewhere"]},
    "token, expired": {"exp": 1}, "token, of others": {"aud": "https://other.example"},
}  # fmt: skip
BODIES: Sequence[tuple[str, dict[str, Any]]] = (
    ("/search", {"query": "harbour"}), ("/search", {"query": "harbour", "receipt": True, "limit": 3}),
    ("/search", {"query": "harbour", "filter": {"category": "plans"}}),
    ("/memories", {"content": "The harbour opens at five."}),
    ("/memories", {"content": "The harbour opens at six.", "category": "rules", "key": "harbour"}),
    ("/memories", {"content": "The harbour opens at seven.", "category": "plans", "source_class": "user"}),
    ("/memories", {"content": "The harbour opens at six.", "on_conflict": "supersede"}),
    ("/memories", {"content": SECRET}), ("/memories", {"content": ""}),
)  # fmt: skip


@pytest.fixture(scope="module")
def signing_key() -> SigningKey:
    return SigningKey("ES256", "a-key")


@pytest.fixture
def keyed(engine: Engine, signing_key: SigningKey, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pair]:
    """A server that asks for keys, takes tokens, and tells callers of their limits."""
    administrator(engine)
    with Issuer(signing_key) as issuer:
        settings = Settings(jwks=issuer.url, jwt_issuer=NAME, jwt_audience=AUDIENCE, jwt_algorithms="ES256",
                            public_url="https://memory.example", rate_limit=1_000)  # fmt: skip
        yield from opened(engine, monkeypatch, settings)


@pytest.mark.parametrize("kind", [*KINDS, *TOKENS])
def test_every_kind_of_key_is_answered_alike(
    keyed: Pair, engine: Engine, clock: Clock, signing_key: SigningKey, kind: str
):
    headers = KINDS[kind](engine) if kind in KINDS else {"Authorization": f"Bearer {signing_key.sign(**TOKENS[kind])}"}
    if kind == "expired":
        clock.pass_days(1)
    own = Allowed(keyed, headers)
    for end, body in BODIES:
        allows = {"Muisti-Allow": "secrets"} if body.get("content") == SECRET else {}
        assert keyed.both(end, body, {**headers, **allows}) is (True if own.come_in else None)
        tool = Plain(end, body).tool
        arguments = {name: value for name, value in body.items() if name != "receipt"}
        assert keyed.call(tool, arguments, {**headers, **allows}) is ((tool in own.tools) if own.known else None)


class Allowed:
    """Tools that a caller may use, as the server's `tools/list` shows."""

    def __init__(self, pair: Pair, headers: Mapping[str, str]) -> None:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        sent = {**about("", LONG), "Mcp-Protocol-Version": "2025-06-18", **headers}
        answer = pair.client.post("/mcp", json=body, headers=sent)
        self.known = answer.status_code == 200
        self.tools = {tool["name"] for tool in message_of(answer)["result"]["tools"]} if self.known else set[str]()
        self.come_in = self.known or "Authorization" not in headers  # strangers are refused behind the middleware
