"""Reports of imports as tables, as tabbed lines and as JSON."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import click
import msgspec
from rich.console import RenderableType

from muisti.service.cli.base import Globals
from muisti.service.cli.output import ago, cell, console, for_people, grid, tabbed

REASONS = {
    "exists": "in this space already",
    "deleted": "was deleted here",
    "twice": "twice in the file",
    "a vector of another model": "a vector of another model; the text is embedded again",
}


def print_report(options: Globals, report: Mapping[str, Any], *, several: bool) -> None:
    """Print the report of a file, or of its share for one space. `several`: name that space."""
    if options.json:
        click.echo(msgspec.json.encode(report))
    elif for_people(options):
        console(options).print(_table(report, several=several))
    else:
        for line in _plain(report, several=several):
            click.echo(line)


def failed_lines(failures: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Format each bad line with its place in the file."""
    for bad in failures:
        place = bad["place"] or f"line {bad['line']}"
        yield f"{place}: {'; '.join(one['message'] for one in bad['errors'])}"


def imported(one: Mapping[str, Any]) -> str:
    """Format an import as a tabbed line."""
    state = "undone" if one["undone"] is not None else ""
    return tabbed(one["import_id"], one["at"], one["source"] or "muisti", one["memories"], one["actor"], state)


def imports_table(data: Mapping[str, Any]) -> RenderableType:
    """Return a table of the imports of a space, newest first."""
    now = datetime.now(UTC)
    table = grid(None, "import", "when", "from", "memories", "by", "", right=("import", "memories"))
    for one in data["items"]:
        state = "undone" if one["undone"] is not None else ""
        values = (one["source"] or "muisti", f"{one['memories']:,}", one["actor"], state)
        table.add_row(str(one["import_id"]), ago(one["at"], now), *map(cell, values))
    return table


def _plain(report: Mapping[str, Any], *, several: bool) -> list[str]:
    lines = [tabbed("space", report["space"])] if several else []
    lines.append(tabbed("created", report["created"]))
    lines += [tabbed("skipped", reason, count) for reason, count in sorted(report["skipped"].items())]
    lines.append(tabbed("failed", report["failed"]))
    return [*lines, tabbed("good", report["good"])] if report["refused"] else lines


def _table(report: Mapping[str, Any], *, several: bool) -> RenderableType:
    title = f"{report['file']} ({report['source'] or 'muisti'})" + (f" → space {report['space']}" if several else "")
    table = grid(title, "", "memories", right=("memories",))
    table.add_row("would be imported" if report["dry_run"] else "came in", f"{report['created']:,}")
    for reason, count in sorted(report["skipped"].items()):
        table.add_row(f"skipped:  {REASONS.get(reason, reason)}", f"{count:,}")
    table.add_row("could not come in", f"{report['failed']:,}")
    if report["refused"]:
        table.add_row("would be imported with --each", f"{report['good']:,}")
    return table
