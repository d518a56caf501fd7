"""The work of export and import: between files and a server, or the database of this machine."""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import click
import msgspec
from rich.console import RenderableType

from core.errors import NotFound
from core.terms import Scope
from service.cli.base import Failure, Globals
from service.cli.callers import access_of, demand
from service.cli.configuration import in_force
from service.cli.notes import write_notes
from service.cli.opening import client, empty, refusals, server_url, space_choice
from service.cli.output import ago, answer, cell, check_folder, console, for_people, grid, tabbed, talk
from service.cli.progress import Stages
from service.cli.whereabouts import file_of, settings_for
from service.client import Client, Reply
from service.importers.items import Unreadable
from service.importers.reading import Reading, recognised
from service.importers.sources import Source
from service.lines import compressed
from service.settings import Settings

STDOUT = "-"
REASONS = {
    "exists": "in this space already",
    "deleted": "was deleted here",
    "twice": "twice in the file",
}


class End(Protocol):
    """Where memories come from or go to: a space of a server, or of this machine's database."""

    def export(self, *, vectors: bool) -> AbstractContextManager[Iterator[bytes]]: ...
    def bring(self, pieces: Iterable[bytes], *, atomic: bool, dry_run: bool) -> Reply: ...
    def imports(self) -> Reply: ...
    def undo(self, number: int) -> Reply: ...


class _There:
    """A space of a server."""

    def __init__(self, client: Client, space: str) -> None:
        self._client, self._space = client, space

    def export(self, *, vectors: bool) -> AbstractContextManager[Iterator[bytes]]:
        return self._client.export(self._space, {"vectors": str(vectors).lower()})

    def bring(self, pieces: Iterable[bytes], *, atomic: bool, dry_run: bool) -> Reply:
        params = {"atomic": str(atomic).lower(), "dry_run": str(dry_run).lower()}
        with self._made(dry_run):
            return self._client.bring(self._space, pieces, params)

    def imports(self) -> Reply:
        return self._client.imports(self._space)

    def undo(self, number: int) -> Reply:
        return self._client.undo_import(self._space, number)

    @contextmanager
    def _made(self, dry_run: bool) -> Iterator[None]:
        """The space, made when it is missing; for a dry run only as long as that takes."""
        known = {space["name"] for space in self._client.spaces().data["items"]}
        if self._space not in known:
            self._client.create_space(self._space)
        try:
            yield
        finally:
            if self._space not in known and dry_run:
                self._client.delete_space(self._space)


def export(options: Globals, file: str, *, vectors: bool, force: bool) -> None:
    """Write the space to a file or to standard output."""
    with _end(options, need="read") as end, end.export(vectors=vectors) as pieces:
        if file == STDOUT:
            for piece in pieces:
                sys.stdout.buffer.write(piece)
        else:
            _write(pieces, Path(file), force=force)
            talk(f"Wrote {Path(file).stat().st_size:,} bytes to {file}.")


def export_notes(options: Globals, folder: str, *, force: bool) -> None:
    """Write the space to a folder of notes."""
    if folder == STDOUT:
        raise click.UsageError("notes in Markdown are written into a folder")
    with _end(options, need="read") as end, end.export(vectors=False) as pieces:
        count = write_notes(pieces, Path(folder), force=force)
    talk(f"Wrote {count:,} notes to {folder}.")


def bring(options: Globals, files: tuple[str, ...], *, system: str | None, dry_run: bool, atomic: bool) -> None:
    """Take in files, one after another."""
    failed = 0
    for file in files:
        path = Path(file)
        if not path.exists():
            raise Failure(f"there is no file {file}")
        with (
            _end(options, need="write", create=True, dry_run=dry_run) as end,
            Stages(console(options, stderr=True)) as stages,
            _unreadable(),
        ):
            stages.begin(path.name)
            done = 0

            def told(size: int, stages: Stages = stages, total: int = Source(path).size) -> None:
                nonlocal done
                done += size
                stages.note("reading", min(done, total), total)

            source = Source(path, told)
            reading = Reading(source, system or recognised(source), space_choice(options).space)
            reply = end.bring(reading.pieces(), atomic=atomic, dry_run=dry_run)
        report = {**reply.data, "skipped": {**reply.data["skipped"], **reading.skipped}}
        failed += report["failed"]
        _print(options, path.name, report)
        _advise(report)
    if failed:
        raise Failure(f"{failed:,} lines could not come in")


def show_imports(options: Globals) -> None:
    with _end(options, need="read") as end:
        reply = end.imports()
    answer(
        options,
        reply,
        table=_imports_table,
        plain=lambda data: [_imported(one) for one in data["items"]],
        none="Nothing was imported yet: muisti import FILE",
    )


def undo_import(options: Globals, number: int) -> None:
    with _end(options, need="delete") as end:
        reply = end.undo(number)
    answer(
        options,
        reply,
        table=lambda one: cell(f"Deleted the {one['memories']:,} memories that import {one['import_id']} had brought."),
        plain=lambda one: [_imported(one)],
    )


@contextmanager
def _end(options: Globals, *, need: Scope, create: bool = False, dry_run: bool = False) -> Iterator[End]:
    """The space that files come from or go to. A dry run on a database that is missing works on an empty one."""
    space = space_choice(options).space
    if server_url(options):
        with client(options) as opened, refusals(options):
            yield _There(opened, space)
    else:
        here = import_module("service.cli.here")  # with the whole service
        demand(options, need)
        open_here = import_module("service.cli.local").open_here
        with refusals(options), _settings(options, create, dry_run) as settings, open_here(settings) as engine:
            try:
                yield here.Here(engine, space, access_of(options).caller())
            except NotFound as error:
                if error.kind != "space":
                    raise
                raise Failure(f"there is no space {space}; `muisti spaces` lists those that exist") from error


@contextmanager
def _settings(options: Globals, create: bool, dry_run: bool) -> Iterator[Settings]:
    path = file_of(in_force(options))
    if not dry_run or path is None or path.exists():
        yield settings_for(options, create=create and not dry_run)
        return
    with empty(options, "import") as settings:
        yield settings


@contextmanager
def _unreadable() -> Iterator[None]:
    try:
        yield
    except Unreadable as error:
        raise Failure(f"{error}. Nothing of this file came in.") from error
    except OSError as error:
        raise Failure(f"{error.filename or 'the file'} cannot be read: {error.strerror}") from error


def _write(pieces: Iterator[bytes], file: Path, *, force: bool) -> None:
    """Write beside the file and put it in place when it is whole."""
    check_folder(file)
    if file.exists() and not force:
        raise Failure(f"{file} is there already; --force overwrites it")
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        with part.open("xb") as opened:
            for piece in compressed(pieces) if file.suffix == ".zst" else pieces:
                opened.write(piece)
            opened.flush()
            os.fsync(opened.fileno())
        part.replace(file)
    except OSError as error:
        raise Failure(f"{file} cannot be written: {error.strerror}") from error
    finally:
        part.unlink(missing_ok=True)


def _advise(report: Mapping[str, Any]) -> None:
    for bad in report["failures"][:10]:
        place = bad["place"] or f"line {bad['line']}"
        talk(f"{place}: {'; '.join(one['message'] for one in bad['errors'])}")
    if report["dry_run"]:
        talk("Nothing was changed. Without --dry-run this comes in.")
    elif report["import_id"] is not None:
        talk(f"`muisti import --undo {report['import_id']}` takes it back.")


def _print(options: Globals, name: str, report: Mapping[str, Any]) -> None:
    if options.json:
        click.echo(msgspec.json.encode(report))
    elif for_people(options):
        console(options).print(_table(name, report))
    else:
        for line in _plain(report):
            click.echo(line)


def _plain(report: Mapping[str, Any]) -> list[str]:
    lines = [tabbed("created", report["created"])]
    lines += [tabbed("skipped", reason, count) for reason, count in sorted(report["skipped"].items())]
    return [*lines, tabbed("failed", report["failed"])]


def _table(name: str, report: Mapping[str, Any]) -> RenderableType:
    table = grid(f"{name} ({report['source'] or 'muisti'})", "", "memories", right=("memories",))
    table.add_row("would come in" if report["dry_run"] else "came in", f"{report['created']:,}")
    for reason, count in sorted(report["skipped"].items()):
        table.add_row(f"passed over: {REASONS.get(reason, reason)}", f"{count:,}")
    table.add_row("could not come in", f"{report['failed']:,}")
    return table


def _imported(one: Mapping[str, Any]) -> str:
    state = "undone" if one["undone"] is not None else ""
    return tabbed(one["import_id"], one["at"], one["source"] or "muisti", one["memories"], one["actor"], state)


def _imports_table(data: Mapping[str, Any]) -> RenderableType:
    now = datetime.now(UTC)
    table = grid(None, "import", "when", "from", "memories", "by", "", right=("import", "memories"))
    for one in data["items"]:
        state = "undone" if one["undone"] is not None else ""
        values = (one["source"] or "muisti", f"{one['memories']:,}", one["actor"], state)
        table.add_row(str(one["import_id"]), ago(one["at"], now), *map(cell, values))
    return table
