"""Bring files and folders in, once or for as long as they change, and print what became of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

import click
from msgspec import structs
from watchfiles import watch

from muisti.client import calls
from muisti.service.documents.folder_sync import STDIN_PATH, Folder, How, Look, document_path, send_one
from muisti.service.documents.sending import with_content
from muisti.service.folders.choosing import IGNORE, Files, stated
from muisti.service.terminal.base import ERROR, OK, Failure, Globals
from muisti.service.terminal.output import answer, console, for_people, print_json, talk
from muisti.service.terminal.progress import Stages
from muisti.service.terminal.session import Session, session
from muisti.service.terminal.views import grid, listed, safe, tabbed

QUIET_MS = 50  # without an event, after which a batch is complete
STEP_MS = 10
GIT = f"{os.sep}.git{os.sep}"
SHOWN = 30  # lines of each list of paths on a terminal
DIRECT = 20  # changed files that are stored without a look at the whole folder


def _where(one: Mapping[str, Any]) -> str:
    page = [] if one["page"] is None else [f"page {one['page']}"]
    return " › ".join([*page, *one["headings"], *([one["symbol"]] if one["symbol"] else [])])


CUTS = listed(
    {"from": "start", "to": "stop", "tokens": "tokens", "where": _where, "beginning": "beginning"},
    ("start", "stop", "tokens", _where, "beginning"),
    right=("from", "to", "tokens"),
)


def bring(options: Globals, sources: Sequence[str], how: How) -> int:
    """Store files and the files of folders; return the exit code, 1 when one could not be stored."""
    places = [_place(source) for source in sources]
    if how.name is not None and len(places) > 1:
        raise click.UsageError("--as goes with one file or folder")
    if how.watch:
        if len(places) != 1 or places[0] is None or not places[0].is_dir():
            raise click.UsageError("--watch goes with one folder")
        return _watch(options, places[0], how)
    total = Look()
    with session(options, create=not how.dry_run, reads=how.dry_run) as opened, Stages(options, silent=True) as stages:
        for source, place in zip(sources, places, strict=True):
            stages.begin(source)
            total.add(_bring_one(opened, place, how, stages))
    _print_all(options, total, how)
    return ERROR if total.failed else OK


def preview(options: Globals, sources: Sequence[str], how: How) -> None:
    """Print where a file would be cut."""
    if len(sources) != 1:
        raise click.UsageError("--preview goes with one file")
    place = _place(sources[0])
    if place is not None and place.is_dir():
        raise click.UsageError("--preview goes with a file, not a folder")
    content = sys.stdin.buffer.read() if place is None else place.read_bytes()
    name = how.name or (STDIN_PATH if place is None else place.name)
    with session(options, reads=True) as opened:
        request = calls.preview_document(opened.space, {}, path=name, **how.reading())
        reply = opened.write(lambda: opened.client.send(with_content(request, content)))
        answer(options, reply, *CUTS)


def _place(source: str) -> Path | None:
    """Return the path of a source; None for standard input.

    Raises:
        Failure: there is no such file or folder, or it may not be read.
    """
    if source == "-":
        return None
    place = Path(source).expanduser()
    if not place.exists():
        raise Failure(f"there is no file or folder {source}")
    if not os.access(place, os.R_OK):
        raise Failure(f"{source} cannot be read: permission denied")
    return place


def _bring_one(opened: Session, place: Path | None, how: How, stages: Stages) -> Look:
    if place is not None and place.is_dir():
        return Folder.of(place, how).look(opened, partial(stages.note, "files"))
    path = how.name or (STDIN_PATH if place is None else document_path(place))
    if how.dry_run:
        return Look(wanted=[path])
    mtime = None if place is None else place.stat().st_mtime_ns // 1_000
    found = Look(wanted=[path])
    send_one(opened, path, sys.stdin.buffer.read() if place is None else place, how, found, mtime)
    return found


def _watch(options: Globals, place: Path, how: How) -> int:
    how = structs.replace(how, sync=True)
    with session(options, create=True) as opened:
        try:
            for look, seconds in Watching(options, opened, Folder.of(place, how)).looks(Event()):
                _print_change(options, look, seconds)
        except KeyboardInterrupt:
            return OK
    return OK


def changes(folder: Path, stop: Event) -> Iterator[set[str]]:
    """Yield the paths that changed, relative to the folder, batch by batch until `stop` is set.

    An empty batch comes first, when watching has begun.
    """
    top = os.path.realpath(folder)
    started = False
    for batch in watch(
        top,
        watch_filter=lambda _, path: GIT not in path and not path.endswith(f"{os.sep}.git"),
        debounce=1_600,
        step=STEP_MS,
        rust_timeout=QUIET_MS,
        yield_on_timeout=True,
        stop_event=stop,
    ):
        paths = {os.path.relpath(path, top).replace(os.sep, "/") for _, path in batch}
        if paths or not started:
            yield paths
        started = True


class Watching:
    """A folder that is brought in as it changes."""

    def __init__(self, options: Globals, opened: Session, folder: Folder) -> None:
        self._options, self._opened, self._folder = options, opened, folder
        self._known = Files({}, [])

    def looks(self, stop: Event) -> Iterator[tuple[Look, float]]:
        """Yield what became of the files and the seconds that it took: first of all, then of each change."""
        for batch in changes(self._folder.place, stop):
            began = monotonic()
            look = self._look(batch)
            if look is not None:
                yield look, monotonic() - began

    def _look(self, batch: set[str]) -> Look | None:
        """Look again where files changed; return what became of them, None when nothing did.

        Files that were there before are stored directly. Everything else takes a look at the whole folder.
        """
        folder, known = self._folder, self._known
        changed = batch & set(known.found)
        now = stated(folder.place, changed, folder.largest)
        rules = any(path.rpartition("/")[2] == IGNORE for path in batch)
        there = any((folder.place / path).exists() for path in batch - changed)  # no temporary ones that were renamed
        plain = len(now.found) == len(changed) <= DIRECT and not rules and not there
        if batch and plain:
            different = {path: file for path, file in now.found.items() if file != known.found[path]}
            if not different:
                return None
            self._known = Files({**known.found, **different}, known.skipped)
            sent = folder.store(
                self._opened, {folder.prefix + path: one for path, one in different.items()}, lambda *_: None
            )
            sent.wanted += sorted(different)
            return sent
        there = folder.files()
        if batch and there == known:
            return None
        self._known = there
        with Stages(self._options, silent=True) as stages:
            stages.begin(str(folder.place))
            return folder.look(self._opened, partial(stages.note, "files"), there)


def _print_all(options: Globals, total: Look, how: How) -> None:
    if options.json:
        print_json(_said(total))
        return
    if how.dry_run:
        talk("Nothing was stored.")
    for note in total.notes:
        talk(safe(note))
    if for_people(options):
        _print_to_a_person(options, total, how)
    else:
        for line in _lines(total, how):
            click.echo(line)


def _lists(total: Look, how: How) -> list[tuple[str, list[str]]]:
    lists = [("new or changed", total.wanted)] if how.dry_run else []
    return [*lists, ("moved", [f"{before} → {after}" for before, after in total.moved]), ("ended", total.ended)]


def _print_to_a_person(options: Globals, total: Look, how: How) -> None:
    for title, paths in _lists(total, how):
        _people(title, paths)
    _people("left out", [f"{one.path}: {one.reason}" for one in total.skipped])
    if total.failed:
        rows = ((one.path, one.code, one.detail) for one in total.failed)
        console(options, stderr=True).print(grid(None, "file", "error", "what to do", rows=rows))
    click.echo(_sentence(total, how))


def _lines(total: Look, how: How) -> Iterator[str]:
    for title, paths in _lists(total, how):
        yield from (tabbed(title, path) for path in paths)
    yield from (tabbed("left out", one.path, one.reason) for one in total.skipped)
    yield from (tabbed("failed", one.path, one.code, one.detail) for one in total.failed)
    yield from (tabbed(outcome, count) for outcome, count in _said(total)["counts"].items())


def _said(total: Look) -> dict[str, Any]:
    counts = {"unchanged": 0, **total.outcomes, "moved": len(total.moved), "ended": len(total.ended)}
    counts |= {"left out": len(total.skipped), "failed": len(total.failed)}
    return {
        "counts": counts,
        "wanted": total.wanted,
        "moved": [{"before": before, "after": after} for before, after in total.moved],
        "ended": total.ended,
        "left_out": total.skipped,
        "failed": total.failed,
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


def _print_change(options: Globals, look: Look, seconds: float) -> None:
    if options.json:
        print_json(_said(look))
        return
    for failed in look.failed:
        talk(safe(f"{failed.path}: {failed.code}: {failed.detail}"))
    named = f": {', '.join(look.wanted[:3])}" if 0 < len(look.wanted) <= 3 else ""
    counts = {**look.outcomes, "unchanged": 0, "moved": len(look.moved), "ended": len(look.ended)}
    told = ", ".join(f"{count:,} {outcome}" for outcome, count in counts.items() if count)
    click.echo(safe(f"{told or 'nothing new'} in {seconds:.2f} s{named}"))
