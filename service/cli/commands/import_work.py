"""Import of files into a server, or into the database of this machine.

A dry run and the import itself run the same code. A file is divided into shares, one for each space, and the report of
each share says how many of its memories were imported.
"""

import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from muisti.client import calls
from muisti.service.formats.importers.items import Unreadable
from muisti.service.formats.importers.registry import OWN, OnProgress, own_files, recognised
from muisti.service.formats.importers.shares import Shares
from muisti.service.formats.importers.source_files import Source
from muisti.service.schemas.transfer import REASONS
from muisti.service.terminal.base import ERROR, Failure, Globals
from muisti.service.terminal.client import ApiError
from muisti.service.terminal.opening import space_choice
from muisti.service.terminal.output import answer, print_json, show, talk
from muisti.service.terminal.progress import Stages
from muisti.service.terminal.project import VARIABLE, space_name
from muisti.service.terminal.session import ask
from muisti.service.terminal.transfer_ends import End, existing, opened_end
from muisti.service.terminal.values import STDIN
from muisti.service.terminal.views import Shown, ago_of, cell, grid, listed, tabbed

NAMED = 10  # bad lines on a terminal
Report = dict[str, Any]


@dataclass(frozen=True)
class How:
    """Options of an import. `projects` chooses some of the projects of a file; empty for all of them."""

    system: str | None = None
    dry_run: bool = False
    atomic: bool = True
    projects: Sequence[str] = ()


@dataclass
class Portion:
    """The part of a file that goes into one space. `total` is the number of its memories, None when unknown."""

    space: str
    pieces: Callable[[OnProgress], Iterator[bytes]]
    total: int | None


def _state(one: Any) -> str:
    return "undone" if one["undone"] is not None else ""


def _system(one: Any) -> str:
    return one["source"] or "muisti"


IMPORTS = listed(
    {
        "import": "import_id",
        "when": ago_of("at"),
        "from": _system,
        "memories": lambda one: f"{one['memories']:,}",
        "by": "actor",
        "": _state,
    },
    ("import_id", "at", _system, "memories", "actor", _state),
    right=("import", "memories"),
    none="Nothing was imported yet: muisti import FILE",
)


def bring(options: Globals, files: Sequence[str], how: How) -> None:
    """Import files, one after another. A file that fails does not stop the others.

    Raises:
        Failure: something of a file could not be imported.
    """
    failed = sum(_bring_file(options, file, how) for file in files)
    if failed:
        raise Failure(f"{failed:,} {'line' if failed == 1 else 'lines'} could not be imported")


def show_imports(options: Globals) -> None:
    """List the imports of the space."""
    ask(options, calls.list_imports, IMPORTS, reads=True)


def undo_import(options: Globals, number: int) -> None:
    """Delete the memories of an import."""
    space = space_choice(options).space
    with opened_end(options, need="delete") as end, existing(space):
        reply = end.undo(space, number)
    words = f"Deleted the {reply.data['memories']:,} memories that import {reply.data['import_id']} had brought."
    answer(options, reply, lambda _: cell(words), IMPORTS.plain)


def _bring_file(options: Globals, file: str, how: How) -> int:
    with (
        _problems(options, file),
        _source(file) as source,
        opened_end(options, need="write", create=True, dry_run=how.dry_run) as end,
        Stages(options, silent=True) as stages,
    ):
        stages.begin(source.name)
        with _shares(options, source, how, stages) as shares:
            reports = brought(end, shares, how, stages)
    several = len(reports) > 1 or any(report["space"] != space_choice(options).space for report in reports)
    for report in reports:
        table, lines = partial(_report_table, several=several), partial(_report_lines, several=several)
        show(options, {"file": source.name, **report}, table, lines)
    _advise(source.name, reports, how)
    return sum(report["failed"] for report in reports)


def brought(end: End, shares: Sequence[Portion], how: How, stages: Stages) -> list[Report]:
    """Import the shares of a file, and return their reports. If `how` is atomic, all shares are imported or none."""
    is_one = how.dry_run or (how.atomic and len(shares) > 1)
    reports: list[Report] = []
    if is_one:
        reports = [_portion_brought(end, share, how, stages, dry_run=True) for share in shares]
    is_refused = how.atomic and any(report["failed"] for report in reports)
    if not how.dry_run and not is_refused:
        reports = [_portion_brought(end, share, how, stages, dry_run=False) for share in shares]
        is_refused = how.atomic and any(report["failed"] for report in reports)
    if is_refused:  # nothing is imported of the valid shares either
        reports = [{**one, "created": 0, "versions": 0} if one["import_id"] is None else one for one in reports]
    return [{**one, "dry_run": how.dry_run, "refused": is_refused} for one in reports]


def _portion_brought(end: End, share: Portion, how: How, stages: Stages, *, dry_run: bool) -> Report:
    stage = f"{'checking' if dry_run else 'storing'} in {share.space}"
    last = f"{'finishing the check' if dry_run else 'putting all in place'} in {share.space}"

    def show_progress(memories: int) -> None:
        stages.note(stage, memories, share.total)
        if memories == share.total:
            stages.note(last, 0, None)

    rest = partial(stages.note, last)
    with _made(end, share.space, dry_run=dry_run) as came:
        try:
            asked = {"atomic": how.atomic, "dry_run": dry_run}
            report = end.bring(share.space, share.pieces, show_progress, rest, **asked)
        except ApiError as error:
            if error.code != "invalid_input":
                raise
            raise Unreadable("; ".join(bad["message"] for bad in error.errors)) from error
        came(not dry_run and not (how.atomic and report["failed"]))
    return {"space": share.space, **report}


@contextmanager
def _made(end: End, space: str, *, dry_run: bool) -> Iterator[Callable[[bool], None]]:
    """Create a missing space for the import, and delete it afterwards if nothing was imported."""
    stays = False

    def came(something: bool) -> None:
        nonlocal stays
        stays = something

    is_new = space not in end.spaces()
    if is_new:
        end.make(space)
    try:
        yield came
    finally:
        if is_new and not stays and end.spaces().get(space):
            end.drop(space)
    if is_new and stays and not dry_run:
        talk(f"Created the space {space}.")


@contextmanager
def _source(file: str) -> Iterator[Source]:
    """Return the file. Standard input is copied to a temporary file, because most formats are read more than once."""
    if file != STDIN:
        path = Path(file)
        if not path.exists():
            raise Unreadable(f"there is no file {file}")
        yield Source(path)
        return
    with TemporaryDirectory(prefix="muisti-import-") as folder:
        path = Path(folder) / "stdin"
        with path.open("xb") as aside:
            shutil.copyfileobj(sys.stdin.buffer, aside)
        yield Source(path, name="standard input")


@contextmanager
def _shares(options: Globals, source: Source, how: How, stages: Stages) -> Iterator[list[Portion]]:
    """Divide the file into shares, one for each space. `--space` and its variable name one space for all of it."""
    choice, system = space_choice(options), how.system or recognised(source)
    is_named = choice.why in ("--space", VARIABLE)
    if system == OWN:
        if how.projects:
            raise click.UsageError("--project picks among the projects of other systems; this is an export of Muisti")
        files = own_files(source)
        one_space = choice.space if is_named or not source.is_folder else None
        yield [Portion(one_space or one.space, one.pieces, one.versions) for one in files]
        return

    def place(home: str | None) -> str | None:
        if how.projects and home not in how.projects:
            return None
        return choice.space if is_named or home is None else space_name([part for part in home.split("/") if part])

    with Shares(source, system, place, each=not how.atomic) as shares:
        found = shares.read(lambda memories: stages.note("reading", memories, None))
        shares.check(how.projects)
        yield [Portion(one.space, one.pieces, one.memories) for one in found]


@contextmanager
def _problems(options: Globals, file: str) -> Iterator[None]:
    """End the command with exit code 1 for an unreadable file; with --json print the problem as the API would."""
    try:
        yield
    except Unreadable as error:
        raise _failure(options, f"{error}. Nothing of this file was imported.") from error
    except OSError as error:
        raise _failure(options, f"{error.filename or file} cannot be read: {error.strerror}") from error


def _failure(options: Globals, message: str) -> Failure:
    if options.json:
        problem = {"type": "/problems/invalid_input", "title": "Invalid input", "status": 422, "detail": message}
        print_json({**problem, "code": "invalid_input", "errors": []})
    return Failure(message, ERROR)


def _advise(name: str, reports: Sequence[Report], how: How) -> None:
    bad = [one for report in reports for one in report["failures"]]
    for line in _failed_lines(bad[:NAMED]):
        talk(line)
    failed = sum(report["failed"] for report in reports)
    if failed > NAMED:
        talk(f"… and {failed - NAMED:,} more" + (" (--json names a hundred)" if len(bad) > NAMED else ""))
    if any(one["code"] == "sensitive_content" for one in bad):
        talk("--allow-secrets stores what only looks like a secret, --allow-personal-data personal data.")
    if reports[0]["refused"]:
        good = sum(report["good"] for report in reports)
        would = "would be" if how.dry_run else "was"
        other = f" --each imports the {good:,} other {'memory' if good == 1 else 'memories'}." if good else ""
        talk(f"Nothing of {name} {would} imported: {failed:,} of its lines are bad.{other}")
    elif how.dry_run:
        talk("Nothing was changed. Without --dry-run this is imported.")
    for report in reports:
        if report["import_id"] is not None:
            talk(f"`muisti import --undo {report['import_id']} --space {report['space']}` undoes it.")


def _failed_lines(failures: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for bad in failures:
        place = bad["place"] or f"line {bad['line']}"
        yield f"{place}: {'; '.join(one['message'] for one in bad['errors'])}"


def _report_lines(report: Mapping[str, Any], *, several: bool) -> list[str]:
    lines = [tabbed("space", report["space"])] if several else []
    lines.append(tabbed("created", report["created"]))
    lines += [tabbed("skipped", reason, count) for reason, count in sorted(report["skipped"].items())]
    lines.append(tabbed("failed", report["failed"]))
    return [*lines, tabbed("good", report["good"])] if report["refused"] else lines


def _report_table(report: Mapping[str, Any], *, several: bool) -> Shown:
    title = f"{report['file']} ({report['source'] or 'muisti'})" + (f" → space {report['space']}" if several else "")
    rows = [("would be imported" if report["dry_run"] else "came in", report["created"])]
    rows += [(f"skipped:  {REASONS.get(reason, reason)}", count) for reason, count in sorted(report["skipped"].items())]
    rows += [("could not come in", report["failed"])]
    rows += [("would be imported with --each", report["good"])] if report["refused"] else []
    return grid(title, "", "memories", right=("memories",), rows=((what, f"{count:,}") for what, count in rows))
