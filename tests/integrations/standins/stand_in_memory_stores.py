"""Puts a server of Muisti in the place of the mock that the suite of Anthropic's SDK asks for memory stores.

The mock answers whatever it is asked. Here each request gets a store, with a memory of two versions. Their ids replace
the names that the suite makes up.
"""

import json
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2
import pytest
from anthropic import Anthropic, AsyncAnthropic

sys.path.append(str(Path(__file__).parents[3]))  # after the suite, whose tests have the same name as ours

from loadtests.services.muisti import serving

OF_NOTHING = "210b9798eb53baa4e69d31c1071cf03d212b8ad0ca30cf321e0ea82e120aac26"  # which the suite expects
_running = ExitStack()


@cache
def _url() -> str:
    folder = Path(_running.enter_context(TemporaryDirectory(prefix="muisti-suites-")))
    return f"http://127.0.0.1:{_running.enter_context(serving(folder / 'muisti.db')).port}"


def pytest_unconfigure() -> None:
    _running.close()


def meant(request: httpx2.Request) -> httpx2.Request:
    """Return the request with names that exist, and without what a real server cannot have: page `page`, limit 0."""
    with httpx2.Client(base_url=f"{_url()}/v1/memory_stores") as ours:
        store = ours.post("", json={"name": "suite"}).json()["id"]
        first = ours.post(f"/{store}/memories", json={"path": "/a.md", "content": "one"}).json()
        memory = ours.post(f"/{store}/memories/{first['id']}", json={"content": "two"}).json()
    names = {
        "memory_store_id": store, "memory_id": memory["id"], "memory_version_id": first["memory_version_id"],
        "content_sha256": memory["content_sha256"], "expected_content_sha256": memory["content_sha256"],
        "path_prefix": "/P/", OF_NOTHING: memory["content_sha256"],
    }  # fmt: skip
    parts = [names.get(part, part) for part in request.url.path.split("/")]
    query = [(name, names.get(value, value)) for name, value in request.url.params.multi_items()]
    query = [one for one in query if one not in (("page", "page"), ("limit", "0"))]
    url = request.url.copy_with(path="/".join(parts), params=query)
    content = json.dumps(_named(json.loads(request.content), names)).encode() if request.content else b""
    headers = {name: value for name, value in request.headers.items() if name != "content-length"}
    return httpx2.Request(request.method, url, headers=headers, content=content, extensions=request.extensions)


def _named(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: one if name == "type" else _named(one, names) for name, one in value.items()}
    return names.get(value, value) if isinstance(value, str) else value


class Transport(httpx2.HTTPTransport):
    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        return super().handle_request(meant(request))


class AsyncTransport(httpx2.AsyncHTTPTransport):
    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return await super().handle_async_request(meant(request))


@contextmanager
def _without_settings() -> Iterator[None]:
    """Leave out the variables that the SDK reads."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [*os.environ]:
            if name.startswith("ANTHROPIC_"):
                patch.delenv(name)
        yield


@pytest.fixture(scope="session")
def client(request: pytest.FixtureRequest) -> Iterator[Anthropic]:
    strict = getattr(request, "param", True)
    with _without_settings(), httpx2.Client(transport=Transport()) as http:
        yield Anthropic(base_url=_url(), api_key="any", _strict_response_validation=strict, http_client=http)


@pytest.fixture
async def async_client(request: pytest.FixtureRequest) -> AsyncIterator[AsyncAnthropic]:
    param = getattr(request, "param", True)
    strict = param if isinstance(param, bool) else param.get("strict", True)
    with _without_settings():
        async with httpx2.AsyncClient(transport=AsyncTransport()) as http:
            yield AsyncAnthropic(base_url=_url(), api_key="any", _strict_response_validation=strict, http_client=http)
