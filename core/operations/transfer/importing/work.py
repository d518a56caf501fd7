"""The kind of task that imports a file, whichever process goes on with it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from msgspec.structs import asdict, replace

from muisti.core.model.errors import MuistiError
from muisti.core.model.operations import ImportRefused, ImportReport
from muisti.core.model.tasks import TaskFailed, TaskOver
from muisti.core.operations.transfer.importing.importer import Import, Importer
from muisti.core.operations.transfer.importing.moving import Begun, Checkpoint, Moving, read
from muisti.core.tasks.claim import CRASHED, Claim, FencedCommit
from muisti.core.tasks.runner import TRY_AGAIN

KIND = "import"
BLOB = "lines"


class ImportWork:
    """The kind of task that imports the lines in its blob. Its items are lines, which are counted and not stored."""

    name = KIND
    crashed = CRASHED

    def __init__(self, importer: Importer) -> None:
        self._importer = importer

    def run(self, claim: Claim) -> object:
        """Import the lines, and return the report.

        Raises:
            TaskFailed: lines are bad, and all or nothing was asked for; the result is the report.
        """
        asked = cast(Mapping[str, bool], claim.task.asked)
        found = read(claim.task.position)
        coming = self._importer.resume(claim.task.space, claim.caller, found, claim.task.id, atomic=asked["atomic"])
        try:
            return told(_Run(claim, coming, found).report())
        except ImportRefused as refusal:
            claim.commit()  # whoever has lost the task must not delete what another process has staged
            coming.abandon()
            raise TaskFailed(refusal.code, str(refusal), told(refusal.report)) from refusal
        except TRY_AGAIN:
            raise
        except TaskOver as over:
            if over.cancelled:
                coming.abandon()
            raise
        except MuistiError:
            claim.commit()
            coming.abandon()
            raise


@dataclass
class _Run:
    """The work of one process on an import; `found` is the checkpoint of an earlier one."""

    claim: Claim
    coming: Import
    found: Checkpoint | None

    def report(self) -> ImportReport:
        moving = self.found.moving if self.found is not None else None
        offset = 0 if self.found is None else self.found.offset
        if moving is None:
            offset, lines = self._stage(offset)
            moving = self.coming.close()
            self._commit(self.coming.checkpoint(offset, moving), lines)
        state, of_all = self.coming.checkpoint(offset, moving), moving

        def fenced(begun: Begun) -> FencedCommit:
            now = replace(state, moving=Moving(of_all.memories, of_all.versions, of_all.top, begun))
            return self.claim.fenced(position=now.text())

        return self.coming.move(moving, fenced)

    def _stage(self, offset: int) -> tuple[int, int]:
        """Stage the lines from a byte of the file on. Return its length, and the lines since the last commit."""
        lines = 0
        for line, after in _lines(self.claim, offset):
            lines, offset = lines + 1, after
            if self.coming.take_one(line):
                self.claim.check()
                self._commit(self.coming.checkpoint(offset), lines)
                lines = 0
        return offset, lines

    def _commit(self, state: Checkpoint, lines: int) -> None:
        self.claim.commit(position=state.text(), done=lines)


def _lines(claim: Claim, offset: int) -> Iterator[tuple[bytes, int]]:
    """Yield the lines of the file from a byte on, each with the byte after it."""
    rest = bytearray()
    for piece in claim.read(BLOB, offset):
        rest += piece
        *lines, tail = rest.split(b"\n")
        for line in lines:
            offset += len(line) + 1
            yield bytes(line), offset
        rest = bytearray(tail)
    if rest:
        yield bytes(rest), offset + len(rest)


def told(report: ImportReport) -> object:
    """Return a report as the result of a task, with the names that the HTTP API has for a report."""
    values = asdict(report)
    values["import_id"] = values.pop("id")
    values["seq"] = str(report.seq)
    values["origin"] = None if report.origin is None else str(report.origin)
    values["failures"] = [
        {"line": bad.line, "place": bad.place, "code": bad.code, "errors": bad.problems} for bad in report.failures
    ]
    return values
