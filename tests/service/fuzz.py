"""Requests made up from the OpenAPI document: how they are sent, and what holds for every answer."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis import Case

DOCUMENT = json.loads((Path(__file__).parents[2] / "docs" / "openapi.json").read_text("utf-8"))
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)


@schemathesis.serializer("application/x-ndjson")
def ndjson(_: object, value: Any) -> bytes:
    """A line of a file, whatever it is."""
    return value if isinstance(value, bytes) else json.dumps(value).encode()


LEAKS = ("Traceback", 'File "', "SELECT ", "sqlite", "apsw")
SOURCE = re.compile(r"[\w-]+\.py\b")  # a file of source code; those of the examples may be named
KNOWN = {*SOURCE.findall(json.dumps(DOCUMENT))}
# Any operation may answer so: its URL no longer leads to it.
ASIDE = {"no_route", "method_not_allowed"}


def examples(number: int, *, long: bool, **more: Any) -> settings:
    """Return hypothesis settings: the same examples each time, and random ones when `long`."""
    return settings(
        max_examples=number, derandomize=not long, database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck), **more,
    )  # fmt: skip


def send(client: httpx.Client, case: Case, headers: Mapping[str, str] = {}) -> httpx.Response | None:
    """The answer, or None when the case cannot be written as HTTP."""
    try:
        request = requests.Request(**_arguments(case)).prepare()
        content = request.body.encode() if isinstance(request.body, str) else request.body
        return client.request(
            request.method or "GET", request.url or "", headers={**request.headers, **headers}, content=content
        )
    except (requests.RequestException, httpx.InvalidURL, UnicodeError):
        return None


def _arguments(case: Case) -> dict[str, Any]:
    given = case.as_transport_kwargs(base_url="http://localhost")
    return {name: value for name, value in given.items() if name not in ("verify", "timeout", "allow_redirects")}


def check(case: Case, response: httpx.Response) -> None:
    """It is an answer that the document tells of, and tells nothing of what is inside."""
    assert response.status_code < 500, response.text
    sent = str(_arguments(case))  # made up, and may come back: a space called `a.py`
    assert not [leak for leak in LEAKS if leak in response.text and leak not in sent]
    assert ".py" in sent or {*SOURCE.findall(response.text)} <= KNOWN
    assert response.headers["x-request-id"]
    if response.status_code >= 400:
        problem = response.json()
        assert response.headers["content-type"] == "application/problem+json"
        assert problem["status"] == response.status_code
        if problem["code"] in ASIDE:
            return
    assert str(response.status_code) in case.operation.definition.raw["responses"]
    if "preference-applied" in response.headers:  # what no document can say: the body is there or not, as was asked
        assert response.content == b""
        return
    case.operation.validate_response(response)
