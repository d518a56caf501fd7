"""A card of the MCP server and a catalogue that names it, for clients that look for servers; off by default.

The forms are those of the draft `server-card` (SEP-2127) and of AI Catalog 1.0.
"""

import hashlib
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from muisti.service.auth.challenge import MCP_PATH, Resource
from muisti.service.mcp.messages import REVISIONS
from muisti.service.schemas.asgi import Scope, Send
from muisti.service.version import NAME, SUMMARY, TITLE, installed_repository, installed_version, server_name

Json = dict[str, Any]

CARD, CATALOG = f"{MCP_PATH}/server-card", "/.well-known/ai-catalog.json"
CARDS: Mapping[str, str] = {CARD: "application/mcp-server-card+json", CATALOG: "application/ai-catalog+json"}
SCHEMA = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"
METHODS = "GET, HEAD, OPTIONS"
OF_ALL = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": METHODS,
    "Access-Control-Allow-Headers": "Content-Type, If-None-Match",
    "Access-Control-Expose-Headers": "ETag",
    "Cache-Control": "public, max-age=3600",
    "Vary": "Host",
}


def card(url: str, *, keys: bool) -> Json:
    """Return the card of the server whose MCP is at `url`. `keys`: every caller needs one."""
    repository = installed_repository()
    authorization = {"name": "Authorization", "description": "Bearer and a key", "isRequired": keys, "isSecret": True}
    return {
        "$schema": SCHEMA,
        "name": server_name(repository),
        "version": installed_version(),
        "title": TITLE,
        "description": SUMMARY,
        "websiteUrl": repository,
        "repository": {"url": repository, "source": "github"},
        "remotes": [
            {
                "type": "streamable-http",
                "url": url,
                "headers": [authorization],
                "supportedProtocolVersions": list(REVISIONS),
            }
        ],
    }


def catalog(url: str) -> Json:
    """Return the catalogue of a domain whose card is at `url`."""
    entry = {"identifier": f"urn:air:{urlsplit(url).hostname}:mcp:{NAME}", "type": CARDS[CARD], "url": url}
    return {"specVersion": "1.0", "entries": [entry]}


class Cards:
    """Answers for the paths in `CARDS`. `url` is the public URL of the server; None: the Host of each request."""

    def __init__(self, url: str | None, *, keys: bool) -> None:
        self._server, self._keys = Resource("", url=None if url is None else url.rstrip("/")), keys

    async def __call__(self, scope: Scope, given: Mapping[bytes, bytes], send: Send) -> None:
        path, method = str(scope["path"]), str(dict(scope).get("method"))
        own = self._server.address("", list(given.items()))
        made = card(f"{own}{MCP_PATH}", keys=self._keys) if path == CARD else catalog(f"{own}{CARD}")
        body = msgspec.json.encode(made)
        tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        status = 200
        if method == "OPTIONS":
            status, body = 204, b""
        elif method not in ("GET", "HEAD"):
            status, body = 405, b""
        elif _knows(given.get(b"if-none-match", b"").decode("latin-1"), tag):
            status, body = 304, b""
        headers = {**OF_ALL, "ETag": tag, "Content-Type": CARDS[path], "Allow": METHODS}
        headers["Content-Length"] = str(len(body))
        raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": status, "headers": raw})
        await send({"type": "http.response.body", "body": b"" if method == "HEAD" else body, "more_body": False})


def _knows(given: str, tag: str) -> bool:
    return any(one.strip().removeprefix("W/") in (tag, "*") for one in given.split(","))
