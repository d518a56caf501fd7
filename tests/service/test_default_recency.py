"""The recency of a space or of the server holds in every search that names none."""

import json
from typing import Any

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.core.model.spaces import Policy
from muisti.service.app.app import create_app
from muisti.service.settings import Settings
from tests.core.fakes import Clock, WordEncoder
from tests.service.fakes import API, draft
from tests.service.routes.test_policy import call_tool
from tests.stores import Stores, migrated

SHORT = "application/json"
LONG = "application/json; charset=utf-8"  # answered by the framework, not by the fast path
OLD = "2001-01-01T00:00:00Z"  # so old that nothing of its freshness is left
BY_DEFAULT = {"weight": 0.5, "function": "half_life", "half_life_days": 7, "grace_days": 0}
MODES = ("hybrid", "semantic", "keyword", "metadata")


@pytest.fixture(autouse=True)
def memory(client: httpx.Client) -> dict[str, Any]:
    return client.post(f"{API}/memories", json=draft("anna prefers tea", event_at=OLD)).json()


def hit(client: httpx.Client, kind: str = SHORT, *, api: str = API, **fields: Any) -> dict[str, Any]:
    body = json.dumps({"query": "tea", "explain": True, "no_touch": True, **fields})
    answer = client.post(f"{api}/search", content=body, headers={"Content-Type": kind})
    assert answer.status_code == 200, answer.text
    return answer.json()["hits"][0]


def factor(client: httpx.Client, kind: str = SHORT, **fields: Any) -> float:
    return hit(client, kind, **fields)["explain"]["recency"]


def set_default(client: httpx.Client, weight: float | None = 0.5, half_life: float | None = 7) -> None:
    changes = {"recency_weight": weight, "recency_half_life_days": half_life}
    assert client.patch(f"{API}/policy", json=changes).status_code == 200


@pytest.mark.parametrize("kind", [SHORT, LONG])
def test_a_search_has_the_recency_of_its_space_from_the_next_one_on(client: httpx.Client, kind: str):
    kinds: list[dict[str, Any]] = [{"mode": mode} for mode in MODES]
    kinds += [{"filter": {"category": None}}, {"query": '"tea"'}, {"as_of": client.get(API).json()["seq"]}]
    kinds = [one for one in kinds if client.post(f"{API}/search", json={"query": "tea", **one}).status_code == 200]
    assert len(kinds) >= len(MODES) + 2
    for fields in kinds:
        assert factor(client, kind, **fields) == 1 and "decay" not in hit(client, kind, **fields)["explain"]
    set_default(client)
    for fields in kinds:
        assert factor(client, kind, **fields) == pytest.approx(0.5)
        assert hit(client, kind, **fields)["explain"]["decay"] == BY_DEFAULT
    set_default(client, 0)
    assert {factor(client, kind, **fields) for fields in kinds} == {1.0}


@pytest.mark.parametrize("kind", [SHORT, LONG])
def test_the_request_decides_where_it_names_one(client: httpx.Client, kind: str):
    set_default(client)
    assert factor(client, kind, recency={"weight": 0}) == 1
    assert factor(client, kind, recency={"weight": 0.2}) == pytest.approx(0.8)
    assert hit(client, kind, recency={"weight": 0.2})["explain"]["decay"]["half_life_days"] == 30
    linear = hit(client, kind, recency={"function": "linear", "lambda": 0.1})["explain"]["decay"]
    assert linear == {"weight": 0.3, "function": "linear", "lambda": 0.1, "grace_days": 0}


def test_the_mode_recent_sorts_as_before(client: httpx.Client):
    client.post(f"{API}/memories", json=draft("bob prefers tea", event_at="2026-01-01T00:00:00Z"))
    before = hit(client, mode="recent")
    set_default(client)
    assert hit(client, mode="recent")["explain"]["recency"] == pytest.approx(before["explain"]["recency"])


def test_recall_has_it_too(client: httpx.Client):
    def score(**more: float) -> float:
        return call_tool(client, "recall", {"query": "tea", **more})["structuredContent"]["memories"][0]["score"]

    plain = score()
    set_default(client)
    assert score() == pytest.approx(plain / 2, abs=0.01)
    assert score(recency_weight=0) == plain
    assert score(recency_weight=0.2) == pytest.approx(plain * 0.8, abs=0.01)


def test_what_another_process_set_holds_from_the_next_search_on(stores: Stores, clock: Clock):
    store = stores()
    with (
        Engine(store.open(), WordEncoder(), clock) as here,
        Engine(store.open(), WordEncoder(), clock) as there,
        TestClient(create_app(Settings(), engine=here)) as client,
    ):
        client.post(f"{API}/memories", json=draft("anna prefers tea", event_at=OLD))
        assert factor(client) == factor(client, LONG) == 1
        there.spaces.set_policy("default", {"recency_weight": 0.5})
        assert factor(client) == factor(client, LONG) == pytest.approx(0.5)


def test_a_fork_has_the_recency_of_its_space(client: httpx.Client):
    set_default(client)
    assert client.post(f"{API}/fork", json={"name": "copy"}).status_code == 201
    assert factor(client, api="/v1/spaces/copy") == pytest.approx(0.5)
    assert client.get("/v1/spaces/copy").json()["policy"]["recency_half_life_days"] == 7


@pytest.mark.parametrize("then", ["", "?then=true"])
def test_a_replay_has_the_recency_that_was_in_effect(client: httpx.Client, then: str):
    def kept(**fields: Any) -> dict[str, Any]:
        body = {"query": "tea", "receipt": True, "explain": True, "no_touch": True, **fields}
        return client.post(f"{API}/search", json=body).json()

    def replayed(answer: dict[str, Any]) -> float:
        again = client.post(f"/v1/receipts/{answer['receipt']}/replay{then}").json()
        return again["answer"]["hits"][0]["explain"]["recency"]

    without = kept()
    set_default(client)
    by_default, none, own = kept(), kept(recency={"weight": 0}), kept(recency={"weight": 0.2})
    parameters = client.get(f"/v1/receipts/{by_default['receipt']}").json()["parameters"]
    assert parameters["recency"] == BY_DEFAULT
    set_default(client, 0.9, 1)
    assert [replayed(one) for one in (without, by_default, none, own)] == pytest.approx([1, 0.5, 1, 0.8])


def test_the_server_has_a_default_that_a_space_overrides(stores: Stores, clock: Clock):
    policy = Policy(secrets="refuse", recency_weight=0.3, recency_half_life_days=14)
    with (
        Engine(migrated(stores()), WordEncoder(), clock, policy=policy) as engine,
        TestClient(create_app(Settings(), engine=engine)) as client,
    ):
        client.post(f"{API}/memories", json=draft("anna prefers tea", event_at=OLD))
        assert hit(client)["explain"]["decay"]["half_life_days"] == 14
        assert factor(client) == factor(client, LONG) == pytest.approx(0.7)
        set_default(client, 0.5, None)
        assert hit(client)["explain"]["decay"] == {**BY_DEFAULT, "half_life_days": 14}
        set_default(client, 0, None)
        assert factor(client) == 1
        set_default(client, None, None)
        assert factor(client) == pytest.approx(0.7)


@pytest.mark.parametrize(
    "changes",
    [{"recency_weight": 1.1}, {"recency_weight": -1}, {"recency_half_life_days": 0}, {"recency_half_life_days": 1e9}],
)
def test_what_is_out_of_bounds_is_refused(client: httpx.Client, changes: dict[str, float]):
    answer = client.patch(f"{API}/policy", json=changes)
    assert answer.status_code == 422 and answer.json()["errors"][0]["path"] == f"$.{next(iter(changes))}"
