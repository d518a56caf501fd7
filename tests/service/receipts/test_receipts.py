"""Receipts: an answer can be shown and replayed later."""

import httpx
import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER
from muisti.core.model.errors import NotFound
from muisti.core.model.values import Draft
from muisti.core.query.query import Query
from tests.core.fakes import Clock
from tests.service.fakes import API, made
from tests.service.keyed import administrator, caller, with_mode
from tests.stores import Stores

SPACE = "default"


def asked(client: httpx.Client, query: str = "tea", **fields: object) -> str:
    answer = client.post(f"{API}/search", json={"query": query, "receipt": True, **fields}).json()
    assert answer["receipt"]
    return answer["receipt"]


def replayed(client: httpx.Client, receipt: str) -> dict[str, tuple[int | None, int | None, str]]:
    answer = client.post(f"/v1/receipts/{receipt}/replay").json()
    assert answer["same"] == (not answer["differences"])
    return {one["id"]: (one["before"], one["after"], one["why"]) for one in answer["differences"]}


def test_a_receipt_tells_what_was_asked_and_answered(client: httpx.Client):
    id_ = made(client, "Anna prefers tea")
    answer = client.post(f"{API}/search", json={"query": "tea", "limit": 3, "receipt": True}).json()
    found = client.get(f"/v1/receipts/{answer['receipt']}")
    one = found.json()
    assert found.headers["Muisti-Seq"] == one["seq"] == answer["seq"]
    assert (one["parameters"]["query"], one["parameters"]["limit"], one["space"]) == ("tea", 3, SPACE)
    assert [(hit["rank"], hit["id"], hit["version"]) for hit in one["hits"]] == [(1, id_, 1)]
    assert [(hit["score"], hit["ranks"]) for hit in one["hits"]] == [
        (hit["score"], hit["ranks"]) for hit in answer["hits"]
    ]
    assert {name: one[name] for name in ("total", "evidence", "strategy", "degraded")} == {
        name: answer[name] for name in ("total", "evidence", "strategy", "degraded")
    }
    assert "receipt" not in client.post(f"{API}/search", json={"query": "tea"}).json()
    assert client.post(f"/v1/receipts/{answer['receipt']}/replay").json()["same"]


def listed(client: httpx.Client, **parameters: str | int) -> list[str]:
    return [one["id"] for one in client.get(f"{API}/receipts", params=parameters).json()["items"]]


def test_receipts_are_listed_newest_first_page_by_page(client: httpx.Client, clock: Clock):
    made(client, "Anna prefers tea")
    receipts = []
    for number in range(5):
        receipts.insert(0, asked(client, f"tea {number}"))
        clock.pass_days(1)
    assert listed(client) == receipts
    first = client.get(f"{API}/receipts", params={"limit": 2})
    page, found = first.json(), list[str]()
    while True:
        found += [one["id"] for one in page["items"]]
        if page["next_cursor"] is None:
            break
        page = client.get(f"{API}/receipts", params={"limit": 2, "cursor": page["next_cursor"]}).json()
    assert found == receipts and 'rel="next"' in first.headers["Link"]
    newest = client.get(f"{API}/receipts").json()["items"][0]
    whole = client.get(f"/v1/receipts/{receipts[0]}").json()
    assert (newest["query"], newest["kind"], newest["hits"]) == ("tea 4", "search", 1)
    assert all(newest[name] == whole[name] for name in ("made_at", "actor", "evidence", "strategy", "total", "seq"))
    times = [one["made_at"] for one in client.get(f"{API}/receipts").json()["items"]]
    assert listed(client, since=times[1]) == receipts[:2] and listed(client, until=times[1]) == receipts[2:]
    assert listed(client, since=times[3], until=times[1]) == receipts[2:4]


def test_receipts_are_chosen_by_caller_and_evidence(client: httpx.Client):
    made(client, "Anna prefers tea")
    receipt, actor = asked(client), client.get(f"{API}/receipts").json()["items"][0]["actor"]
    evidence = client.get(f"/v1/receipts/{receipt}").json()["evidence"]
    assert listed(client, actor=actor) == listed(client, evidence=evidence) == [receipt]
    other = next(one for one in ("none", "strong") if one != evidence)
    assert listed(client, actor="nobody") == listed(client, evidence=other) == []
    context = client.post(f"{API}/context", json={"query": "tea", "receipt": True}).json()["receipt"]
    assert [one["kind"] for one in client.get(f"{API}/receipts").json()["items"]] == ["context", "search"]
    assert listed(client, limit=1) == [context]
    for bad in ({"evidence": "some"}, {"since": "soon"}, {"cursor": "x"}, {"limit": 0}):
        assert client.get(f"{API}/receipts", params=bad).status_code == 422


def test_a_list_of_receipts_shows_what_may_be_read_one_by_one(
    engine: Engine, client: httpx.Client, clock: Clock, stores: Stores
):
    admin = administrator(engine)
    red, other = (caller(engine, ("read",), SPACE, category=name) for name in ("red", "blue"))
    elsewhere = caller(engine, ("read",), "elsewhere")
    client.headers.update(admin.headers)
    own = client.post(f"{API}/search", json={"query": "tea", "receipt": True}, headers=red.headers).json()["receipt"]
    whole = asked(client)
    for who in (admin, red, other):
        shown = [one["id"] for one in client.get(f"{API}/receipts", headers=who.headers).json()["items"]]
        assert shown == [
            one for one in (whole, own) if client.get(f"/v1/receipts/{one}", headers=who.headers).status_code == 200
        ]
    assert client.get(f"{API}/receipts", headers=elsewhere.headers).status_code == 404
    clock.pass_days(31)
    assert client.get(f"{API}/receipts").json()["items"] == []


def test_a_replay_says_what_differs_and_why(client: httpx.Client, clock: Clock):
    soon = {"expires_at": "2026-06-01T00:00:00Z"}
    gone, old, ending, edited = (
        made(client, f"tea number {n}", **fields) for n, fields in enumerate(({}, {}, soon, {}))
    )
    receipt = asked(client, "tea number")
    assert replayed(client, receipt) == {}
    client.delete(f"{API}/memories/{gone}")
    new = client.post(f"{API}/memories/{old}/supersede", json={"content": "tea number one"}).json()["id"]
    client.patch(f"{API}/memories/{edited}", json={"status": "deprecated"})
    clock.pass_days(10)
    found = replayed(client, receipt)
    assert {id_: why for id_, (_, _, why) in found.items()} == {
        gone: "deleted", old: "superseded", ending: "expired", edited: "status", new: "new"
    }  # fmt: skip
    assert found[new][0] is None and found[new][1] == 1 and found[gone][1] is None
    then = client.post(f"/v1/receipts/{receipt}/replay", params={"then": "true"}).json()
    assert then["same"] and len(then["answer"]["hits"]) == 4


def test_a_receipt_is_for_those_who_may_read_its_space(engine: Engine, client: httpx.Client):
    engine.owner.write.add(SPACE, [Draft(content="tea", category="c"), Draft(content="tea pot")], on_conflict="keep")
    owner = administrator(engine).headers
    receipt = client.post(f"{API}/search", json={"query": "tea", "receipt": True}, headers=owner).json()["receipt"]
    path = f"/v1/receipts/{receipt}"
    assert client.get(path, headers=with_mode(engine, "read-only", SPACE).headers).status_code == 200
    refused = client.get(path, headers=with_mode(engine, "full", "other").headers)
    missing = client.get(f"/v1/receipts/{'0' * 8}", headers=owner)
    assert (refused.status_code, missing.status_code) == (404, 404)
    assert client.get(path, headers=with_mode(engine, "append-only", SPACE).headers).status_code in (200, 403)
    part = caller(engine, ("read",), SPACE, category="c").headers
    assert client.get(path, headers=part).status_code == 404
    own = client.post(f"{API}/search", json={"query": "tea", "receipt": True}, headers=part).json()["receipt"]
    assert len(client.get(f"/v1/receipts/{own}", headers=owner).json()["hits"]) == 1
    assert client.post(f"/v1/receipts/{own}/replay", headers=owner).json()["same"]


def test_receipts_are_bounded_in_number_and_time(engine: Engine, clock: Clock, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("muisti.core.operations.quality.receipts.KEPT_MAX", 3)
    answer = engine.owner.read.search(SPACE, Query(text="tea"))
    ids = [engine.receipts.keep(SPACE, b"{}", answer, clock.at, OWNER, engine.now()) for _ in range(5)]

    def kept() -> list[bool]:
        return [_is_there(engine, one) for one in ids]

    assert kept() == [False, False, True, True, True]
    clock.pass_days(29)
    assert kept()[-1] and not engine.receipts.forget(engine.now()) and kept()[-1]
    clock.pass_days(2)
    assert not any(kept()) and not engine.receipts.forget(engine.now())


def _is_there(engine: Engine, receipt: str) -> bool:
    try:
        engine.receipts.get(receipt, lambda _: True, OWNER, engine.now())
    except NotFound:
        return False
    return True
