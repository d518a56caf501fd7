"""Probes watch what should be found, also by a new model."""

from collections.abc import Iterator, Sequence

import httpx
import pytest

from muisti.core.embedding.vectors import Vectors
from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER, Caller
from muisti.core.model.errors import Conflict, Forbidden, InvalidInput, RecallDropped
from muisti.core.model.quality import Expectation
from muisti.core.model.values import Draft
from tests.core.fakes import Clock, WordEncoder
from tests.service.fakes import API, made
from tests.stores import Store

SPACE = "default"


def test_what_is_told_of_probes_says_where_the_space_stands(client: httpx.Client):
    body = {"query": "tea", "memory_id": made(client, "tea is green")}
    seq = client.get(f"{API}/memories").headers["Muisti-Seq"]
    probe = client.post(f"{API}/probes", json=body)
    for answer in (
        probe, client.get(f"{API}/probes"), client.post(f"{API}/probes/run"), client.get(f"{API}/probes/runs"),
        client.delete(f"{API}/probes/{probe.json()['id']}"),
    ):  # fmt: skip
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
        {}, {"memory_id": tea, "key": "k"}, {"memory_id": "x"}, {"category": "c"}, {"memory_id": tea, "k": 0},
    ):  # fmt: skip
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
