"""Every text that becomes current in a space comes through `core.write.intake`."""

import ast
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import get_args

import pytest

import muisti.core
from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.choices import SourceClass
from muisti.core.model.errors import Forbidden
from muisti.core.model.values import TRUST, Draft
from muisti.core.query.query import Query
from muisti.core.store.database import Outcome
from muisti.core.views.memories import Memories
from tests.core.fakes import SPACE, add, open_engine
from tests.stores import FileStore

ROOT = Path(muisti.core.__file__).parent.parent
# What makes a memory out of a draft, or says that a draft was looked at; and who may call it.
OWN = {
    "new_memory": {"core/write/intake.py"},
    "changed": {"core/write/intake.py"},
    "Accepted": {"core/write/intake.py"},
    "screened": {"core/write/intake.py"},
    "cleaned": {"core/write/intake.py", "core/write/screening.py"},
    "marked": {"core/write/intake.py"},
}
# Methods of the same name that are something else.
OTHERS = {
    ("changed", "self.intake"),
    ("changed", "self._intake"),
    ("changed", "call.caller"),
    ("changed", "Event"),
    ("changed", "last_call"),
}


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with open_engine(FileStore(tmp_path / "one.db")) as opened:
        add(opened, "something to begin with")  # gives the space its model
        add(opened, "something more")  # by now the model is known
        opened.owner.read.search(SPACE, Query(text="something"))  # and its index is in memory
        yield opened


def calls() -> Iterator[tuple[str, str, str]]:
    """(file, receiver, name) of each call in core and service."""
    for path in sorted((*ROOT.glob("core/**/*.py"), *ROOT.glob("service/**/*.py"))):
        if {"console", "pages", "pages.py"} & {*path.parts}:  # a client of the API, which imports nothing of the core
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call):
                continue
            if isinstance(node.func, ast.Name):
                yield path.relative_to(ROOT).as_posix(), "", node.func.id
            elif isinstance(node.func, ast.Attribute):
                yield path.relative_to(ROOT).as_posix(), ast.unparse(node.func.value), node.func.attr


def test_only_the_intake_makes_memories_out_of_drafts():
    found = {
        (file, f"{receiver}.{name}".removeprefix("."))
        for file, receiver, name in calls()
        if name in OWN and file not in OWN[name] and (name, receiver) not in OTHERS
    }
    assert found == set()


def by(engine: Engine, source_class: SourceClass) -> Memories:
    return engine.seen_by(Caller("an agent", source_class=source_class))


def added(memories: Memories, draft: Draft, *, fast: bool) -> tuple[str, int] | str:
    """The source class and the trust of a stored draft, or the code of its refusal."""
    outcomes: SimpleQueue[Outcome] = SimpleQueue()
    try:
        if not fast:
            written = memories.write.add(SPACE, [draft], on_conflict="keep")
        else:
            begun = memories.write.begin_add(SPACE, draft, "keep", outcomes.put)
            written = memories.write.end_add(begun, outcomes.get(timeout=10))
    except Forbidden as refusal:
        return refusal.code
    return written.memories[0].source_class, written.memories[0].trust


@pytest.mark.parametrize("fast", [False, True], ids=["slow", "fast"])
@pytest.mark.parametrize("ceiling", get_args(SourceClass))
@pytest.mark.parametrize("claim", get_args(SourceClass))
def test_a_source_class_is_a_ceiling_on_both_paths(
    engine: Engine, ceiling: SourceClass, claim: SourceClass, fast: bool
):
    given = ceiling if claim == "unknown" else claim
    wanted = "forbidden" if TRUST[given] > TRUST[ceiling] else (given, TRUST[given])
    assert added(by(engine, ceiling), Draft(content="news", source_class=claim), fast=fast) == wanted
