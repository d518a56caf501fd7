"""An exported and imported space is unchanged: history, vectors, answers."""

import random
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.collisions import AddressTaken, Duplicate
from muisti.core.model.errors import ChangedSince, Forbidden, InvalidInput, MuistiError, NotFound, TooLarge
from muisti.core.model.imports import ImportReport
from muisti.core.model.outcomes import Undo
from muisti.core.model.times import from_us
from muisti.core.model.values import Draft
from muisti.core.query.query import Query
from muisti.core.store.file.database import FileDatabase
from tests.core.fakes import NOON, SPACE, Clock, WordEncoder, add, open_engine
from tests.stores import FileStore, RemoteStore, Store, Stores, at

WORDS = [
    "red",
    "green",
    "blue",
    "fox",
    "owl",
    "whale",
    "tree",
    "river",
    "deploy",
    "friday",
    "monday",
    "coffee",
    "tea",
    "night",
]


def lines_of(engine: Engine, space: str = SPACE, **options: Any) -> list[bytes]:
    return [
        msgspec.json.encode(record)
        for page in engine.owner.read.export(space, "test", **options).pages()
        for record in page
    ]


def untouched(lines: Sequence[bytes]) -> list[bytes]:
    """The lines without the first and the last, and without what every search counts on."""
    return [line for line in lines[1:-1] if not line.startswith(b'{"type":"telemetry"')]


def bring(engine: Engine, lines: Sequence[bytes], space: str = SPACE, **options: Any) -> ImportReport:
    incoming = engine.owner.write.begin_import(space, **options)
    try:
        for start in range(0, len(lines), 97):
            incoming.take(lines[start : start + 97])
        return incoming.finish()
    finally:
        incoming.abandon()


def live(engine: Engine, chance: random.Random, steps: int) -> None:
    """A space in which all kinds of things happen."""
    callers = [engine.seen_by(Caller(name, request=f"r-{name}")) for name in ("ann", "bob")]
    ids: list[str] = []
    for step in range(steps):
        who = chance.choice(callers)
        text = " ".join(chance.choices(WORDS, k=6)) + f" {step}"
        known = chance.choice(ids) if ids else ""
        with suppress(NotFound, AddressTaken, InvalidInput, Duplicate):
            match chance.randrange(8) if ids else 0:
                case 0 | 1 | 2:
                    key = f"k{chance.randrange(12)}" if chance.random() < 0.3 else None
                    draft = Draft(
                        content=text if chance.random() < 0.9 else "\n\n".join([text] * 150),
                        category="c" if key or chance.random() < 0.3 else None,
                        key=key,
                        tags=tuple(chance.sample(WORDS, 2)),
                        valid_from=from_us(step) if step % 3 else None,
                        valid_to=from_us(step + 1) if step % 2 else None,
                        metadata={"session": "s1", "turn": step, "deep": {"list": [1, "two", None, True]}},
                    )
                    ids.append(who.write.add(SPACE, [draft], on_conflict="keep").memories[0].id)
                case 3:
                    who.write.update(SPACE, known, {"content": text, "reason": "why"})
                case 4:
                    ids.append(who.write.supersede(SPACE, known, Draft(content=text)).memories[0].id)
                case 5:
                    who.write.delete(SPACE, known)
                case 6:
                    who.write.restore(SPACE, known)
                case _:
                    who.write.undo(SPACE, Undo(last=chance.randrange(1, 3)))


def shown(engine: Engine, ids: Sequence[str], space: str = SPACE) -> list[Any]:
    """The history of memories, but for the space that they are in."""
    found = [engine.owner.read.history(space, id_) for id_ in ids]
    return [
        (
            history.chain,
            [
                (v.born, v.died, v.born_at, v.died_at, msgspec.structs.replace(v.memory, space=""))
                for v in history.versions
            ],
        )
        for history in found
    ]


def answers(engine: Engine, chance: random.Random, searches: int, space: str = SPACE) -> list[Any]:
    found: list[Any] = []
    for _ in range(searches):
        mode = chance.choice(["hybrid", "semantic", "keyword"])
        query = Query(text=" ".join(chance.choices(WORDS, k=3)), mode=mode, limit=20)  # pyright: ignore[reportArgumentType]
        answer = engine.owner.read.search(space, query)
        found.append(
            (answer.evidence, answer.total, [(hit.memory.id, hit.memory.version, hit.score) for hit in answer.hits])
        )
    return found


def other(
    store: Store, stores: Stores, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Store:
    """A store of the other kind."""
    if isinstance(store, FileStore):
        return RemoteStore(request.getfixturevalue("sqld"))
    return FileStore(tmp_path_factory.mktemp("store") / "muisti.db")


def test_there_and_back_a_space_is_as_it_was(
    stores: Stores, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest, long: bool
):
    first = stores()
    chance, searches = random.Random(8), 500 if long else 30
    with open_engine(first) as here, open_engine(other(first, stores, tmp_path_factory, request)) as there:
        live(here, chance, 600 if long else 160)
        lines = lines_of(here)
        report = bring(there, lines)
        stats, space = here.owner.read.stats(SPACE), here.spaces.get(SPACE)
        assert (report.created, report.skipped, report.failed) == (space_memories(here), {}, 0)
        assert (report.vectors_embedded, str(report.origin)) == (0, str(space.at))
        ids = sorted({msgspec.json.decode(line)["memory"]["id"] for line in lines if b'"type":"version"' in line[:40]})
        assert shown(there, ids) == shown(here, ids)
        assert answers(there, random.Random(1), searches) == answers(here, random.Random(1), searches)
        moved = there.owner.read.stats(SPACE)
        assert (moved.memories, moved.versions, moved.passages, moved.by) == (
            stats.memories, stats.versions, stats.passages, stats.by
        )  # fmt: skip
        came, kept = there.spaces.get(SPACE), here.spaces.get(SPACE)
        assert (came.seq, came.settings, came.generation) == (kept.seq, kept.settings, kept.generation)
        assert came.epoch != kept.epoch
        again = lines_of(there)
        assert untouched(again) == untouched(lines)  # changes, versions and vectors, byte by byte
        second = bring(there, lines)
        assert (second.created, second.failed, sum(second.skipped.values())) == (0, 0, report.created)
        assert there.spaces.get(SPACE).at == came.at and untouched(lines_of(there)) == untouched(lines)
        add(there, "a new one after all that")
        assert (
            there.owner.read.search(SPACE, Query(text="new one after")).hits[0].memory.content
            == "a new one after all that"
        )


def space_memories(engine: Engine) -> int:
    """Return the number of memories of the space that are not deleted, superseded ones included."""
    usage = engine.owner.read.stats(SPACE).usage
    assert usage is not None
    return usage.memories


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with open_engine(FileStore(tmp_path_factory.mktemp("full") / "muisti.db")) as opened:
        live(opened, random.Random(3), 60)
        yield opened


@pytest.fixture(scope="module")
def lines(full: Engine) -> list[bytes]:
    """Its export, before a test adds to it."""
    return lines_of(full)


def test_into_a_space_that_has_memories_only_what_is_missing_comes(stores: Stores, full: Engine):
    with open_engine(stores()) as there:
        bring(there, lines_of(full))
        live(there, random.Random(4), 20)
        text = f"blue whale of day{full.spaces.get(SPACE).seq}"  # the space is that of all stores
        add(full, f"{text} again", text)
        before = there.spaces.get(SPACE)
        report = bring(there, lines_of(full))
        assert report.created == 2 and there.spaces.get(SPACE).epoch == before.epoch
        found = there.owner.read.search(SPACE, Query(text=text)).hits
        assert found[0].memory.content == text
        history = there.owner.read.history(SPACE, found[0].memory.id).versions
        assert len(history) == 1 and history[0].born > before.seq


def test_what_comes_in_is_undone_as_a_whole_and_may_come_again(stores: Stores, lines: list[bytes]):
    with open_engine(stores()) as there:
        add(there, "here before")
        before = there.spaces.get(SPACE)
        tried = bring(there, lines, dry_run=True)
        assert tried.dry_run and tried.id is None and there.spaces.get(SPACE).at == before.at
        assert there.owner.read.stats(SPACE).versions == 1 and len(there.spaces.list()) == 2
        report = bring(there, lines)
        assert (tried.created, tried.versions, tried.skipped) == (report.created, report.versions, report.skipped)
        wanted = {m.id: m.content for m in there.owner.read.list(SPACE, limit=100).items}
        assert report.id is not None and [one.id for one in there.owner.read.imports(SPACE)] == [report.id]
        undone = there.owner.write.undo_import(SPACE, report.id)
        assert undone.memories == report.created
        assert [memory.content for memory in there.owner.read.list(SPACE, limit=100).items] == ["here before"]
        assert [hit.memory.content for hit in there.owner.read.search(SPACE, Query(text="red here owl")).hits] == [
            "here before"
        ]
        with pytest.raises(NotFound):
            there.owner.write.undo_import(SPACE, report.id)
        again = bring(there, lines)
        assert (again.created, again.skipped) == (report.created, {})
        assert {m.id: m.content for m in there.owner.read.list(SPACE, limit=100).items} == wanted
        there.owner.write.update(SPACE, next(iter(wanted)), {"reason": "mine now"})
        assert again.id is not None
        with pytest.raises(ChangedSince, match=next(iter(wanted))):
            there.owner.write.undo_import(SPACE, again.id)


def test_a_file_that_is_cut_off_is_refused_and_leaves_nothing(stores: Stores, lines: list[bytes]):
    with open_engine(stores()) as there:
        for keep in (1, 2, 17, -2, -1):
            cut = lines[:keep]
            with pytest.raises(InvalidInput, match=f"line {len(cut)}: .*truncated"):
                bring(there, cut)
        assert there.spaces.get(SPACE).seq == 0 and there.owner.read.stats(SPACE).versions == 0


def test_bad_lines_are_named_and_stop_the_whole_or_only_themselves(stores: Stores):
    one = '{"type":"memory","memory":{"id":"0197a3c0-5f4e-7000-8000-%012d","content":"%s"%s}%s}'
    bad = [
        '{"type":"muisti","format":1}',
        one % (1, "good", "", ""),
        one % (2, " ", "", ',"place":"row 7"'),
        one % (1, "twice", "", ""),
        '{"type":"memory","memory":{"id":"nonsense","content":"x"}}',
        one % (3, "x", ',"parent_id":"0197a3c0-5f4e-7000-8000-00000000000f"', ""),
        one % (4, "x", ',"surprise":1', ""),
        one % (5, "a", ',"category":"c","key":"k"', ""),
        one % (6, "b", ',"category":"c","key":"l"', ""),
        one % (7, "c", ',"category":"C","key":"l"', ""),
        '{"type":"end","lines":10}',
    ]
    with open_engine(stores()) as there:
        add(there, "first", category="c", key="k")
        with pytest.raises(InvalidInput) as refused:
            bring(there, [line.encode() for line in bad])
        said = str(refused.value)
        assert "$.lines[3].content: line 3 (row 7): must not be empty" in said and "$.lines[5].id" in said
        assert there.owner.read.stats(SPACE).versions == 1
        report = bring(there, [line.encode() for line in bad], atomic=False)
        assert (report.created, report.skipped) == (2, {"twice": 1})
        assert [(one.line, one.code) for one in report.failures] == [
            (3, "invalid_input"), (5, "invalid_input"), (7, "invalid_input"), (8, "address_taken"),
            (10, "address_taken"), (0, "invalid_input"),
        ]  # fmt: skip
        assert {memory.content for memory in there.owner.read.list(SPACE).items} == {"first", "good", "b"}
        assert bring(there, [line.encode() for line in bad], atomic=False).created == 0


def test_vectors_of_another_model_are_made_anew_and_kept_where_there_is_none(stores: Stores, lines: list[bytes]):
    with open_engine(stores(), encoder=WordEncoder("other")) as there:
        report = bring(there, lines)
        assert report.vectors_kept == 0 and report.vectors_embedded > 0
        assert there.owner.read.search(SPACE, Query(text="red fox", mode="semantic")).hits
    with open_engine(stores(), embeddings=False) as there:
        assert bring(there, lines).vectors_kept > 0 and lines_of(there)[1:] == lines[1:]


def test_a_damaged_vector_is_named_with_its_line(lines: list[bytes], tmp_path: Path):
    bad, place = lines.copy(), next(number for number, line in enumerate(lines) if b'"vectors":{"' in line)
    bad[place] = re.sub(rb'("vectors":{"[^"]+":")..', rb"\1!!", bad[place], count=1)
    with open_engine(at(tmp_path / "there.db")) as there:
        with pytest.raises(InvalidInput, match=f"line {place + 1}: a vector is no base64"):
            bring(there, bad)
        report = bring(there, bad, atomic=False)
        assert [one.line for one in report.failures] == [place + 1] and report.created


def test_an_export_shows_one_change_whatever_is_written_meanwhile(engine: Engine):
    live(engine, random.Random(5), 30)
    whole, found = lines_of(engine), list[bytes]()
    for page in engine.owner.read.export(SPACE, "test").pages():
        found += [msgspec.json.encode(record) for record in page]
        for memory in engine.owner.read.list(SPACE, limit=3).items:
            engine.owner.write.delete(SPACE, memory.id)
        add(engine, f"while it goes out {len(found)}")
    assert found[1:] == whole[1:]


def test_who_sees_one_category_moves_no_space(engine: Engine):
    some = engine.seen_by(Caller("k", category="c"))
    with pytest.raises(Forbidden):
        some.read.export(SPACE, "test")
    with pytest.raises(Forbidden):
        some.write.begin_import(SPACE)


def test_what_a_dead_import_left_is_cleared_by_the_next(stores: Stores, lines: list[bytes]):
    clock = Clock()
    with open_engine(stores(), clock=clock) as there:
        half = there.owner.write.begin_import(SPACE)
        half.take(lines[:-1])
        half._flush()  # pyright: ignore[reportPrivateUsage]  # and its process ends
        clock.pass_days(1)
        bring(there, lines)
        with pytest.raises(MuistiError):
            half.take(lines[-1:])
            half.finish()
        assert lines_of(there)[1:] == lines[1:]


def test_a_remote_database_takes_a_large_file_in_steps(
    stores: Stores, lines: list[bytes], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("muisti.core.operations.transfer.importing.moving.REMOTE_MAX", 7)
    with open_engine(stores()) as there:
        if isinstance(there._database, FileDatabase):  # pyright: ignore[reportPrivateUsage]
            return
        with pytest.raises(TooLarge, match="atomic=false"):
            bring(there, lines)
        assert there.owner.read.stats(SPACE).versions == 0
        bring(there, lines, atomic=False)
        assert lines_of(there)[1:] == lines[1:]


def test_what_a_space_does_not_store_does_not_come_in_by_a_file(stores: Stores):
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    memory = '{"type":"memory","memory":{"id":"0197a3c0-5f4e-7000-8000-%012d","content":"%s"}}'
    sent = ['{"type":"muisti","format":1}', memory % (1, "harmless"), memory % (2, f"token {secret}")]
    lines = [line.encode() for line in [*sent, '{"type":"end","lines":3}']]
    with open_engine(stores()) as there:
        there.spaces.set_policy(SPACE, {"secrets": "refuse"})
        report = bring(there, lines, atomic=False)
        assert (report.created, [(one.line, one.code) for one in report.failures]) == (1, [(3, "sensitive_content")])
        there.spaces.set_policy(SPACE, {"secrets": "redact"})
        assert bring(there, lines).created == 1
        assert secret not in " ".join(memory.content for memory in there.owner.read.list(SPACE).items)


def test_an_export_from_before_the_first_release_comes_in_unchanged(tmp_path: Path):
    """It was written at commit 49b8eda5."""
    lines = Path(__file__).with_name("unreleased.ndjson").read_bytes().splitlines()
    with open_engine(tmp_path / "new.db", encoder=StaticEncoder(), clock=Clock(NOON + 300 * 86_400_000_000)) as engine:
        engine.spaces.ensure("x")
        report = bring(engine, lines, "x")
        assert (report.created, report.failed) == (10, 0)
        found = {memory.content: memory for memory in engine.owner.read.list("x").items}
        assert found["We deploy on Mondays"].version == 2
        assert engine.owner.read.search("x", Query(text="When do we deploy?")).hits[0].memory.key == "deploy"
        assert untouched(lines_of(engine, "x")) == untouched(lines)
