"""The lint command."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import click

from muisti.client import Call, calls
from muisti.core.model.terms import CHECKS
from muisti.service.cli.base import Globals, command
from muisti.service.cli.options import choice, flag, integer, real
from muisti.service.cli.output import answer, cell, for_people, grid, lines, revised, short_id, stack, tabbed, talk
from muisti.service.cli.session import session

if TYPE_CHECKING:
    from rich.console import RenderableType

    from muisti.client import Reply
    from muisti.service.cli.opening import Session

SHOWN = 50  # findings in a table
COLOURS = {"secret": "bold red", "contradiction": "red", "duplicate": "yellow", "orphaned": "yellow"}
AT_ONCE = 500


@command(
    "muisti lint",
    "muisti lint --check duplicate --check contradiction",
    "muisti lint --fix secret --dry-run",
    "muisti lint --fix never_recalled",
)
@choice("--check checks", "Look only for this problem; repeat it.", CHECKS, multiple=True)
@integer("--oversized-tokens", "More tokens than this are oversized.  [default: 2048]", 1)
@real("--never-recalled-days", "Age in days from which a memory should have been retrieved.  [default: 30]", 0)
@real("--stale-days", "Days without retrieval or change.  [default: 365]", 0)
@choice("--fix", "Fix the problems that this check finds.", CHECKS)
@flag("--dry-run", "With --fix: try each change, and store nothing.")
def lint(options: Globals, checks: tuple[str, ...], fix: str | None, dry_run: bool, **limits: float | None) -> None:
    """Find problems in the memories of a space.

    Looks for secrets, contradictions, duplicates, and for orphaned, oversized, stale and never recalled memories.
    Prints the check, the ID, the problem, and the command that would fix it, then a score: 100 is without problems.
    """
    if dry_run and fix is None:
        raise click.UsageError("--dry-run belongs to --fix; without it nothing changes anyway")
    wanted = (fix,) if fix else checks
    params: dict[str, Any] = {name: value for name, value in limits.items() if value is not None}
    params |= {"checks": ",".join(wanted)} if wanted else {}
    with session(options, reads=fix is None) as opened:
        if fix is not None:
            _mend(opened, params, dry_run=dry_run)
            return
        reply = _whole(opened, params)
        answer(options, reply, _table, lines("check", "memory_id", "detail", remedy))
        if not for_people(options):
            talk(f"Score {reply.data['score']} of 100, {_counted(reply.data)}.")
        for text in reply.data["skipped"]:
            talk(f"Note: {text}")


def _pages(opened: "Session", params: Mapping[str, Any]) -> Iterator["Reply"]:
    cursor: dict[str, str] = {}
    while True:
        asked = {"limit": AT_ONCE, **params, **cursor}
        reply = opened.client.send(calls.lint_space(opened.space, **asked))
        yield reply
        if reply.data["next_cursor"] is None:
            return
        cursor = {"cursor": reply.data["next_cursor"]}


def _whole(opened: "Session", params: Mapping[str, Any]) -> "Reply":
    """Return the report of the whole space, from all its pages."""
    pages = [*_pages(opened, params)]
    items, last = [one for page in pages for one in page.data["items"]], pages[-1]
    return revised(last, {**last.data, "items": items})


def _mend(opened: "Session", params: Mapping[str, Any], *, dry_run: bool) -> None:
    """Send the fixes of every finding, one after the other."""
    done = 0
    for reply in _pages(opened, params):
        for one in reply.data["items"]:
            for each in one["fix"]:
                opened.client.send(_request(each, dry_run=dry_run))
            done += 1
            click.echo(tabbed("would mend" if dry_run else "mended", one["memory_id"], one["detail"]))
    talk(f"{'Would mend' if dry_run else 'Mended'} {done:,}.")


def _request(fix: Mapping[str, Any], *, dry_run: bool) -> Call:
    """Return the request of a fix, with its query string."""
    path, _, query = fix["path"].partition("?")
    return Call(fix["method"], path, {**dict(parse_qsl(query)), "dry_run": str(dry_run).lower()}, {}, fix["body"])


def remedy(one: Mapping[str, Any]) -> str:
    """Return the command that tries the fix of a finding as a dry run."""
    if len(one["fix"]) == 1:
        (fix,) = one["fix"]
        path, _, query = fix["path"].partition("?")
        id_ = path.split("/memories/")[1].partition("/")[0]
        if fix["method"] == "DELETE":
            return f"muisti {'purge' if 'purge' in query else 'delete'} {id_} --dry-run"
        if fix["body"] == {"status": "deprecated"}:
            return f"muisti update {id_} --status deprecated --dry-run"
        if path.endswith("/restore"):
            return f"muisti restore {id_} --dry-run"
    return f"muisti lint --fix {one['check']} --dry-run"


def _counted(data: Mapping[str, Any]) -> str:
    found = ", ".join(f"{number:,} {check}" for check, number in data["found"].items()) or "nothing"
    return f"{data['checked']:,} memories, found: {found}"


def _table(data: Mapping[str, Any]) -> "RenderableType":
    table = grid(None, "check", "memory", "what is wrong", "to mend it")
    for one in islice(data["items"], SHOWN):
        table.add_row(
            cell(one["check"], COLOURS.get(one["check"], "cyan")),
            cell(short_id({"id": one["memory_id"]})),
            stack(cell(one["about"]), cell(one["detail"], "dim")),
            cell(remedy(one), "dim"),
        )
    score = data["score"]
    mark = cell(f"{score} of 100", "bold green" if score >= 90 else "bold yellow" if score >= 60 else "bold red")
    rest = len(data["items"]) - SHOWN
    more = [cell(f"{rest:,} more; --json or --plain shows all.", "dim")] if rest > 0 else []
    return stack(*([table] if data["items"] else []), *more, mark + cell(f"  {_counted(data)}"))
