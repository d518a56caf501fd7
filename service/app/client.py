"""A small synchronous client of the HTTP API.

It does not know where the service runs: a transport that calls the application in this process serves as well as a
network. Every call returns a `Reply` or raises `ApiError` or `Unreachable`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

import msgspec

if TYPE_CHECKING:  # it takes a tenth of a second, which `--help` does without
    import httpx

END_MAX = 100  # bytes of the last line of an export, or more
TIMEOUT_SECONDS = 60.0
PROBLEM = "application/problem+json"
EVENTS = "text/event-stream"
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

Json = Mapping[str, Any]
Name = str | tuple[str, str]  # of a memory: its id, or its category and key


class Unreachable(Exception):
    """No answer came. The message says what to do."""


class ApiError(Exception):
    """The service refused. `problem` is its answer (RFC 9457), `body` the same as it came."""

    def __init__(self, status: int, problem: Json, body: bytes = b"") -> None:
        super().__init__(str(problem.get("detail") or problem.get("title") or f"the server answered {status}"))
        self.status, self.problem, self.body = status, problem, body

    @property
    def code(self) -> str:
        return str(self.problem.get("code", ""))

    @property
    def errors(self) -> list[Json]:
        """The bad fields, each with `path` and `message`."""
        return list(self.problem.get("errors") or ())

    @property
    def conflicts(self) -> list[Json]:
        """The memories that stand against the request, each with `id`, `kind`, `content` and what `differs`."""
        return list(self.problem.get("conflicts") or ())


@dataclass(frozen=True)
class Reply:
    """An answer: `body` as it came, `data` read from it."""

    body: bytes
    headers: "httpx.Headers"

    @cached_property
    def data(self) -> Any:
        return msgspec.json.decode(self.body) if self.body else None

    def saying(self, data: Any) -> "Reply":
        """Return an answer that says something else, with the same headers."""
        return Reply(msgspec.json.encode(data), self.headers)

    def part(self, name: str) -> "Reply":
        """The same answer, of which only a field counts."""
        return Reply(msgspec.json.encode(self.data[name]), self.headers)

    @property
    def milliseconds(self) -> float | None:
        """The time that the server took, from `Server-Timing`: its `total`, else the sum; None when it tells none.

        >>> Reply(b"", {"Server-Timing": "embed;dur=0.5, total;dur=2.5"}).milliseconds
        2.5
        """
        times: dict[str, float] = {}
        for entry in self.headers.get("Server-Timing", "").split(","):
            name, *parameters = (part.strip() for part in entry.split(";"))
            for parameter in parameters:
                if parameter.startswith("dur="):
                    times[name] = float(parameter.removeprefix("dur="))
        return times.get("total", sum(times.values())) if times else None


class Client:
    """The calls of the API. Close it, or use it as a context manager."""

    def __init__(self, http: "httpx.Client", *, dry_run: bool = False) -> None:
        """`dry_run`: calls that change something only tell what they would do."""
        self._http = http
        self._dry_run = dry_run

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def trying(self, dry_run: bool) -> "Client":
        """The same connection, for a dry run if it is one."""
        return Client(self._http, dry_run=True) if dry_run else self

    def allow(self, names: Sequence[str]) -> None:
        """Store from now on what the policy of a space would refuse or redact: `secrets`, `personal_data`."""
        if names:
            self._http.headers["Muisti-Allow"] = ", ".join(names)

    def ready(self) -> Reply:
        return self._call("GET", "/readyz")

    def metrics(self) -> Reply:
        """Its body is text for Prometheus."""
        return self._call("GET", "/metrics")

    def spaces(self) -> Reply:
        return self._call("GET", "/v1/spaces")

    def create_space(self, name: str, settings: Json | None = None) -> Reply:
        return self._call("POST", "/v1/spaces", json={"name": name} | ({"settings": settings} if settings else {}))

    def delete_space(self, name: str) -> Reply:
        return self._call("DELETE", f"/v1/spaces/{_part(name)}", params={"confirm": name})

    def add(
        self, space: str, memory: Json, *, on_conflict: str | None = None, idempotency_key: str | None = None
    ) -> Reply:
        body = dict(memory) | ({"on_conflict": on_conflict} if on_conflict else {})
        headers = {"Idempotency-Key": idempotency_key} if idempotency_key else {}
        return self._call("POST", f"{_space(space)}/memories", json=body, headers=headers)

    def add_batch(self, space: str, memories: Sequence[Json], *, on_conflict: str = "keep") -> Reply:
        body = {"memories": memories, "atomic": True, "on_conflict": on_conflict}
        return self._call("POST", f"{_space(space)}/memories/batch", json=body)

    def get(self, space: str, name: Name, *, as_of: str | None = None, no_touch: bool = False) -> Reply:
        params = _given(as_of=as_of, no_touch="true" if no_touch else None)
        return self._call("GET", _one(space, name), params=params)

    def put(self, space: str, name: tuple[str, str], memory: Json, *, if_version: int | None = None) -> Reply:
        """Store a memory at an address, in place of what is there."""
        return self._call("PUT", _one(space, name), json=dict(memory), headers=self._if_match(space, name, if_version))

    def telemetry(self, space: str, name: Name) -> Reply:
        return self._call("GET", f"{_one(space, name)}/telemetry")

    def give_feedback(self, space: str, name: Name, verdict: str | None) -> Reply:
        return self._call("PUT", f"{_one(space, name)}/feedback", json={"verdict": verdict})

    def list(
        self,
        space: str,
        *,
        limit: int | None = None,
        sort: str | None = None,
        cursor: str | None = None,
        filter: Json | None = None,
        as_of: str | None = None,
    ) -> Reply:
        params = _given(limit=limit, sort=sort, cursor=cursor, filter=_text(filter) if filter else None, as_of=as_of)
        return self._call("GET", f"{_space(space)}/memories", params=params)

    def search(self, space: str, query: Json) -> Reply:
        return self._call("POST", f"{_space(space)}/search", json=query)

    def receipt(self, receipt_id: str) -> Reply:
        return self._call("GET", f"/v1/receipts/{_part(receipt_id)}")

    def replay_receipt(self, receipt_id: str, *, then: bool = False) -> Reply:
        params = _given(then="true" if then else None)
        return self._call("POST", f"/v1/receipts/{_part(receipt_id)}/replay", params=params)

    def update(self, space: str, name: Name, changes: Json, *, if_version: int | None = None) -> Reply:
        headers = self._if_match(space, name, if_version)
        return self._call("PATCH", _one(space, name), json=changes, headers=headers)

    def supersede(self, space: str, name: Name, memory: Json, *, if_version: int | None = None) -> Reply:
        headers = self._if_match(space, name, if_version)
        return self._call("POST", f"{_one(space, name)}/supersede", json=dict(memory), headers=headers)

    def restore(self, space: str, name: Name, version: int | None = None, *, if_version: int | None = None) -> Reply:
        body = {} if version is None else {"version": version}
        headers = self._if_match(space, name, if_version)
        return self._call("POST", f"{_one(space, name)}/restore", json=body, headers=headers)

    def undo(self, space: str, which: Json) -> Reply:
        return self._call("POST", f"{_space(space)}/undo", json=dict(which))

    def review(self, space: str, what: str, thresholds: Json) -> Reply:
        """`what` is promote or prune."""
        return self._call("POST", f"{_space(space)}/{what}", json=dict(thresholds))

    def conflicts(self, space: str, *, limit: int, cursor: str | None = None) -> Reply:
        return self._call("GET", f"{_space(space)}/conflicts", params=_given(limit=limit, cursor=cursor))

    def decide(self, space: str, conflict_id: str, decision: str) -> Reply:
        return self._call("POST", f"{_space(space)}/conflicts/{_part(conflict_id)}", json={"decision": decision})

    def fork(self, space: str, name: str) -> Reply:
        return self._call("POST", f"{_space(space)}/fork", json={"name": name})

    def compare(self, space: str, other: str, *, limit: int, cursor: str | None = None) -> Reply:
        params = {"other": other, "limit": str(limit)} | ({} if cursor is None else {"cursor": cursor})
        return self._call("GET", f"{_space(space)}/compare", params=params)

    def merge(self, source: str, into: str, strategy: str | None = None, *, drop: bool = False) -> Reply:
        body = {"from": source, "strategy": strategy, "drop": drop}
        return self._call("POST", f"{_space(into)}/merge", json=body)

    def create_checkpoint(self, space: str, name: str, note: str | None = None) -> Reply:
        return self._call("POST", f"{_space(space)}/checkpoints", json={"name": name, "note": note})

    def checkpoints(self, space: str) -> Reply:
        return self._call("GET", f"{_space(space)}/checkpoints")

    def delete_checkpoint(self, space: str, name: str) -> Reply:
        return self._call("DELETE", f"{_space(space)}/checkpoints/{_part(name)}")

    def diff(self, space: str, since: str, until: str | None, *, limit: int, cursor: str | None = None) -> Reply:
        given = {"since": since, "until": until, "limit": str(limit), "cursor": cursor}
        params = {name: value for name, value in given.items() if value is not None}
        return self._call("GET", f"{_space(space)}/diff", params=params)

    def roll_back(self, space: str, to: str) -> Reply:
        return self._call("POST", f"{_space(space)}/rollback", json={"to": to})

    def lint(self, space: str, params: Mapping[str, str]) -> Reply:
        return self._call("GET", f"{_space(space)}/lint", params=params)

    def send(self, method: str, path: str, body: Json | None, *, dry_run: bool) -> Reply:
        """A request that an answer has told, with its query."""
        path, _, query = path.partition("?")
        params = dict(part.split("=") for part in query.split("&") if part)
        params |= {"dry_run": "true" if dry_run else "false"}
        return self._call(method, path, json=body, params=params)

    def create_webhook(self, space: str, webhook: Json) -> Reply:
        return self._call("POST", f"{_space(space)}/webhooks", json=webhook)

    def webhooks(self, space: str) -> Reply:
        return self._call("GET", f"{_space(space)}/webhooks")

    def delete_webhook(self, space: str, webhook_id: str) -> Reply:
        return self._call("DELETE", f"{_space(space)}/webhooks/{_part(webhook_id)}")

    def redeliver_webhook(self, space: str, webhook_id: str, since: int | None) -> Reply:
        return self._call("POST", f"{_space(space)}/webhooks/{_part(webhook_id)}/redeliver", json={"since": since})

    def history(self, space: str, name: Name) -> Reply:
        return self._call("GET", f"{_one(space, name)}/history")

    def changes(self, space: str, params: Mapping[str, str]) -> Reply:
        return self._call("GET", f"{_space(space)}/changes", params=params)

    def add_probe(self, space: str, probe: Json) -> Reply:
        return self._call("POST", f"{_space(space)}/probes", json=probe)

    def probes(self, space: str) -> Reply:
        return self._call("GET", f"{_space(space)}/probes")

    def run_probes(self, space: str) -> Reply:
        return self._call("POST", f"{_space(space)}/probes/run")

    def delete_probe(self, space: str, probe_id: str) -> Reply:
        return self._call("DELETE", f"{_space(space)}/probes/{_part(probe_id)}")

    def listen(self, space: str, params: Mapping[str, str], last: str | None) -> Iterator[tuple[str, Any]]:
        """Changes as they happen, after the event `last`: the id of each event, and what it tells, if anything.

        Ends when the server ends it; go on from the last id. Raises what a call does.
        """
        httpx = import_module("httpx")
        headers = {"Accept": EVENTS, **({} if last is None else {"Last-Event-ID": last})}
        try:
            with self._http.stream("GET", f"{_space(space)}/changes", params=dict(params), headers=headers) as response:
                if not response.is_success:
                    response.read()
                    raise _refusal(response)
                yield str(response.headers["Muisti-Seq"]) if last is None else last, None
                for event in _events(response.iter_lines()):
                    if event.get("event") == "end":
                        return
                    if "id" in event:
                        data = event.get("data")
                        yield event["id"], None if data is None else msgspec.json.decode(data)
        except httpx.HTTPError as error:
            raise Unreachable(f"the connection to {self._http.base_url} failed: {error}") from error

    def delete(self, space: str, name: Name, *, if_version: int | None = None) -> Reply:
        return self._call("DELETE", _one(space, name), headers=self._if_match(space, name, if_version))

    def purge(self, space: str, name: Name, *, dry_run: bool = False) -> Reply:
        params = {"purge": "true"} | ({"dry_run": "true"} if dry_run else {})
        return self._call("DELETE", _one(space, name), params=params)

    def purge_some(self, space: str, which: Json, *, dry_run: bool = False) -> Reply:
        params = {"dry_run": "true"} if dry_run else {}
        return self._call("POST", f"{_space(space)}/purge", json=dict(which), params=params)

    def signing_keys(self) -> Reply:
        return self._call("GET", "/v1/signing-keys")

    def categories(self, space: str, *, as_of: str | None = None) -> Reply:
        return self._call("GET", f"{_space(space)}/categories", params=_given(as_of=as_of))

    def tags(self, space: str, *, as_of: str | None = None) -> Reply:
        return self._call("GET", f"{_space(space)}/tags", params=_given(as_of=as_of))

    def stats(self, space: str, *, as_of: str | None = None) -> Reply:
        return self._call("GET", f"{_space(space)}/stats", params=_given(as_of=as_of))

    def set_quota(self, space: str, changes: Json) -> Reply:
        return self._call("PATCH", f"{_space(space)}/quota", json=changes)

    def space(self, name: str) -> Reply:
        return self._call("GET", _space(name))

    def set_policy(self, space: str, changes: Json) -> Reply:
        return self._call("PATCH", f"{_space(space)}/policy", json=changes)

    def keys(self) -> Reply:
        return self._call("GET", "/v1/keys")

    def create_key(self, key: Json) -> Reply:
        return self._call("POST", "/v1/keys", json=key)

    def revoke_key(self, key_id: str) -> Reply:
        return self._call("DELETE", f"/v1/keys/{_part(key_id)}")

    def rotate_key(self, key_id: str, how: Json) -> Reply:
        return self._call("POST", f"/v1/keys/{_part(key_id)}/rotate", json=how)

    def audit(self, *, limit: int) -> Reply:
        return self._call("GET", "/v1/audit", params={"limit": str(limit)})

    @contextmanager
    def export(self, space: str, params: Mapping[str, str]) -> Iterator[Iterator[bytes]]:
        """The lines of a space, in pieces, as they come.

        Raises:
            Unreachable: they break off before the last one.
        """
        path = f"{_space(space)}/export"
        with self._reaching(), self._http.stream("GET", path, params=params, timeout=None) as response:
            if not response.is_success:
                response.read()
                raise _refusal(response)
            yield _whole(response.iter_raw())

    def bring(self, space: str, pieces: Iterable[bytes], params: Mapping[str, str]) -> Reply:
        """Send a file in the format of exports, piece by piece."""
        headers = {"Content-Type": "application/x-ndjson"}
        path = f"{_space(space)}/import"
        with self._reaching():
            response = self._http.post(path, content=pieces, params=params, headers=headers, timeout=None)
        if not response.is_success:
            raise _refusal(response)
        return Reply(response.content, response.headers)

    def imports(self, space: str) -> Reply:
        return self._call("GET", f"{_space(space)}/imports")

    def undo_import(self, space: str, number: int) -> Reply:
        return self._call("POST", f"{_space(space)}/imports/{number}/undo")

    def _if_match(self, space: str, name: Name, version: int | None) -> dict[str, str]:
        """Return the header that asks for a version. Of an address the id is asked first: ETags are made of ids."""
        if version is None:
            return {}
        one = name if isinstance(name, str) else self.history(space, name).data["items"][0]["memory"]["id"]
        return {"If-Match": f'"{one}.{version}"'}

    def _call(
        self,
        method: str,
        path: str,
        *,
        json: Json | None = None,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        if self._dry_run:
            params = {**(params or {}), "dry_run": "true"}
        content = None if json is None else msgspec.json.encode(json)
        typed = {"Content-Type": "application/json"} if content is not None else {}
        with self._reaching():
            response = self._http.request(
                method, path, content=content, params=params or None, headers={**typed, **(headers or {})}
            )
        if not response.is_success:
            raise _refusal(response)
        return Reply(response.content, response.headers)

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        """Say what to do when no answer comes."""
        httpx = import_module("httpx")
        try:
            yield
        except httpx.ConnectError as error:
            raise Unreachable(
                f"no server answers at {self._http.base_url}. Start one with `muisti serve`, or leave out --url and "
                "MUISTI_URL to work on the local file."
            ) from error
        except httpx.TimeoutException as error:
            raise Unreachable(
                f"{self._http.base_url} did not answer within {TIMEOUT_SECONDS:.0f} s. A write may have been stored "
                "all the same: look before you repeat it, or give it an --idempotency-key."
            ) from error
        except httpx.HTTPError as error:
            raise Unreachable(f"the connection to {self._http.base_url} failed: {error}") from error


def connect(url: str, key: str | None = None) -> Client:
    """A client of a running server, such as http://127.0.0.1:8321, with a key if it asks for one.

    Raises:
        ValueError: this is no http or https URL.
    """
    httpx = import_module("httpx")
    try:
        parsed = httpx.URL(url.rstrip("/").removesuffix("/v1"))
    except httpx.InvalidURL as error:
        raise ValueError(f"{url!r} is no URL: {error}") from error
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise ValueError(f"{url!r} is no URL of a server, such as http://127.0.0.1:8321")
    # A proxy of the environment leads away from this machine.
    trusted = parsed.host not in LOOPBACK
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return Client(httpx.Client(base_url=parsed, timeout=TIMEOUT_SECONDS, trust_env=trusted, headers=headers))


def through(transport: "httpx.BaseTransport") -> Client:
    """A client over a transport of the caller's; closing the client closes the transport."""
    return Client(import_module("httpx").Client(transport=transport, base_url="http://localhost"))


def _whole(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces of an export. Raises Unreachable behind the last of them when that is not its end."""
    lines, tail = 0, b""
    for piece in pieces:
        lines += piece.count(b"\n")
        tail = (tail + piece)[-END_MAX:]
        yield piece
    if tail.rstrip(b"\n").rpartition(b"\n")[2] != b'{"type":"end","lines":%d}' % (lines - 1):
        raise Unreachable(f"the export broke off after {lines:,} lines, without the one that ends it: export again")


def _events(lines: Iterable[str]) -> Iterator[dict[str, str]]:
    """Server-sent events by their fields.

    >>> list(_events(["id: 1", "event: created", "data: {}", "", ": still here", ""]))
    [{'id': '1', 'event': 'created', 'data': '{}'}]
    """
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        if name:
            fields[name] = value.removeprefix(" ")
        elif not line and fields:
            yield fields
            fields = {}


def _refusal(response: "httpx.Response") -> ApiError:
    kind = response.headers.get("Content-Type", "").partition(";")[0]
    if kind == PROBLEM:
        return ApiError(response.status_code, msgspec.json.decode(response.content), response.content)
    detail = f"{response.url.host} answered {response.status_code} without saying why; is it a Muisti server?"
    return ApiError(response.status_code, {"status": response.status_code, "detail": detail})


def _space(name: str) -> str:
    return f"/v1/spaces/{_part(name)}"


def _one(space: str, name: Name) -> str:
    """Return the path of a memory."""
    if isinstance(name, str):
        return f"{_space(space)}/memories/{_part(name)}"
    return f"{_space(space)}/entries/{_part(name[0])}/{_part(name[1])}"


def _part(text: str) -> str:
    """A segment of a path. Dots alone would be read as steps up."""
    return quote(text, safe="") if text.strip(".") else text.replace(".", "%2E")


def _given(**parameters: str | int | None) -> dict[str, str]:
    """The parameters that have a value."""
    return {name: str(value) for name, value in parameters.items() if value is not None}


def _text(json: Json) -> str:
    return msgspec.json.encode(json).decode()
