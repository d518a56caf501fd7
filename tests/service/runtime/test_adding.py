"""Adds that come in one turn of the event loop are stored together, and each ends as it would on its own."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER, Caller
from muisti.core.model.choices import OnConflict
from muisti.core.model.errors import MuistiError
from muisti.core.model.ids import id_bytes
from muisti.core.model.outcomes import Written
from muisti.core.model.values import Draft
from muisti.core.query.query import Query
from muisti.core.store.database import Rows, Statement
from muisti.service.runtime.workers import Backend
from muisti.service.settings import Settings
from tests.core.fakes import SPACE, open_engine
from tests.stores import FileStore

GOOD = [Draft(content=f"{name} lives in a house of its own", author=name) for name in ("Ann", "Bob", "Eve")]
BAD = {
    "refused by validation": Draft(content=""),
    "of no parent": Draft(content="an answer", parent_id="019a0000-0000-7000-8000-000000000000"),
    "with a secret": Draft(content="the password is hunter2-Tr0ub4dor&3"),
    "at a taken address": Draft(content="dogs bark", category="pets", key="cats"),
    "said before": Draft(content="the deploy runs on friday at noon"),
    "said twice": Draft(content=GOOD[0].content),
    "too long for the event loop": Draft(content="words " * 1_000),
}
BEFORE = [
    Draft(content="the deploy runs on friday at noon"),
    Draft(content="cats sleep", category="pets", key="cats"),
]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with open_engine(FileStore(tmp_path / "one.db")) as opened:
        began(opened)
        yield opened


def began(engine: Engine) -> None:
    for draft in BEFORE:
        engine.owner.write.add(SPACE, [draft], on_conflict="keep")
    engine.owner.read.search(SPACE, Query(text="deploy"))


def together(
    engine: Engine, drafts: Sequence[Draft], on_conflict: OnConflict, callers: Sequence[Caller] = ()
) -> list[Written | BaseException]:
    """Add drafts in one turn, each in a request of its own."""
    each = callers or [OWNER] * len(drafts)

    async def all_of() -> list[Written | BaseException]:
        backend = Backend(engine, Settings())
        adds = [
            backend.add(engine.seen_by(caller), SPACE, draft, on_conflict, None)
            for caller, draft in zip(each, drafts, strict=True)
        ]
        found = await asyncio.gather(*adds, return_exceptions=True)
        await asyncio.to_thread(backend.close)
        return found

    return asyncio.run(all_of())


def reply(engine: Engine, draft: Draft, on_conflict: OnConflict) -> object:
    try:
        return told(engine.owner.write.add(SPACE, [draft], on_conflict=on_conflict))
    except MuistiError as error:
        return told(error)


def told(found: Written | BaseException) -> object:
    """The content or the kind of error."""
    return found.memories[0].content if isinstance(found, Written) else type(found)


def changes(engine: Engine) -> Rows:
    """Request and memory of each change."""
    database = engine._database  # pyright: ignore[reportPrivateUsage]
    return database.read([Statement("SELECT request, memory_id FROM changes ORDER BY seq")])[0]


def batches(engine: Engine) -> int:
    found = engine.meters.store.group_writes.read().get(())
    return 0 if found is None else int(found.total)


@pytest.mark.parametrize("on_conflict", ["keep", "reject", "review"])
def test_good_ones_are_one_batch_and_changes_of_their_own(engine: Engine, on_conflict: OnConflict):
    before, seq = batches(engine), engine.spaces.get(SPACE).seq
    callers = [Caller("ann", request="r1"), Caller("ann", request="r2"), Caller("ann", request="r3")]
    found = [one for one in together(engine, GOOD, on_conflict, callers) if isinstance(one, Written)]
    assert [told(one) for one in found] == [draft.content for draft in GOOD]
    assert [one.seq.number for one in found] == [seq + 1, seq + 2, seq + 3] and all(one.created for one in found)
    assert batches(engine) <= before + 2  # the first may have begun before the others came
    assert changes(engine)[-3:] == [
        (caller.request, id_bytes(one.memories[0].id)) for caller, one in zip(callers, found, strict=True)
    ]


@pytest.mark.parametrize("on_conflict", ["keep", "reject"])
@pytest.mark.parametrize("name", BAD)
def test_a_bad_one_fails_and_only_it(engine: Engine, tmp_path: Path, on_conflict: OnConflict, name: str):
    drafts = [GOOD[0], BAD[name], *GOOD[1:]]
    with open_engine(FileStore(tmp_path / "two.db")) as other:
        began(other)
        alone = [reply(other, draft, on_conflict) for draft in drafts]
    found = [told(one) for one in together(engine, drafts, on_conflict)]
    if name == "said twice":  # which of the two is first is not said
        found.sort(key=str)
        alone.sort(key=str)
    assert found == alone
    kept = sorted(one for one in found if isinstance(one, str))
    stored = [memory.content for memory in engine.owner.read.list(SPACE, limit=100).items]
    assert sorted(stored) == sorted([*kept, *(draft.content for draft in BEFORE)])


def test_one_is_told_of_another_of_the_same_batch(engine: Engine):
    one, other = Draft(content="the office opens at nine"), Draft(content="the office opens at nine or ten")
    found = [one for one in together(engine, [GOOD[0], one, other], "reject") if isinstance(one, Written)]
    assert len(found) == 3
    assert [each.id for each in found[2].similar] == [found[1].memories[0].id]


def test_callers_of_unlike_rights_are_apart(engine: Engine):
    callers = [OWNER, Caller("pets only", category="pets"), OWNER, Caller("writer", reads=False)]
    found = together(engine, [*GOOD, Draft(content="a fourth one")], "keep", callers)
    assert [one.memories[0].category for one in found if isinstance(one, Written)] == [None, "pets", None, None]


def test_one_too_many_for_the_quota_is_refused(tmp_path: Path):
    with open_engine(FileStore(tmp_path / "one.db")) as engine:
        began(engine)
        engine.spaces.set_quota(SPACE, {"memories": len(BEFORE) + 2})
        found = together(engine, GOOD, "keep")
        assert sorted(type(one).__name__ for one in found) == ["QuotaExceeded", "Written", "Written"]


def test_more_than_one_batch_takes(engine: Engine):
    drafts = [Draft(content=f"note number {number}") for number in range(70)]
    found = together(engine, drafts, "keep")
    assert sorted(str(told(one)) for one in found) == sorted(draft.content for draft in drafts)
    assert len(changes(engine)) == len(drafts) + len(BEFORE) == engine.spaces.get(SPACE).seq


def test_one_that_gives_up_leaves_its_place(engine: Engine):
    async def some() -> None:
        backend = Backend(engine, Settings(queue_limit=4))
        memories = engine.seen_by(OWNER)
        for _ in range(20):
            adds = [
                asyncio.create_task(backend.add(memories, SPACE, Draft(content="again"), "keep", None))
                for _ in range(3)
            ]
            await asyncio.sleep(0)
            adds[1].cancel()
            await asyncio.gather(*adds, return_exceptions=True)
        found = await asyncio.gather(
            *(backend.add(memories, SPACE, draft, "keep", None) for draft in GOOD), return_exceptions=True
        )
        assert all(isinstance(one, Written) for one in found)
        await asyncio.to_thread(backend.close)

    asyncio.run(some())
