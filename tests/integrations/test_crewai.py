"""`MuistiStorage` under CrewAI's own memory, on a server: `make frameworks-test`, in the environment of CrewAI."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

pytest.importorskip("crewai", reason="make frameworks-test")

from crewai.memory.storage.backend import StorageBackend
from crewai.memory.types import MemoryRecord
from crewai.memory.unified_memory import Memory

import muisti
from muisti.integrations.crewai import MuistiStorage, muisti_embedder


@pytest.fixture
def memory() -> Iterator[Any]:
    with muisti.connect(os.environ["MUISTI_URL"], space=f"crew-{uuid4()}") as handle:
        yield handle


def test_crewais_memory_remembers_recalls_and_forgets(memory: Any):
    known = Memory(llm="gpt-4o-mini", storage=MuistiStorage(memory), embedder=muisti_embedder)
    for text, scope in (("Deploys go out on Fridays.", "/ops"), ("Ann drinks green tea.", "/people/ann")):
        known.remember(text, scope=scope, categories=["facts"], metadata={"team": "core"}, importance=0.5)
    found = known.recall("when do we deploy?", depth="shallow", limit=1)
    assert [one.record.content for one in found] == ["Deploys go out on Fridays."]
    (tea,) = known.recall("what does Ann drink?", scope="/people", depth="shallow")
    assert tea.record.content == "Ann drinks green tea."
    assert known.list_scopes("/") == ["/ops", "/people"] and known.info("/people").record_count == 1
    assert known.forget(scope="/people") == 1
    assert [one.content for one in known.list_records()] == ["Deploys go out on Fridays."]


def test_a_record_is_kept_whole_changed_and_found_by_each_condition(memory: Any):
    storage = MuistiStorage(memory)
    assert isinstance(storage, StorageBackend)
    now = datetime.now(UTC).replace(tzinfo=None)
    records = [
        MemoryRecord(content=f"parcel {n} is in depot {n}", scope=f"/depots/{n}", categories=["all", f"c{n}"],
                     metadata={"n": n}, created_at=now - timedelta(days=n), source="ann", private=True)
        for n in range(3)
    ]  # fmt: skip
    storage.save(records)
    assert storage.list_records() == records and storage.get_record(records[1].id) == records[1]
    storage.update(records[1].model_copy(update={"content": "parcel 1 is lost"}))
    (vector,) = muisti_embedder(["which parcel is lost?"])
    assert storage.search(vector, limit=1)[0][0].content == "parcel 1 is lost"
    assert {one.metadata["n"] for one, _ in storage.search(vector, categories=["c2"])} == {2}
    assert {one.metadata["n"] for one, _ in storage.search(vector, metadata_filter={"n": 0})} == {0}
    assert storage.list_categories("/depots") == {"all": 3, "c0": 1, "c1": 1, "c2": 1}
    assert storage.delete(older_than=now - timedelta(days=1, hours=1)) == 1
    assert storage.delete(record_ids=["unknown"]) == 0 and storage.count("/depots") == 2
    storage.reset("/depots/0")
    assert storage.count() == 1 and storage.get_scope_info("/depots").child_scopes == ["/depots/1"]


def test_a_vector_is_read_as_its_text_and_is_like_no_other():
    texts = ["a", "b", "", "hello \0 \ud800 ✓", "x" * 500, "y" * 500]
    vectors = muisti_embedder(texts)
    read = MuistiStorage.search.__globals__["_read"]
    assert [read(one) for one in vectors] == texts and vectors == muisti_embedder(texts)
    alike = [sum(x * y for x, y in zip(vectors[i], vectors[j], strict=True)) for i, j in ((0, 1), (4, 5))]
    assert all(abs(one) < 0.5 * sum(x * x for x in vectors[i]) for one, i in zip(alike, (0, 4), strict=True))
