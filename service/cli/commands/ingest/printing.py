"""Reports of what became of files, and of where a file would be cut: tables for people, lines for pipes, JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click
import msgspec

from muisti.service.cli.commands.ingest.looking import Look
from muisti.service.cli.commands.ingest.sending import Failed
from muisti.service.cli.commands.ingest.shape import How
from muisti.service.cli.output import cell, console, for_people, grid, safe, tabbed, talk

if TYPE_CHECKING:
    from rich.table import Table

    from muisti.service.cli.base import Globals

SHOWN = 30  # lines of each list of paths on a terminal


def print_all(options: Globals, total: Look, how: How) -> None:
    """Print what became of the files: counts, and each file that failed, moved or ended."""
    if options.json:
        click.echo(msgspec.json.encode(_said(total)))
        return
    if how.dry_run:
        talk("Nothing was stored.")
    for note in total.sent.notes:
        talk(safe(note))
    if for_people(options):
        _print_to_a_person(options, total, how)
    else:
        for line in _lines(total, how):
            click.echo(line)


def _lists(total: Look, how: How) -> list[tuple[str, list[str]]]:
    """Return what happened to paths, by its title."""
    lists = [("new or changed", total.wanted)] if how.dry_run else []
    return [*lists, ("moved", [f"{before} → {after}" for before, after in total.moved]), ("ended", total.ended)]


def _print_to_a_person(options: Globals, total: Look, how: How) -> None:
    for title, paths in _lists(total, how):
        _people(title, paths)
    _people("left out", [f"{one.path}: {one.reason}" for one in total.skipped])
    if total.sent.failed:
        console(options, stderr=True).print(_failures(total.sent.failed))
    click.echo(_sentence(total, how))


def _lines(total: Look, how: How) -> Iterator[str]:
    """Yield what became of the files as lines with tabs."""
    for title, paths in _lists(total, how):
        yield from (tabbed(title, path) for path in paths)
    yield from (tabbed("left out", one.path, one.reason) for one in total.skipped)
    yield from (tabbed("failed", one.path, one.code, one.detail) for one in total.sent.failed)
    yield from (tabbed(outcome, count) for outcome, count in _said(total)["counts"].items())


def _said(total: Look) -> dict[str, Any]:
    counts = {**total.sent.outcomes}
    counts["unchanged"] = counts.get("unchanged", 0) + total.unchanged
    counts |= {"moved": len(total.moved), "ended": len(total.ended)}
    counts |= {"left out": len(total.skipped), "failed": len(total.sent.failed)}
    return {
        "counts": counts,
        "wanted": total.wanted,
        "moved": [{"before": before, "after": after} for before, after in total.moved],
        "ended": total.ended,
        "left_out": total.skipped,
        "failed": total.sent.failed,
    }


def _sentence(total: Look, how: How) -> str:
    counts = _said(total)["counts"]
    if how.dry_run:
        counts = {"new or changed": len(total.wanted), **counts}
    return ", ".join(f"{count:,} {outcome}" for outcome, count in counts.items() if count) or "There are no files."


def _people(title: str, paths: Sequence[str]) -> None:
    for path in paths[:SHOWN]:
        click.echo(safe(f"{title}: {path}"))
    if len(paths) > SHOWN:
        click.echo(f"{title}: and {len(paths) - SHOWN:,} more")


def print_change(options: Globals, look: Look, seconds: float) -> None:
    """Print a line for each change that was brought in."""
    if options.json:
        click.echo(msgspec.json.encode(_said(look)))
        return
    for failed in look.sent.failed:
        talk(safe(f"{failed.path}: {failed.code}: {failed.detail}"))
    named = f": {', '.join(look.wanted[:3])}" if 0 < len(look.wanted) <= 3 else ""
    counts = {**look.sent.outcomes, "moved": len(look.moved), "ended": len(look.ended)}
    told = ", ".join(f"{count:,} {outcome}" for outcome, count in counts.items() if count)
    click.echo(safe(f"{told or 'nothing new'} in {seconds:.2f} s{named}"))


def _failures(failed: Sequence[Failed]) -> Table:
    table = grid(None, "file", "error", "what to do")
    for one in failed:
        table.add_row(cell(one.path), cell(one.code), cell(one.detail))
    return table


def cuts(data: Any) -> Table:
    table = grid(None, "from", "to", "tokens", "where", "beginning", right=("from", "to", "tokens"))
    for one in data["items"]:
        table.add_row(
            *(str(one[name]) for name in ("start", "stop", "tokens")), cell(_where(one)), cell(one["beginning"])
        )
    return table


def cut_lines(data: Any) -> list[str]:
    names = ("start", "stop", "tokens")
    return [tabbed(*(one[name] for name in names), _where(one), one["beginning"]) for one in data["items"]]


def _where(one: dict[str, Any]) -> str:
    """Return the definition, the headings and the page of a chunk."""
    page = [] if one["page"] is None else [f"page {one['page']}"]
    return " › ".join([*page, *one["headings"], *([one["symbol"]] if one["symbol"] else [])])
