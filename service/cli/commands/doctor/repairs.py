"""Repairs: derived data is rebuilt in place, the rows of a damaged file are copied to a new one."""

from collections.abc import Sequence
from datetime import UTC, datetime

import click
from msgspec import Struct

from muisti.core.databases import open_database
from muisti.core.embedding.models import Models
from muisti.core.model.times import system_clock
from muisti.core.operations.checkup import look
from muisti.core.operations.repair import mend, recover
from muisti.service.cli.base import Globals
from muisti.service.cli.commands.doctor.contents import Check
from muisti.service.cli.configuration import in_force
from muisti.service.cli.output import console, tabbed, talk
from muisti.service.cli.progress import Stages
from muisti.service.cli.session import refusals
from muisti.service.runtime.databases import location_of
from muisti.service.runtime.models import models_of
from muisti.service.settings import Settings

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


def repair(options: Globals, checks: Sequence[Check]) -> Done:
    """Repair the faults that the failed checks found."""
    failed = {check.name: check.detail for check in checks if check.status == "failed"}
    left = [f"{name}: {detail}" for name, detail in failed.items() if name not in (*SAVED, *MENDED)]
    with refusals(options), Stages(console(options, stderr=True)) as stages:
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
