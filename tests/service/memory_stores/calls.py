"""Calls of the paths of memory stores, as Anthropic's SDK makes them."""

from hashlib import sha256
from typing import Any

import httpx

STORES = "/v1/memory_stores"
DEFAULT = f"{STORES}/memstore_default"


def told(answer: httpx.Response) -> Any:
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(answer: httpx.Response) -> tuple[int, str]:
    """Return status and type of an error, which has the form of the SDK."""
    body = answer.json()
    assert body["type"] == "error" and body["error"].keys() == {"type", "code", "message"}, body
    return answer.status_code, body["error"]["type"]


def store(client: httpx.Client, name: str = "Notes", **fields: Any) -> str:
    return f"{STORES}/{told(client.post(STORES, json={'name': name, **fields}))['id']}"


def file(client: httpx.Client, at: str, path: str, content: str = "We deploy on Tuesdays") -> dict[str, Any]:
    return told(client.post(f"{at}/memories", json={"path": path, "content": content}))


def edited(client: httpx.Client, at: str, made: dict[str, Any], content: str) -> dict[str, Any]:
    return told(client.post(f"{at}/memories/{made['id']}", json={"content": content}))


def pages(client: httpx.Client, path: str, **query: Any) -> list[dict[str, Any]]:
    """Return the items of all pages of a list."""
    found, page = [], {}
    while True:
        answer = told(client.get(path, params={"beta": "true", **query, **page}))
        found += answer["data"]
        if answer["next_page"] is None:
            return found
        page = {"page": answer["next_page"]}


def paths(client: httpx.Client, at: str, **query: Any) -> list[str]:
    return [one["path"] for one in pages(client, f"{at}/memories", **query)]


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
