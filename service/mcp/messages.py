"""Reads one message of JSON-RPC, for HTTP and for standard input. What cannot be read gets an error as answer."""

import json
import re
from contextlib import suppress
from typing import Any

from muisti.core.model.decoding import repaired
from muisti.core.support.regex import regex

Json = dict[str, Any]
Id = int | str | None

PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS, UNSUPPORTED_VERSION = -32700, -32600, -32602, -32022
MODERN = "2026-07-28"  # the revision without `initialize`
HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
REVISIONS = (*HANDSHAKE, MODERN)
DEPTH = 100  # levels of objects and lists in a message; the SDK refuses a few more, and then does not name the id

_TOKEN = regex(r'"(?:[^"\\]|\\.)*"?|[\[\]{}:,]|[^\s\[\]{}:,"]+', re.DOTALL)
_LAST_ID = regex(rb'"id"\s*:\s*(-?\d{1,30}|"[^"\\]{0,200}")\s*\}\s*$')


class Unreadable(Exception):
    """A message that is no valid one. `request_ids` are the ids of its answers, None where one is not known."""

    def __init__(self, code: int, detail: str, *request_ids: Id, data: Json | None = None) -> None:
        super().__init__(detail)
        self.code, self.detail, self.data = code, detail, data
        self.request_ids = request_ids or (None,)

    def answers(self) -> list[Json]:
        """Return the error as messages, one for each request that has an id."""
        error: Json = {"code": self.code, "message": self.detail}
        if self.data is not None:
            error["data"] = self.data
        return [{"jsonrpc": "2.0", "id": one, "error": error} for one in self.request_ids]


def message_of(body: bytes) -> Json:
    """Return the message. Null for `params` counts as left out.

    >>> message_of(b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": null}')
    {'jsonrpc': '2.0', 'id': 1, 'method': 'ping'}
    >>> message_of(b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}')
    Traceback (most recent call last):
    muisti.service.mcp.messages.Unreadable: Invalid Request: id must be a string or an integer

    Raises:
        Unreadable: it is no JSON, or no message of JSON-RPC.
    """
    try:
        text = repaired(body).decode()
    except UnicodeDecodeError:
        raise Unreadable(PARSE_ERROR, "Parse error: no valid UTF-8", id_in(body)) from None
    try:
        found = json.loads(text, parse_constant=_refused)
    except RecursionError:
        raise Unreadable(PARSE_ERROR, "Parse error: nested too deeply", id_in(body)) from None
    except ValueError as error:
        raise Unreadable(PARSE_ERROR, f"Parse error: {error}", id_in(body)) from None
    if isinstance(found, list):
        detail = "Invalid Request: the message is a batch; send one message at a time"
        ids = (_usable(one.get("id")) for one in found if isinstance(one, dict))
        raise Unreadable(INVALID_REQUEST, detail, *(one for one in ids if one is not None))
    if not isinstance(found, dict):
        raise Unreadable(INVALID_REQUEST, "Invalid Request: the message is no object")
    _check(found)
    if text.count("[") + text.count("{") > DEPTH and _is_deep(found):
        raise Unreadable(INVALID_REQUEST, f"Invalid Request: nested deeper than {DEPTH} levels", found.get("id"))
    _settle(found)
    return found


def check_revision(message: Json, revision: str) -> None:
    """Raise `Unreadable` for a revision of the protocol that is not spoken here."""
    if revision not in REVISIONS:
        detail = f"Unsupported protocol version {revision[:40]!r}; this server speaks {', '.join(REVISIONS)}"
        data = {"supported": [MODERN], "requested": revision}  # those that `server/discover` names
        raise Unreadable(UNSUPPORTED_VERSION, detail, _usable(message.get("id")), data=data)


def id_in(body: bytes) -> Id:
    """Return the id in a message that cannot be read, so that its sender need not wait; None when it is not found.

    >>> id_in(b'{"jsonrpc": "2.0", "params": {"id": 1, "limit": NaN}, "id": 7}')
    7
    """
    depth, key, named = 0, "", False
    for found in _TOKEN.finditer(body.decode(errors="replace")):
        token = found[0]
        if named:
            return _read_id(token)
        depth += (token in "{[") - (token in "}]")
        named = depth == 1 and token == ":" and key == '"id"'
        key = token
    return None


def last_id(tail: bytes) -> Id:
    """Return the id with which a message ends; many clients write it last."""
    found = _LAST_ID.search(tail)
    return None if found is None else _read_id(found[1].decode())


def _read_id(token: str) -> Id:
    try:
        return _usable(json.loads(token))
    except ValueError:
        return None


def is_answer(found: Json) -> bool:
    """Tell whether a message answers a request of ours; it never gets an answer."""
    return "method" not in found and bool({"result", "error"} & found.keys())


def _check(found: Json) -> None:
    """Raise `Unreadable` for what is no message; answers of the client pass."""
    request_id = _usable(found.get("id"))

    def refuse(detail: str, code: int = INVALID_REQUEST) -> None:
        raise Unreadable(code, f"Invalid {'params' if code == INVALID_PARAMS else 'Request'}: {detail}", request_id)

    if is_answer(found):
        return
    if found.get("jsonrpc") != "2.0":
        refuse('jsonrpc must be "2.0"')
    if "method" not in found:
        refuse("there is no method")
    if "id" in found and request_id is None:
        refuse("id must be a string or an integer")
    if not isinstance(found["method"], str):
        refuse("method must be a string")
    if not isinstance(found.get("params"), dict | None):
        refuse("params must be an object", INVALID_PARAMS)


def _settle(found: Json) -> None:
    """Leave out what is null or empty, and add what `initialize` lacks: this server asks nothing of a client.

    Raises:
        Unreadable: the arguments of a tool are no object, nor the JSON of one.
    """
    if found.get("params", ...) is None:
        del found["params"]
    params = found.get("params")
    if found.get("method") == "initialize":
        about = {"name": "unknown", "version": "0"}
        usual = {"protocolVersion": HANDSHAKE[-1], "capabilities": {}, "clientInfo": about}
        found["params"] = {**usual, **{name: one for name, one in (params or {}).items() if one is not None}}
    elif params:
        if found.get("method") == "tools/call":
            params["arguments"] = _arguments(params.get("arguments"), found.get("id"))
        meta = params.get("_meta", ...)
        if meta is None:
            del params["_meta"]
        elif isinstance(meta, dict) and meta.get("progressToken", ...) is None:
            del meta["progressToken"]


def _arguments(given: Any, request_id: Id) -> Json:
    if isinstance(given, str):
        with suppress(ValueError, RecursionError):
            given = json.loads(given, parse_constant=_refused) if given.strip() else None
    if isinstance(given, dict):
        return given
    if given in (None, []):
        return {}
    raise Unreadable(INVALID_PARAMS, "Invalid params: arguments must be an object", request_id)


def _is_deep(found: Any) -> bool:
    level = [found]
    for _ in range(DEPTH):
        values = (child for one in level for child in (one.values() if isinstance(one, dict) else one))
        level = [child for child in values if isinstance(child, dict | list)]
    return bool(level)


def _usable(given: object) -> Id:
    return given if isinstance(given, int | str) and not isinstance(given, bool) else None


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")
