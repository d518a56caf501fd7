"""Statements that name memories find them by id, and never scan all versions of the space."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import apsw
import pytest

from muisti.core.identity.caller import OWNER
from muisti.core.model.choices import SORTS, Sort
from muisti.core.operations.spaces import checkpoints
from muisti.core.query.points import Point
from muisti.core.read.reading import find_space
from muisti.core.store.database import Statement
from muisti.core.store.sql import erasure, inserting, memories, quality, telemetry
from muisti.core.store.sql.spaces import SpaceRow
from tests.core.fakes import SPACE, open_engine
from tests.stores import FileStore

NAMED = [bytes([number]) * 16 for number in range(6)]
IDS = [f"0190a0b0-0000-7000-8000-00000000000{number}" for number in range(6)]


def naming(space: SpaceRow) -> dict[str, Sequence[Statement]]:
    """Statements that name memories."""
    return {
        "living": [memories.living(space, NAMED[0])],
        "standing": [memories.standing(space, NAMED[0], Point(number=3, time=0))],
        "last": [memories.last(space, NAMED[0])],
        "history": [memories.history(space, NAMED[0])],
        "chain": [memories.chain(space, NAMED[0])],
        "address": [memories.held_address(space, "c", "k", only) for only in (None, "c")],
        "trusts": [memories.trusts(space, IDS, living=living) for living in (True, False)],
        "guards": [inserting.refuse_less_trusted(space, IDS, 50), inserting.refuse_orphan(space, IDS[0])],
        "retrievals": [telemetry.add(space.space.epoch, {one.hex(): (1, 2) for one in NAMED})],
        "receipts": [quality.fates(space.id, NAMED)],
        "checkpoints": [checkpoints.memories_at(space, NAMED, Point(number=3, time=0))],
        "lint": [quality.lint_page(space, None, 0, (0, b""), 10)],
        "erasing": [
            *erasure.known(space, NAMED), *erasure.texts(space, NAMED), *erasure.overwrite(space, NAMED),
            *erasure.erase(space, NAMED, OWNER),
        ],
    }  # fmt: skip


@pytest.mark.one_store
@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("after", [None, (7, NAMED[0])])
def test_a_page_of_a_list_is_read_in_its_order_from_an_index(tmp_path: Path, sort: Sort, after: Any):
    """Neither a sort of the whole space nor a walk to where the page begins."""
    store = FileStore(tmp_path / "muisti.db")
    with open_engine(store), closing(store.open()) as database, closing(apsw.Connection(str(store.path))) as connection:
        space = find_space(database, SPACE)
        one = memories.listed(space, "v.status = 'active'", (), Point(None, 0), 51, sort, after)
        steps = [str(row[3]) for row in connection.execute(f"EXPLAIN QUERY PLAN {one.sql}", cast(Any, one.args))]
    index = "versions_changed" if "updated" in sort else "versions_newest"
    place = "" if after is None else f" AND ({sort.lstrip('-')},memory_id){'<' if sort.startswith('-') else '>'}(?,?)"
    assert steps == [f"SEARCH v USING INDEX {index} (space_id=?{place})"]


@pytest.mark.one_store
def test_memories_are_found_by_their_ids(tmp_path: Path):
    store = FileStore(tmp_path / "muisti.db")
    with open_engine(store), closing(store.open()) as database, closing(apsw.Connection(str(store.path))) as connection:
        space = find_space(database, SPACE)
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        for name, statements in naming(space).items():
            for statement in statements:
                plan = connection.execute(f"EXPLAIN QUERY PLAN {statement.sql}", cast(Any, statement.args))
                steps = [str(step[3]) for step in plan]
                through_all = [
                    step for step in steps if "versions_born (space_id=?)" in step or step == "SCAN versions"
                ]
                assert not through_all, (name, statement.sql, steps)
