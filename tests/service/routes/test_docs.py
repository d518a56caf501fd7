"""docs/reference/http.md is complete, and its examples are true."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import httpx

from muisti.service.openapi.words import HEADERS
from muisti.service.schemas.requests import SearchBody

TEXT = (Path(__file__).parents[3] / "docs" / "reference" / "http.md").read_text("utf-8")
EXAMPLES = re.findall(r"```sh\n(.*?)\n```\n\n```json\n(.*?)\n```", TEXT, re.DOTALL)


def test_every_route_is_documented(client: httpx.Client):
    paths = client.get("/openapi.json").json()["paths"]
    routes = [f"| `{method.upper()} {path}` |" for path, item in paths.items() for method in item]
    assert [route for route in routes if route not in TEXT] == []


def test_every_header_and_field_of_a_search_is_documented():
    names = [
        *HEADERS,
        "Muisti-Min-Seq",
        "Muisti-Freshness",
        "Idempotency-Key",
        "If-Match",
        "If-None-Match",
        *SearchBody.__struct_fields__,
    ]
    assert [name for name in names if f"`{name}`" not in TEXT] == []


def run(client: httpx.Client, line: str) -> Any:
    """Send the request of a curl command line, and return its answer."""
    words = iter(shlex.split(line))
    assert [next(words), next(words)] == ["curl", "-s"]
    url, method, body, headers = "", "GET", None, {}
    for word in words:
        match word:
            case "-X":
                method = next(words)
            case "-H":
                name, _, value = next(words).partition(": ")
                headers[name] = value
            case "--json" | "--data-binary":
                body = next(words)
                method = "POST" if method == "GET" else method
                headers.setdefault("Content-Type", "application/json")
            case _:
                url = word
    return client.request(method, f"http://{url}", content=body, headers=headers).json()


def check(shown: Any, found: Any) -> None:
    """An example shows a part of the answer; … stands for anything."""
    if isinstance(shown, dict):
        for name, value in shown.items():
            check(value, found[name])
    elif isinstance(shown, list):
        assert len(shown) == len(found)
        for one, other in zip(shown, found, strict=True):
            check(one, other)
    elif shown != "…":
        assert shown == found


def test_the_examples_are_true_in_their_order(client: httpx.Client):
    assert len(EXAMPLES) == TEXT.count("```sh")
    for line, shown in EXAMPLES:
        check(json.loads(shown), run(client, line))
