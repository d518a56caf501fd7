"""Reads one message of JSON-RPC, for HTTP and for standard input. What cannot be read gets an error as answer."""

import json
from typing import Any

from muisti.service.http.repair import repaired

Json = dict[str, Any]

PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS = -32700, -32600, -32602


class Unreadable(Exception):
    """A message that is no valid one. `request_id` is the id of its answer, None when it is not known."""

    def __init__(self, code: int, detail: str, request_id: int | str | None = None) -> None:
        super().__init__(detail)
        self.code, self.detail, self.request_id = code, detail, request_id

    def answer(self) -> Json:
        """Return the error as a message."""
        return {"jsonrpc": "2.0", "id": self.request_id, "error": {"code": self.code, "message": self.detail}}


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
        raise Unreadable(PARSE_ERROR, "Parse error: no valid UTF-8", _id_in(body)) from None
    found = _parsed(text)
    if not isinstance(found, dict):
        what = "a batch; send one message at a time" if isinstance(found, list) else "no object"
        raise Unreadable(INVALID_REQUEST, f"Invalid Request: the message is {what}")
    _check(found)
    if found.get("params", ...) is None:
        del found["params"]
    return found


def _check(found: Json) -> None:
    """Raise `Unreadable` for what is no message; answers of the client pass."""
    request_id = _usable(found.get("id"))

    def refuse(detail: str, code: int = INVALID_REQUEST) -> None:
        words = "Invalid params" if code == INVALID_PARAMS else "Invalid Request"
        raise Unreadable(code, f"{words}: {detail}", request_id)

    if found.get("jsonrpc") != "2.0":
        refuse('jsonrpc must be "2.0"')
    if "method" not in found:
        if request_id is None or not {"result", "error"} & found.keys():
            refuse("there is no method")
        return
    if "id" in found and request_id is None:
        refuse("id must be a string or an integer")
    if not isinstance(found["method"], str):
        refuse("method must be a string")
    if not isinstance(found.get("params"), dict | None):
        refuse("params must be an object", INVALID_PARAMS)


def _usable(given: object) -> int | str | None:
    return given if isinstance(given, int | str) and not isinstance(given, bool) else None


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refused)
    except RecursionError:
        raise Unreadable(PARSE_ERROR, "Parse error: nested too deeply") from None
    except ValueError as error:
        raise Unreadable(PARSE_ERROR, f"Parse error: {error}") from None


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _id_in(body: bytes) -> int | str | None:
    """Return the id in a message whose texts are no valid UTF-8, so that its sender need not wait."""
    try:
        found = _parsed(body.decode(errors="replace"))
    except Unreadable:
        return None
    return _usable(found.get("id")) if isinstance(found, dict) else None
