"""Requests made up from the OpenAPI document, well formed and not: none makes the service stumble."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from hypothesis import given
from litestar.testing import TestClient
from schemathesis import APIOperation, Case, GenerationMode

from muisti.core.engine import Engine
from muisti.service.app.app import create_app
from muisti.service.settings import Settings
from tests.core.fakes import Clock, WordEncoder
from tests.service.fakes import API, draft
from tests.service.fuzz import SCHEMA, check, examples, send
from tests.service.keyed import administrator
from tests.stores import at

pytestmark = pytest.mark.prove


OPERATIONS = {found.ok().label: found.ok() for found in SCHEMA.get_all_operations()}
EXAMPLES, MANY = 6, 60  # of each operation in each mode; MANY with --long

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


def tasks() -> Iterator[Any]:
    """Each operation with each mode that it can be fuzzed in: what takes nothing cannot be asked wrongly."""
    for label, operation in OPERATIONS.items():
        yield pytest.param(label, GenerationMode.POSITIVE, id=f"{label} as it should be")
        if operation.body or any(operation.iter_parameters()):
            yield pytest.param(label, GenerationMode.NEGATIVE, id=f"{label} as it should not be")


@pytest.mark.parametrize(("label", "mode"), list(tasks()))
def test_no_request_makes_the_service_stumble(client: httpx.Client, label: str, mode: GenerationMode, long: bool):
    operation: APIOperation = OPERATIONS[label]
    client.patch(f"{API}/quota", json={"memories": None, "bytes": None})  # what made-up requests have set
    memory = client.post(f"{API}/memories", json=draft(label, on_conflict="keep")).json()
    known = {"space": "default", "memory_id": memory["id"]}
    fixed = {one.name: known[one.name] for one in operation.path_parameters if one.name in known}

    @examples(MANY if long else EXAMPLES, long=long)
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


def test_hundreds_of_requests_were_sent():
    if len(done) < len(list(tasks())):
        pytest.skip("not all operations were fuzzed in this run")
    assert sent.total() >= 250, sent
    assert {200, 201, 400, 404, 422} <= set(sent), sent
