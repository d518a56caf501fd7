"""A row of the table in outcomes.md, as an import has really gone."""

from pathlib import Path

from muisti.service.formats.importers.registry import Reading
from muisti.service.schemas.transfer import ImportReply
from tests.service.formats.importers.fixtures import Fixture

PAGE = Path(__file__).parent / "outcomes.md"


def row(fixture: Fixture, reading: Reading, report: ImportReply, again: ImportReply) -> str:
    """`again` is the report of the second time."""
    skipped = ", ".join(f"{count} {reason}" for reason, count in sorted(reading.skipped.items())) or "0"
    places = f", {report.failures[0].place}" if report.failures else ""
    return (
        f"| {fixture.system} | {fixture.name} | {reading.read} | {report.created} | {skipped} "
        f"| {report.failed}{places} | {again.created} |"
    )
