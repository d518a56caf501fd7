"""Checks and repairs of a database's contents: pages, checksums of the memories, indexes, clocks, split projects."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import click
from msgspec import Struct

from muisti.core.databases import Database, open_database
from muisti.core.embedding.models import Models
from muisti.core.model.errors import InvalidInput, StoreUnavailable
from muisti.core.model.times import system_clock
from muisti.core.operations.checkup import Findings, look
from muisti.core.operations.repair import mend, recover
from muisti.core.operations.whole_database import clocks_of, file_flaws, spaces_with_memories
from muisti.service.runtime.databases import location_of
from muisti.service.runtime.models import models_of
from muisti.service.settings import Settings
from muisti.service.terminal.base import Globals
from muisti.service.terminal.configuration import in_force
from muisti.service.terminal.output import talk
from muisti.service.terminal.progress import Stages
from muisti.service.terminal.project import choose, kin
from muisti.service.terminal.session import refusals
from muisti.service.terminal.views import tabbed

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
        with Stages(options) as stages:
            stages.begin("doctor")
            found = look(database, models, lambda done, total: stages.note("versions", done, total))
        yield from checks_of(found)
    yield _clock(database)
    yield from _split(database)


def checks_of(findings: Findings) -> Iterator[Check]:
    """Yield the findings of a checkup as checks, with their text."""
    unsealed = f", {findings.unsealed:,} of them without a checksum yet" if findings.unsealed else ""
    if findings.altered:
        count, places = len(findings.altered), [f"{one.memory} version {one.version}" for one in findings.altered]
        many = "1 version does" if count == 1 else f"{count:,} versions do"
        detail = f"{many} not say what was stored: {_some(places)}. {REPAIR}"
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


SHOWN = 20
SAVED = ("integrity", "memories")  # checks whose failure means that rows are damaged
MENDED = ("index",)


class LostVersion(Struct, frozen=True):
    """A version that could not be saved, and why."""

    memory: str
    version: int
    why: str


class Done(Struct, frozen=True, kw_only=True):
    """Result of a repair. `path` is the new file, None when the database was repaired in place.

    `damage` names the damaged places of the old file, `notes` the decisions that the repair took, `left` the faults
    that it could not repair.
    """

    path: str | None = None
    mended: int = 0
    sealed: int = 0
    rows: dict[str, int] = {}
    lost: list[LostVersion] = []
    damage: list[str] = []
    notes: list[str] = []
    left: list[str] = []

    @property
    def whole(self) -> bool:
        """Tell whether nothing is missing."""
        return not self.lost and not self.left


def repair_faults(options: Globals, checks: Sequence[Check]) -> Done:
    """Repair the faults that the failed checks found."""
    failed = {check.name: check.detail for check in checks if check.status == "failed"}
    left = [f"{name}: {detail}" for name, detail in failed.items() if name not in (*SAVED, *MENDED)]
    with refusals(options), Stages(options) as stages:
        settings, stage = in_force(options), stages.note
        stages.begin("repair")
        models = models_of(settings) if "model" not in failed else Models()
        if not failed.keys() & set(SAVED):
            return _mended(settings, models, left, stages)
        source = location_of(settings).file
        if source is None:
            return Done(left=[*left, "rows of a database on a server: restore a backup of it there"])
        target = source.with_name(f"{source.stem}.recovered-{_stamp()}{source.suffix}")
        found = recover(source, target, models, system_clock(), stage)
    lost = [LostVersion(one.memory, one.version, one.why) for one in found.lost]
    return Done(path=str(target), rows=found.rows, lost=lost, damage=found.damage, notes=found.notes, left=left)


def _mended(settings: Settings, models: Models, left: list[str], stages: Stages) -> Done:
    database = open_database(location_of(settings))
    try:
        findings = look(database, models, lambda done, total: stages.note("versions", done, total))
        mended = mend(database, models, findings, system_clock())
        again = look(database, models, lambda done, total: stages.note("again", done, total))
    finally:
        database.close()
    still = [f"{flaw.memory} version {flaw.version}: {flaw.what}" for flaw in again.flaws]
    spoilt = len(findings.counts) + len(findings.segments)
    sealed = findings.unsealed - again.unsealed
    return Done(mended=mended + spoilt, sealed=sealed, left=[*left, *still, *again.counts, *again.segments])


def tell(options: Globals, done: Done) -> None:
    """Print the result of a repair on stdout, a line for each item, and advice on stderr."""
    if done.path is not None:
        click.echo(tabbed("file", done.path))
    for table, count in sorted(done.rows.items()):
        click.echo(tabbed("rows", table, count))
    click.echo(tabbed("mended", done.mended, done.sealed))
    for one in done.lost:
        click.echo(tabbed("lost", one.memory, one.version, one.why))
    for name in ("damage", "notes", "left"):
        for line in getattr(done, name)[:SHOWN]:
            click.echo(tabbed(name, line))
    if done.path is not None:
        talk(
            f"The damaged file was not changed. To replace it by the new one: muisti restore-backup {done.path} --force"
        )


def _stamp() -> str:
    return datetime.fromtimestamp(system_clock() / 1e6, UTC).strftime("%Y%m%dT%H%M%SZ")
