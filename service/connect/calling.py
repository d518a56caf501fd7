"""Calls a tool as a client with a given configuration would, which proves that the configuration works."""

import re
import tempfile
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TextIO

import anyio
import httpx2
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from muisti.service.connect.clients import KEY, Entry, started, url_of

SECONDS = 60.0
TOOL = "overview"
_VARIABLE = re.compile(r"\$?\{(?:env:)?(\w+)\}|\$(\w+)")


class CallFailed(Exception):
    """The server did not start, did not answer, or refused. The message says which."""


@dataclass(frozen=True, slots=True)
class Called:
    """The result of a call: the names of all tools, the text of the called one, and the seconds of the whole check."""

    tools: list[str]
    said: str
    seconds: float


def call(entry: Entry, environ: Mapping[str, str], space: str | None) -> Called:
    """Start or reach the server of an entry, list its tools and call one that reads, if `TOOL` is among them.

    Raises:
        CallFailed: the server did not start, did not answer, or refused.
    """
    began = perf_counter()
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errlog:
        try:
            tools, said, refused = anyio.run(_call, entry, environ, space, errlog)
        except* (OSError, MCPError, httpx2.HTTPError, TimeoutError) as failed:
            raise CallFailed(_last_line(errlog) or _unanswered(entry, environ) or _first(failed)) from failed
    if refused:
        raise CallFailed(said)
    return Called(tools, said, perf_counter() - began)


async def _call(
    entry: Entry, environ: Mapping[str, str], space: str | None, errlog: TextIO
) -> tuple[list[str], str, bool]:
    with anyio.fail_after(SECONDS):
        async with AsyncExitStack() as opened:
            client = await opened.enter_async_context(Client(await _transport(entry, environ, opened, errlog)))
            tools = [tool.name for tool in (await client.list_tools()).tools]
            if TOOL not in tools:
                return tools, "", False
            result = await client.call_tool(TOOL, {"space": space} if space else {})
            return tools, " ".join(getattr(part, "text", "") for part in result.content), bool(result.is_error)


async def _transport(entry: Entry, environ: Mapping[str, str], opened: AsyncExitStack, errlog: TextIO) -> Any:
    if words := started(entry):
        run = StdioServerParameters(command=words[0], args=words[1:], env=dict(environ))
        return stdio_client(run, errlog=errlog)
    http = await opened.enter_async_context(httpx2.AsyncClient(headers=_headers(entry, environ), timeout=SECONDS))
    return streamable_http_client(filled(url_of(entry), environ), http_client=http)


def _headers(entry: Entry, environ: Mapping[str, str]) -> dict[str, str]:
    headers = {name: filled(value, environ) for name, value in entry.get("headers", {}).items()}
    headers |= {name: environ.get(one, "") for name, one in entry.get("env_http_headers", {}).items()}
    if variable := entry.get("bearer_token_env_var"):
        headers["Authorization"] = f"Bearer {environ.get(variable, '')}"
    return headers


def _unanswered(entry: Entry, environ: Mapping[str, str]) -> str:
    """Return why a server at a URL did not answer, and what to do; empty when that is unknown.

    The MCP client tells neither the status of a refusal nor that nothing listens.
    """
    if started(entry):
        return ""
    url = filled(url_of(entry), environ)
    try:
        status = httpx2.post(url, headers=_headers(entry, environ), json={}, timeout=SECONDS).status_code
    except httpx2.ConnectError:
        return f"no server answers at {url}; `muisti serve` starts one"
    except httpx2.HTTPError:
        return ""
    if status != httpx2.codes.UNAUTHORIZED:
        return ""
    if environ.get(KEY):
        return f"the server refuses the key in {KEY}; `muisti keys list` there shows which are open"
    return f"the server wants a key; put it into {KEY}"


def filled(text: str, environ: Mapping[str, str]) -> str:
    """Replace variables, as clients write them, by their values.

    >>> [filled(text, {"A": "1"}) for text in ("${A}", "${env:A}", "$A", "a $")]
    ['1', '1', '1', 'a $']
    """
    return _VARIABLE.sub(lambda found: environ.get(found[1] or found[2], ""), text)


def _last_line(errlog: TextIO) -> str:
    """Return the last line that the server's process wrote to stderr; empty when it wrote none."""
    errlog.seek(0)
    return next((line.strip() for line in reversed(errlog.readlines()) if line.strip()), "")


def _first(failed: BaseExceptionGroup[BaseException]) -> str:
    inner: BaseException = failed
    while isinstance(inner, BaseExceptionGroup):
        inner = inner.exceptions[0]
    return str(inner) or type(inner).__name__
