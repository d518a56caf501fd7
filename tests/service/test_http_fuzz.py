"""Requests made up from the OpenAPI document, well formed and not: none makes the service stumble."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from litestar.testing import TestClient
from schemathesis import APIOperation, Case, GenerationMode

from core.engine import Engine
from service.app import create_app
from service.settings import Settings
from tests.core.fakes import Clock, WordEncoder
from tests.service.fakes import API, draft
from tests.service.keyed import administrator
from tests.stores import at

DOCUMENT = json.loads((Path(__file__).parents[2] / "docs" / "openapi.json").read_text("utf-8"))
OPERATIONS = {found.ok().label: found.ok() for found in schemathesis.openapi.from_dict(DOCUMENT).get_all_operations()}
EXAMPLES = 35  # of each operation in each mode
LEAKS = ("Traceback", 'File "', ".py", "SELECT ", "sqlite", "apsw")
# Any operation may answer so: its URL no longer leads to it.
ASIDE = {"no_route", "method_not_allowed"}

sent: Counter[int] = Counter()
done: set[tuple[str, GenerationMode]] = set()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    database = at(tmp_path_factory.mktemp("fuzz") / "muisti.db").open()
    engine = Engine(database, WordEncoder(), Clock())
    with TestClient(create_app(Settings(), engine=engine)) as opened:
        opened.headers.update(administrator(engine).headers)
        yield opened
    database.close()


def send(client: httpx.Client, case: Case) -> httpx.Response | None:
    """The answer, or None when the case cannot be written as HTTP."""
    try:
        request = requests.Request(**_arguments(case)).prepare()
        content = request.body.encode() if isinstance(request.body, str) else request.body
        return client.request(
            request.method or "GET", request.url or "", headers=dict(request.headers), content=content
        )
    except (requests.RequestException, httpx.InvalidURL, UnicodeError):
        return None


def _arguments(case: Case) -> dict[str, Any]:
    given = case.as_transport_kwargs(base_url="http://localhost")
    return {name: value for name, value in given.items() if name not in ("verify", "timeout", "allow_redirects")}


def check(case: Case, response: httpx.Response) -> None:
    assert response.status_code < 500, response.text
    assert not [leak for leak in LEAKS if leak in response.text]
    assert response.headers["x-request-id"]
    if response.status_code >= 400:
        problem = response.json()
        assert response.headers["content-type"] == "application/problem+json"
        assert problem["status"] == response.status_code
        if problem["code"] in ASIDE:
            return
    assert str(response.status_code) in case.operation.definition.raw["responses"]
    case.operation.validate_response(response)


def tasks() -> Iterator[Any]:
    """Each operation with each mode that it can be fuzzed in: what takes nothing cannot be asked wrongly."""
    for label, operation in OPERATIONS.items():
        yield pytest.param(label, GenerationMode.POSITIVE, id=f"{label} as it should be")
        if operation.body or any(operation.iter_parameters()):
            yield pytest.param(label, GenerationMode.NEGATIVE, id=f"{label} as it should not be")


@pytest.mark.parametrize(("label", "mode"), list(tasks()))
def test_no_request_makes_the_service_stumble(client: httpx.Client, label: str, mode: GenerationMode):
    operation: APIOperation = OPERATIONS[label]
    client.patch(f"{API}/quota", json={"memories": None, "bytes": None})  # what made-up requests have set
    memory = client.post(f"{API}/memories", json=draft(label, on_conflict="keep")).json()
    known = {"space": "default", "memory_id": memory["id"]}
    fixed = {one.name: known[one.name] for one in operation.path_parameters if one.name in known}

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def fuzz(case: Case) -> None:
        for name in fixed:
            if sent.total() % 3 and case.path_parameters:  # two in three reach the memory that there is
                case.path_parameters[name] = fixed[name]
        if sent.total() % 4:  # most points of history are wrong, and then nothing else is looked at
            case.headers.pop("Muisti-Min-Seq", None)
        response = send(client, case)
        if response is not None:
            sent[response.status_code] += 1
            check(case, response)

    fuzz()
    done.add((label, mode))


def test_a_thousand_requests_were_sent():
    if len(done) < len(list(tasks())):
        pytest.skip("not all operations were fuzzed in this run")
    assert sent.total() >= 1_000, sent
    assert {200, 201, 400, 404, 422} <= set(sent), sent
