"""Receipts and probes: an answer can be shown and replayed later, and a probe watches what should be found."""

import json
from collections.abc import Iterator, Sequence

import httpx
import pytest

from muisti.core.embedding.vectors import Vectors
from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER, Caller
from muisti.core.model.errors import Conflict, Forbidden, InvalidInput, NotFound, RecallDropped
from muisti.core.model.probes import Expectation
from muisti.core.model.values import Draft
from muisti.core.query.query import Query
from tests.core.fakes import Clock, WordEncoder
from tests.service.cli.test_cli import Run, added
from tests.service.fakes import API, draft
from tests.service.keyed import administrator, caller, with_mode
from tests.stores import Store, Stores

SPACE = "default"


def made(client: httpx.Client, text: str, **fields: object) -> str:
    answer = client.post(f"{API}/memories", json=draft(text, on_conflict="keep", **fields))
    return answer.json()["id"]


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


def test_what_is_told_of_probes_says_where_the_space_stands(client: httpx.Client):
    body = {"query": "tea", "memory_id": made(client, "tea is green")}
    seq = client.get(f"{API}/memories").headers["Muisti-Seq"]
    probe = client.post(f"{API}/probes", json=body)
    for answer in (
        probe,
        client.get(f"{API}/probes"),
        client.post(f"{API}/probes/run"),
        client.get(f"{API}/probes/runs"),
        client.delete(f"{API}/probes/{probe.json()['id']}"),
    ):
        assert answer.is_success and answer.headers["Muisti-Seq"] == seq


def test_probes_find_what_is_pinned_by_id_and_address(client: httpx.Client):
    tea = made(client, "Anna prefers tea")
    made(client, "We deploy on Fridays", category="rules", key="deploy")
    first = client.post(f"{API}/probes", json={"query": "who prefers tea", "memory_id": tea})
    assert first.status_code == 201 and first.headers["Location"].endswith(first.json()["id"])
    client.post(f"{API}/probes", json={"query": "deploy", "category": "rules", "key": "deploy", "k": 1})
    client.post(f"{API}/probes", json={"query": "deploy", "category": "rules", "key": "none"})
    listed = client.get(f"{API}/probes").json()["items"]
    assert [one["query"] for one in listed] == ["who prefers tea", "deploy", "deploy"]
    ran = client.post(f"{API}/probes/run").json()
    assert ran["recall"] == pytest.approx(2 / 3) and [one["rank"] for one in ran["ranks"]] == [1, 1, None]
    assert client.delete(f"{API}/probes/{listed[2]['id']}").status_code == 204
    assert client.delete(f"{API}/probes/{listed[2]['id']}").status_code == 404
    assert client.post(f"{API}/probes/run").json()["recall"] == 1
    assert [one["recall"] for one in client.get(f"{API}/probes/runs").json()["items"]] == [1, pytest.approx(2 / 3)]
    for wrong in (
        {},
        {"memory_id": tea, "key": "k"},
        {"memory_id": "x"},
        {"category": "c"},
        {"memory_id": tea, "k": 0},
    ):
        assert client.post(f"{API}/probes", json={"query": "q", **wrong}).status_code == 422


def test_probes_are_bounded_and_of_the_whole_space(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("muisti.core.operations.quality.probes.PROBES_MAX", 2)
    monkeypatch.setattr("muisti.core.operations.quality.probes.RUNS_MAX", 2)
    expects = Expectation(query="q", category="c", key="k")
    for _ in range(2):
        engine.probes.add(SPACE, expects, OWNER, engine.now())
    with pytest.raises(Conflict):
        engine.probes.add(SPACE, expects, OWNER, engine.now())
    with pytest.raises(Forbidden):
        engine.probes.list(SPACE, Caller("k", "c"))
    with pytest.raises(InvalidInput):
        engine.probes.add(SPACE, Expectation(query="q"), OWNER, engine.now())
    for _ in range(3):
        engine.probes.run(SPACE, OWNER, engine.now)
    assert len(engine.probes.runs(SPACE, OWNER)) == 2


class Knowing(WordEncoder):
    """Knows that a feline is a cat."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        return super().encode([text.replace("feline", "cat") for text in texts])


GOOD, WORSE = Knowing("knowing"), WordEncoder("ignorant")


@pytest.fixture
def store(stores: Stores) -> Store:
    return stores()


def opened(store: Store, encoder: WordEncoder, clock: Clock) -> Engine:
    return Engine(store.open(), encoder, clock)


@pytest.fixture
def pinned(store: Store, clock: Clock) -> Iterator[str]:
    """A space with a probe that only meaning answers; it has been run. Gives the model."""
    with opened(store, GOOD, clock) as engine:
        for n in range(12):
            engine.owner.write.add(SPACE, [Draft(content=f"alpha{n} beta{n} gamma{n}")], on_conflict="keep")
        wanted = engine.owner.write.add(SPACE, [Draft(content="cat")], on_conflict="keep").memories[0]
        engine.probes.add(SPACE, Expectation(query="feline", memory_id=wanted.id, k=1), OWNER, engine.now())
        generation = engine.spaces.get(SPACE).generation
        assert generation is not None and engine.probes.run(SPACE, OWNER, engine.now).recall == 1
        yield generation


def test_a_model_that_finds_less_is_refused_unless_forced(store: Store, clock: Clock, pinned: str):
    with opened(store, WORSE, clock) as worse:
        worse.probes.add(SPACE, Expectation(query="nothing of this is said", category="c", key="k"), OWNER, worse.now())
        with pytest.raises(RecallDropped) as refused:
            worse.reembed(SPACE, lambda *_: None)
        assert refused.value.before == 1 and refused.value.after < 1
        assert worse.spaces.get(SPACE).generation == pinned
        space = worse.reembed(SPACE, lambda *_: None, force=True)
        assert space.generation == WORSE.identity
    with opened(store, GOOD, clock) as better:
        assert better.reembed(SPACE, lambda *_: None).generation == pinned


def test_the_command_line_pins_lists_runs_and_deletes(run: Run):
    added(run, "We deploy on Fridays", "--category", "rules", "--key", "deploy")
    tea = added(run, "Anna likes tea")["id"]
    first = run("probe", "add", "deploy", "rules", "deploy").stdout.strip()
    second = run("probe", "add", "coffee", tea, "--k", "1").stdout.strip()
    assert [line.split("\t")[0] for line in run("probe", "list").stdout.splitlines()] == [first, second]
    ran = run("probe", "run", "--min-recall", "0.9")
    assert ran.exit_code == 1 and "Recall 0.500" in ran.stderr
    assert [line.split("\t")[:2] for line in ran.stdout.splitlines()] == [[first, "1"], [second, ""]]
    assert run("probe", "delete", second).stdout.strip() == second
    assert json.loads(run("probe", "run", "--json").stdout)["recall"] == 1
    assert run("probe", "delete", second).exit_code == 1
