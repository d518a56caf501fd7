"""Objects that order memories are versioned like memories, and no search, list, count or check meets them."""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from muisti.core.embedding.models import Models
from muisti.core.engine import Engine
from muisti.core.model.errors import Conflict, InvalidInput
from muisti.core.model.values import Draft, Json, Kind
from muisti.core.operations.checkup import look
from muisti.core.operations.repair import mend, recover
from muisti.core.query.filters import parse
from muisti.core.query.query import Query
from muisti.core.store.file.database import FileDatabase
from tests.core.fakes import SPACE, Clock, WordEncoder, add, open_engine

TALK = {"id": "0197a3c0-5f4e-7000-8000-000000000001", "content": "Moving to Turku", "kind": "conversation",
        "conversation": "c-1", "session": "s-1", "structure": {"users": ["Ann"], "state": "open"}}  # fmt: skip
TURNS = [
    {"id": f"0197a3c0-5f4e-7000-8000-00000000001{turn}", "content": text, "kind": "exchange", "conversation": "c-1",
     "turn": turn, "author": author}
    for turn, (author, text) in enumerate(
        [("Ann", "I moved to Turku"), ("Bob", "When was that?"), ("Ann", "In the spring")]
    )
]  # fmt: skip


def bring(engine: Engine, *memories: Mapping[str, Json], space: str = SPACE) -> None:
    """Import memories with their places among conversations."""
    coming = engine.owner.write.begin_import(space)
    lines = [{"type": "muisti", "format": 2}, *({"type": "memory", "memory": one} for one in memories)]
    coming.take([msgspec.json.encode(line) for line in (*lines, {"type": "end", "lines": len(lines)})])
    assert not coming.finish().failed


@pytest.mark.one_store
def test_no_search_list_or_count_meets_an_object(engine: Engine):
    add(engine, "The moving van to Turku is booked", category="home")
    before = engine.owner.read.stats(SPACE)
    bring(engine, {**TALK, "category": "home", "tags": ["move"]})
    read = engine.owner.read
    hits = read.search(SPACE, Query(text="Turku", mode="keyword")).hits
    assert [hit.memory.kind for hit in hits] == ["memory"]
    assert {hit.memory.kind for hit in read.search(SPACE, Query(text="", mode="recent")).hits} == {"memory"}
    assert [one.kind for one in read.list(SPACE).items] == ["memory"]
    (talk,) = read.list(SPACE, filter=parse({"kind": "conversation"})).items
    assert (talk.conversation, talk.session, talk.structure["users"]) == ("c-1", "s-1", ["Ann"])
    after = read.stats(SPACE)
    assert (after.memories, after.by) == (before.memories, before.by)
    assert after.usage is not None and before.usage is not None
    assert after.usage.memories == before.usage.memories + 1  # the conversation, which a quota counts
    assert after.usage.bytes > before.usage.bytes
    assert [(one.name, one.count) for one in read.categories(SPACE).items] == [("home", 1)]
    assert not read.tags(SPACE).items
    report = engine.owner.review.lint(SPACE)
    assert (report.checked, report.items) == (1, ())


def test_an_object_opposes_no_memory(engine: Engine):
    """Neither as a duplicate nor as a contradiction, in the index or in SQL."""
    bring(engine, TALK, *TURNS)
    engine.owner.read.search(SPACE, Query(text="Turku"))
    for text in (TALK["content"], TURNS[0]["content"], TURNS[2]["content"]):
        engine.owner.write.add(SPACE, [Draft(content=str(text))], on_conflict="reject")
    waiting = engine.owner.write.add(SPACE, [Draft(content="Moving to Turku!")], on_conflict="review")
    assert all(one.content != TALK["content"] or one.id != TALK["id"] for one in waiting.similar)


def test_calls_of_memories_leave_objects_and_places_alone(engine: Engine):
    bring(engine, TALK, *TURNS)
    write, talk, turn = engine.owner.write, str(TALK["id"]), str(TURNS[0]["id"])
    for call in (
        lambda: write.update(SPACE, talk, {"content": "Else"}),
        lambda: write.delete(SPACE, talk),
        lambda: write.supersede(SPACE, talk, Draft(content="Else")),
    ):
        with pytest.raises(Conflict, match="calls of conversations"):
            call()
    kinds: tuple[Kind, ...] = ("session", "conversation", "topic", "summary")
    bad = [Draft(content="x", kind=kind) for kind in kinds]
    bad += [Draft(content="x", conversation="c-1"), Draft(content="x", turn=3), Draft(content="x", topic="t")]
    for draft in bad:
        with pytest.raises(InvalidInput):
            write.add(SPACE, [draft], on_conflict="keep")
        with pytest.raises(InvalidInput):
            write.put(SPACE, msgspec.structs.replace(draft, category="c", key="k"))
    for change in ({"kind": "memory"}, {"category": "home"}):
        with pytest.raises(InvalidInput):
            write.update(SPACE, turn, change)
    corrected = write.update(SPACE, turn, {"content": "I moved to Tampere"}).memories[0]
    assert (corrected.conversation, corrected.turn) == ("c-1", 0)


@pytest.mark.file_only
def test_versions_without_passages_are_whole(tmp_path: Path):
    path, encoder = tmp_path / "a.db", WordEncoder()
    with open_engine(path, encoder=encoder) as engine:
        bring(engine, TALK, *TURNS)
    with closing(FileDatabase(path)) as database:
        found = look(database, Models(encoder), lambda done, total: None)
        assert not found.flaws and not found.counts and not found.segments
        assert not mend(database, Models(encoder), found, 0)
    with open_engine(path, encoder=WordEncoder("other")) as engine:
        engine.reembed(SPACE, lambda done, total: None)
        assert engine.owner.read.search(SPACE, Query(text="Turku")).hits
    recover(path, tmp_path / "b.db", Models(encoder), 0, lambda what, done, total: None)
    with open_engine(tmp_path / "b.db", encoder=encoder) as engine:
        kept = engine.owner.read.list(
            SPACE, filter=parse({"conversation": "c-1", "kind": ["conversation", "exchange"]})
        )
        assert sorted(one.id for one in kept.items) == sorted(str(one["id"]) for one in (TALK, *TURNS))


@pytest.mark.file_only
def test_an_index_packs_and_loads_past_objects(tmp_path: Path):
    """A thousand objects in a row end no load, and packing goes on behind them."""
    path, clock = tmp_path / "a.db", Clock()
    with open_engine(path, clock=clock) as engine:
        add(engine, "The first tree")
        names = [f"c-{number}" for number in range(1_200)]
        bring(engine, *({"content": name, "kind": "conversation", "conversation": name} | _id(n) for n, name in
                        enumerate(names)))  # fmt: skip
        for start in range(0, 1_200, 400):
            add(engine, *(f"stone {number}" for number in range(start, start + 400)))
        add(engine, "The last tree")
        engine.owner.read.search(SPACE, Query(text="tree"))
        engine.settle()
    with open_engine(path, clock=clock) as engine:
        hits = engine.owner.read.search(SPACE, Query(text="tree", mode="keyword")).hits
        assert {hit.memory.content for hit in hits} == {"The first tree", "The last tree"}
    with closing(FileDatabase(path)) as database:
        found = look(database, Models(WordEncoder()), lambda done, total: None)
        assert not found.flaws and not found.segments


def test_merging_pairs_what_stands_at_the_same_place(engine: Engine):
    engine.spaces.create("t", engine.spaces.get(SPACE).settings)
    bring(engine, TALK, *TURNS)
    others = [{**one, "id": str(one["id"]).replace("8000", "8001")} for one in (TALK, *TURNS)]
    later = {**others[3], "content": "I moved to Turku", "turn": 3, "id": "0197a3c0-5f4e-7000-8001-00000000009a"}
    bring(engine, *others, later, space="t")
    engine.owner.timeline.merge("t", SPACE)
    read = engine.owner.read
    turns = read.list(SPACE, filter=parse({"kind": "exchange"}), sort="created_at").items
    told = sorted((one.turn, one.content, one.id) for one in turns)
    assert [(turn, text) for turn, text, _ in told] == [
        (0, "I moved to Turku"), (1, "When was that?"), (2, "In the spring"), (3, "I moved to Turku"),
    ]  # fmt: skip
    assert [one for _, _, one in told[:3]] == [one["id"] for one in TURNS]
    engine.owner.write.update(SPACE, str(TURNS[0]["id"]), {"content": "Here I changed it"})
    engine.owner.write.update("t", str(others[1]["id"]), {"content": "There it changed"})
    with pytest.raises(Conflict):
        engine.owner.timeline.merge("t", SPACE)
    engine.owner.timeline.merge("t", SPACE, "theirs")
    assert read.get(SPACE, str(TURNS[0]["id"])).memory.content == "There it changed"


def _id(number: int) -> dict[str, Json]:
    return {"id": f"0197a3c0-5f4e-7000-8000-0000{number + 65536:08x}"}
