"""Checks of a database's contents: integrity of the pages, checksums of the memories, clocks, split projects."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Literal

from msgspec import Struct

from muisti.core.databases import Database
from muisti.core.embedding.models import Models
from muisti.core.model.errors import InvalidInput, StoreUnavailable
from muisti.core.operations.checkup import Findings, Flaw, look
from muisti.core.operations.inspection import clocks_of, file_flaws, spaces_with_memories
from muisti.service.cli.base import Globals
from muisti.service.cli.output import console
from muisti.service.cli.progress import Stages
from muisti.service.cli.project import choose, kin

NAMED = 3  # of many
AHEAD_SECONDS = 60.0  # that the last change may lie in the future
APART_SECONDS = 5.0  # that the clock of a database may differ from ours
REPAIR = "`muisti doctor --repair`"


class Check(Struct, frozen=True):
    """Result of one check. `failed` means that Muisti does not work, `warning` that it soon may not."""

    name: str
    status: Literal["ok", "warning", "failed"]
    detail: str


def integrity(path: Path) -> Check:
    """Check the pages of a database file with SQLite's integrity check."""
    try:
        found = file_flaws(path)
    except StoreUnavailable as error:
        return Check("integrity", "warning", f"not looked at: {error}")
    if not found:
        return Check("integrity", "ok", "all pages are consistent")
    return Check("integrity", "failed", f"{_some(found)}. {REPAIR} recovers what it can into a new file")


def memories_of(options: Globals, database: Database, models: Models, *, quick: bool) -> Iterator[Check]:
    """Yield the checks of a database with Muisti's schema; `quick` skips those that read all of it."""
    if not quick:
        yield from checks_of(inspected(options, database, models))
    yield _clock(database)
    yield from _split(database)


def inspected(options: Globals, database: Database, models: Models) -> Findings:
    """Check all versions, with a progress bar."""
    with Stages(console(options, stderr=True)) as stages:
        stages.begin("doctor")
        return look(database, models, lambda done, total: stages.note("versions", done, total))


def checks_of(findings: Findings) -> Iterator[Check]:
    """Yield the findings of a checkup as checks, with their text."""
    unsealed = f", {findings.unsealed:,} of them without a checksum yet" if findings.unsealed else ""
    if findings.altered:
        count = len(findings.altered)
        many = "1 version does" if count == 1 else f"{count:,} versions do"
        detail = f"{many} not say what was stored: {_places(findings.altered)}. {REPAIR}"
        yield Check("memories", "failed", detail)
    else:
        yield Check("memories", "ok", f"{findings.versions:,} versions say what was stored{unsealed}")
    wrong = [f"{count:,} of {what}" for what, count in Counter(flaw.what for flaw in findings.derived).items()]
    wrong += [f"the counters of {name}" for name in findings.counts]
    wrong += [f"the packed index of {name}" for name in findings.segments]
    if wrong:
        yield Check(
            "index", "failed", f"derived data that do not match the memories: {_some(wrong)}. {REPAIR} rebuilds it"
        )
    else:
        yield Check("index", "ok", "derived data match the memories")


def _places(found: Sequence[Flaw]) -> str:
    return _some([f"{flaw.memory} version {flaw.version}" for flaw in found])


def _some(parts: Sequence[str]) -> str:
    more = len(parts) - NAMED
    return "; ".join(parts[:NAMED]) + (f"; and {more:,} more" if more > 0 else "")


def _clock(database: Database) -> Check:
    clocks, here = clocks_of(database), time.time()
    if abs(clocks.there - here) > APART_SECONDS:
        return Check("clock", "warning", f"the database's is {clocks.there - here:+.0f} s from the one here")
    ahead = (clocks.last_change or 0.0) - here
    if ahead > AHEAD_SECONDS:
        return Check(
            "clock",
            "warning",
            f"the last change was made {timedelta(seconds=int(ahead))} from now: a clock was, or is, wrong",
        )
    return Check("clock", "ok", "no change is in the future")


def _split(database: Database) -> Iterator[Check]:
    """Warn of other spaces that may belong to the project here."""
    names = spaces_with_memories(database)
    try:
        here = choose(None, {}, Path.cwd())
        found = kin(here, Path.cwd(), names)
    except InvalidInput:  # the check of the space says so
        return
    for one in found:
        yield Check("project", "warning", f"beside {here.space}: {one.advice}")
