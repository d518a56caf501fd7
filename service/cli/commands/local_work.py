"""`muisti import --local`: what the agents of this machine keep, into the spaces of its projects.

What was found is shown first, with what would be imported. Rules that were edited since the last import supersede what
they said before; everything else is an import of each space, which can be undone.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any

import click

from muisti.client import calls
from muisti.core.model.choices import LIMIT_MAX
from muisti.service.cli.commands.import_work import NAMED, How, Portion, Report, brought
from muisti.service.connect.clients import Home
from muisti.service.connect.gathering import SOURCE, Gathering, Row, Wanted
from muisti.service.formats.importers.items import Item
from muisti.service.formats.importers.rules import CATEGORY, Statement
from muisti.service.formats.importers.shares import Spread
from muisti.service.schemas.transfer import REASONS
from muisti.service.terminal.base import Failure, Globals
from muisti.service.terminal.client import ApiError, Client
from muisti.service.terminal.configuration import file_of, in_force
from muisti.service.terminal.opening import client, refusals, server_url, space_choice
from muisti.service.terminal.output import asking, print_json, show, talk
from muisti.service.terminal.progress import Stages
from muisti.service.terminal.project import FLAG, VARIABLE
from muisti.service.terminal.transfer_ends import opened_end
from muisti.service.terminal.views import Shown, grid, sized, stack, tabbed

RULES = "rules"
ALIKE = 0.6  # of an edited statement to what it was
COMPARED = 500  # statements of a file that are compared with each other
EXISTING = ("exists", "twice", "joined")


@dataclass(slots=True)
class Edits:
    """Statements of a space that changed since they were imported: memories, and what they say now."""

    changed: list[tuple[str, Item]] = field(default_factory=list[tuple[str, Item]])
    same: int = 0
    gone: int = 0
    refused: int = 0


def run(options: Globals, wanted: Wanted, *, dry_run: bool, yes: bool) -> None:
    """Read what the agents have, show it, ask, and import it."""
    if not (dry_run or yes or asking()):
        raise click.UsageError("give --yes to import, or --dry-run to see what would be imported")
    with Spread(SOURCE) as spread:
        found = Gathering(Home(Path.home(), os.environ), Path.cwd(), wanted, spread)
        with _stages(options) as stages:
            found.read(lambda done, total: stages.note("reading", done, total))
            edits = _planned(options, found)
            portions = [Portion(one.space, one.pieces, one.memories) for one in spread.shares()]
        if not options.json:
            show(options, [_of_row(one) for one in _ordered(found)], _found_table, _found_lines)
        if dry_run or not yes:
            planned = _spaces(options, portions, edits, dry_run=True)
            if dry_run or not _is_anything(planned):
                _finish(options, found, planned, dry_run=True)
                return
            show(options, planned, _table, _lines)
            if not click.confirm("Import this?", err=True):
                raise Failure("Nothing was imported.")
        _finish(options, found, _spaces(options, portions, edits, dry_run=False), dry_run=False)


@contextmanager
def _stages(options: Globals) -> Iterator[Stages]:
    with Stages(options, silent=True) as stages:
        stages.begin("this machine")
        yield stages


def _spaces(
    options: Globals, portions: Sequence[Portion], edits: Mapping[str, Edits], *, dry_run: bool
) -> list[Report]:
    """Import the memories of each space and its edited statements, or check them; return a report of each."""
    how = How(dry_run=dry_run, atomic=False)
    with opened_end(options, need="write", create=True, dry_run=dry_run) as end, _stages(options) as stages:
        reports = {one["space"]: one for one in brought(end, portions, how, stages)}
    if not dry_run:
        _supersede(options, edits)
    return [_report(space, reports.get(space), edits.get(space, Edits())) for space in sorted({*reports, *edits})]


def _report(space: str, came: Report | None, edits: Edits) -> Report:
    skipped: Mapping[str, int] = {} if came is None else came["skipped"]
    known = sum(count for reason, count in skipped.items() if reason in EXISTING)
    return {
        "space": space,
        "new": 0 if came is None else came["created"],
        "changed": len(edits.changed) - edits.refused,
        "known": known + edits.same,
        "gone": edits.gone,
        "left_out": {reason: count for reason, count in skipped.items() if reason not in EXISTING},
        "failed": (0 if came is None else came["failed"]) + edits.refused,
        "failures": [] if came is None else came["failures"],
        "import_id": None if came is None else came["import_id"],
    }


def _planned(options: Globals, found: Gathering) -> dict[str, Edits]:
    """Compare the rules with those that the spaces have, and spread those that are new."""
    edits = dict[str, Edits]()
    known = _known(options, sorted(found.rules))
    for space, statements in found.rules.items():
        edits[space] = _compared(statements, known.get(space, {}), found.files[space])
        changed = {one.external for _, one in edits[space].changed}
        for digest, one in statements.items():
            if digest not in known.get(space, {}) and one.external not in changed:
                found.spread.put(one, RULES, space)
    return edits


def _compared(statements: Mapping[str, Item], known: Mapping[str, Any], files: set[str]) -> Edits:
    """Return what changed of the files that were read. A memory that a person has changed here stays."""
    found = Edits(same=sum(digest in known for digest in statements))
    fresh: dict[str, dict[str, Item]] = {}
    for digest, one in statements.items():
        if digest not in known:
            fresh.setdefault(one.memory["metadata"]["file"], {})[str(one.memory["content"])] = one
    for digest, memory in known.items():
        file = memory["metadata"]["file"]
        is_own = Statement(0, (), memory["content"]).digest == digest
        if digest in statements or file not in files or not is_own:
            continue
        now = fresh.get(file, {})
        near = get_close_matches(memory["content"], islice(now, COMPARED), 1, ALIKE)
        if near:
            found.changed.append((memory["id"], now.pop(near[0])))
        else:
            found.gone += 1
    return found


def _known(options: Globals, spaces: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the rules that the spaces have, by the digest of what their file said."""
    with refusals(options):
        path = None if server_url(options) else file_of(in_force(options))
    if not spaces or (path is not None and not path.exists()):
        return {}
    with client(options) as opened:
        there = {one["name"] for one in opened.send(calls.list_spaces()).data["items"]}
        return {space: _rules_of(opened, space) for space in spaces if space in there}


def _rules_of(opened: Client, space: str) -> dict[str, Any]:
    found, cursor = dict[str, Any](), None
    wanted = json.dumps({"category": CATEGORY})
    while True:
        reply = opened.send(calls.list_memories(space, filter=wanted, limit=LIMIT_MAX, cursor=cursor)).data
        for one in reply["items"]:
            facts = one.get("metadata") or {}
            if isinstance(facts.get("digest"), str) and isinstance(facts.get("file"), str):
                found[facts["digest"]] = one
        cursor = reply.get("next_cursor")
        if cursor is None:
            return found


def _supersede(options: Globals, edits: Mapping[str, Edits]) -> None:
    """Put what the files say now in place of what they said. What a space refuses stays as it was."""
    if not any(one.changed for one in edits.values()):
        return
    with client(options) as opened:
        for space, one in edits.items():
            for memory_id, item in one.changed:
                body = {**item.memory, "reason": f"{item.memory['source']} was edited"}
                try:
                    opened.send(calls.supersede_memory(space, memory_id, body))
                except ApiError as error:
                    one.refused += 1
                    talk(f"{item.place}: {error.detail}")


def _is_anything(reports: Sequence[Report]) -> bool:
    return any(one["new"] or one["changed"] for one in reports)


def _finish(options: Globals, found: Gathering, reports: Sequence[Report], *, dry_run: bool) -> None:
    if options.json:
        rows = [_of_row(one) for one in _ordered(found)]
        print_json({"dry_run": dry_run, "found": rows, "unreadable": found.named, "spaces": reports})
    else:
        show(options, reports, _table, _lines)
    for line in found.named[:NAMED]:
        talk(line)
    for bad in [one for report in reports for one in report["failures"]][:NAMED]:
        talk(f"{bad['place'] or bad['line']}: {'; '.join(each['message'] for each in bad['errors'])}")
    if not _is_anything(reports):
        talk("Nothing is new.")
    elif dry_run:
        talk("Nothing was changed. With --yes this is imported.")
    for one in reports:
        if one["import_id"] is not None:
            talk(f"`muisti import --undo {one['import_id']} --space {one['space']}` undoes it.")


def _ordered(found: Gathering) -> list[Row]:
    return [found.rows[key] for key in sorted(found.rows)]


def _of_row(row: Row) -> dict[str, Any]:
    found = {name: getattr(row, name) for name in ("client", "space", "files", "conversations", "messages", "memories")}
    return {
        **found,
        "bytes": row.size,
        "first": row.first,
        "last": row.last,
        "folders": sorted(row.folders),
        "left_out": dict(sorted(row.left.items())),
    }


def _found_table(rows: Sequence[Mapping[str, Any]]) -> Shown:
    numbers = ("files", "conversations", "messages", "memories")
    table = grid(
        "Found on this machine", "agent", "space", *numbers, "size", "from", "to",
        right=(*numbers, "size"),
        rows=(
            (one["client"], one["space"], *(f"{one[name]:,}" for name in numbers), sized(one["bytes"]),
             (one["first"] or "")[:10], (one["last"] or "")[:10])
            for one in rows if one["files"]
        ),
    )  # fmt: skip
    left = [(one["client"], one["space"], reason, count) for one in rows for reason, count in one["left_out"].items()]
    if not left:
        return table
    cells = ((agent, space, reason, f"{count:,}") for agent, space, reason, count in left)
    return stack(table, grid("Left out", "agent", "space", "because it", "lines", right=("lines",), rows=cells))


def _found_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    names = ("client", "space", "files", "conversations", "messages", "memories", "bytes", "first", "last")
    found = [tabbed("found", *(one[name] for name in names)) for one in rows if one["files"]]
    left = [(one, reason, count) for one in rows for reason, count in one["left_out"].items()]
    return [*found, *(tabbed("left", one["client"], one["space"], reason, count) for one, reason, count in left)]


def _table(reports: Sequence[Report]) -> Shown:
    names = ("new", "changed", "known", "gone", "failed")
    rows = ((one["space"], *(f"{one[name]:,}" for name in names), _reasons(one)) for one in reports)
    headings = ("new", "changed", "known already", "gone from files", "refused")
    return grid("By space", "space", *headings, "and not", right=headings, rows=rows)


def _reasons(report: Report) -> str:
    return ", ".join(f"{count:,} {REASONS.get(reason, reason)}" for reason, count in sorted(report["left_out"].items()))


def _lines(reports: Sequence[Report]) -> list[str]:
    names = ("space", "new", "changed", "known", "gone", "failed")
    return [tabbed("space", *(one[name] for name in names)) for one in reports]


def wanted(options: Globals, how: Mapping[str, Any]) -> Wanted:
    """Return what the options of the command ask for.

    Raises:
        UsageError: `--project` names no folder, or several.
    """
    if len(how["projects"]) > 1:
        raise click.UsageError("--local takes one --project")
    only = Path(how["projects"][0]).expanduser().absolute() if how["projects"] else None
    if only is not None and not only.is_dir():
        raise click.UsageError(f"there is no folder {only}; with --local, --project names the folder of a project")
    since = datetime.fromisoformat(how["since"]).timestamp() if how["since"] else None
    choice = space_choice(options)
    space = choice.space if choice.why in (FLAG, VARIABLE) else None
    return Wanted(how["agents"], since, only, space, "secrets" in options.allowed)
