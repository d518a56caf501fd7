"""A folder beside its documents: what is new, changed, moved or gone. Files are sent alone, or in groups as tasks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import file_digest
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct, field

from muisti.client import Call, calls
from muisti.core.model.errors import InvalidInput
from muisti.core.parsing.chunking.options import Chunking, check
from muisti.core.parsing.containers import inside_container
from muisti.core.parsing.detect import HEAD, Format, detect
from muisti.service.documents.sending import BINARY, begun, blocks, holds_documents, reply_to, with_content
from muisti.service.folders import git
from muisti.service.folders.choosing import Choice, Files, Found, Skipped, check_languages, files
from muisti.service.terminal.client import ApiError
from muisti.service.terminal.error_messages import field_line
from muisti.service.terminal.options import comma_list
from muisti.service.terminal.progress import Pace, ended, failed_items
from muisti.service.terminal.session import Session, session

if TYPE_CHECKING:
    from muisti.service.terminal.base import Globals
STDIN_PATH = "stdin.txt"


class How(Struct, frozen=True, kw_only=True):
    """Options of the command. `largest` is in bytes."""

    name: str | None = None
    category: str | None = None
    tags: Sequence[str] = ()
    sync: bool = False
    watch: bool = False
    dry_run: bool = False
    preview: bool = False
    chunking: Chunking = Chunking()
    main_content: bool = False
    encoding: str | None = None
    largest: int = 100_000_000
    choice: Choice = Choice()

    def parameters(self) -> dict[str, Any]:
        """Return the query parameters of a request that stores files."""
        return {**self.reading(), "category": self.category, "tags": ",".join(self.tags) or None}

    def reading(self) -> dict[str, Any]:
        """Return the query parameters that say how a file is read and cut; those as usual are left out."""
        usual = Chunking()
        names = ("strategy", "size", "overlap")
        said = {name: getattr(self.chunking, name) for name in names}
        found: dict[str, Any] = {name: said[name] for name in names if said[name] != getattr(usual, name)}
        found |= {"main_content": True} if self.main_content else {}
        return found | ({} if self.encoding is None else {"encoding": self.encoding})


def how_of(*, strategy: Any, chunk_size: int, overlap: int, tags: Sequence[str], largest: int, **given: Any) -> How:
    """Return the options of the command.

    Raises:
        UsageError: they cannot be used together.
    """
    choice = Choice(comma_list(given.pop("languages")), tests=not given.pop("no_tests"))
    chunking = Chunking(strategy=strategy, size=chunk_size, overlap=overlap)
    try:
        check(chunking)
        check_languages(choice.languages)
    except InvalidInput as refused:
        raise click.UsageError("; ".join(field_line(one.path, one.message) for one in refused.problems)) from refused
    found = How(choice=choice, chunking=chunking, tags=comma_list(tags), largest=largest * 1_000_000, **given)
    if found.preview and (found.sync or found.watch):
        raise click.UsageError("--preview goes without --sync and --watch")
    if found.watch and found.dry_run:
        raise click.UsageError("--watch goes without --dry-run")
    return found


def document_path(place: Path) -> str:
    """Return the path of a file or folder as a document: from the top of its repository, whose name comes first.

    Outside of a repository it is the name of the file or folder.
    """
    place = place.resolve()
    top = git.top(place if place.is_dir() else place.parent)
    if top is None or not place.is_relative_to(top.resolve()):
        return place.name or "root"
    top = top.resolve()
    return "/".join((top.name or "root", *place.relative_to(top).parts))


FORBIDDEN = 403
GROUP_FILES, GROUP_BYTES = 200, 16_000_000  # of a task
AHEAD = 2  # tasks whose files are sent before the first of them has ended
OF_THE_FILE = frozenset({413, 415, 422})  # statuses of refusals that are about one file

OnProgress = Callable[[int], None]


class Failed(Struct, frozen=True):
    """A file that could not be stored."""

    path: str
    code: str
    detail: str


class Look(Struct):
    """Outcome of a look at files. `wanted` are those that are new or have changed.

    `outcomes` counts the documents that were sent by what became of them; `notes` say what was left out of them.
    """

    wanted: list[str] = field(default_factory=list[str])
    moved: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    ended: list[str] = field(default_factory=list[str])
    skipped: list[Skipped] = field(default_factory=list[Skipped])
    outcomes: dict[str, int] = field(default_factory=dict[str, int])
    failed: list[Failed] = field(default_factory=list[Failed])
    notes: list[str] = field(default_factory=list[str])

    def count(self, outcome: str, more: int = 1) -> None:
        if more:
            self.outcomes[outcome] = self.outcomes.get(outcome, 0) + more

    def add(self, other: Look) -> None:
        """Add what another look has found."""
        for outcome, count in other.outcomes.items():
            self.count(outcome, count)
        for name in ("wanted", "moved", "ended", "skipped", "failed", "notes"):
            getattr(self, name).extend(getattr(other, name))


def unreadable(place: Path) -> str | None:
    """Return why a file of a folder is left out: it is empty, or of no format that can be read."""
    try:
        with place.open("rb") as file:
            head = file.read(HEAD)
            inside = inside_container(head, file)
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    if not head:
        return "is empty"
    form = inside[0] if inside is not None else detect(head, place.name)
    return None if isinstance(form, Format) and form is not Format.UNKNOWN else "is binary"


def send(opened: Session, files: Sequence[tuple[str, Found]], how: How, progress: OnProgress) -> Look:
    """Store files at their paths, and return what became of them. A file that fails keeps no other from being stored.

    Raises:
        ApiError: the service refuses all files, such as for want of a scope.
        Unreachable: the service does not answer.
    """
    sent = Look()
    if len(files) <= AHEAD:
        for number, (path, file) in enumerate(files):
            send_one(opened, path, file.place, how, sent, file.mtime)
            progress(number + 1)
        return sent
    finished = 0
    running: deque[tuple[dict[str, Any], Sequence[Path]]] = deque()
    groups = iter(_groups(files))
    while True:
        while len(running) < AHEAD and (group := next(groups, None)) is not None:
            request = _form(opened.space, group, how)
            task = opened.write(lambda request=request: opened.client.send(request())).data
            running.append((task, [file.place for _, file in group]))
        if not running:
            return sent
        task, places = running.popleft()
        before = finished
        task = ended(opened.client, opened.space, task, lambda done, _, before=before: progress(before + done))
        finished += len(places)
        progress(finished)
        _count(sent, opened, task, places)


def send_one(opened: Session, path: str, source: Path | bytes, how: How, sent: Look, mtime: int | None = None) -> None:
    """Store one file, or its bytes, at a path. A large file or an archive becomes a task, which is waited for."""
    request = calls.add_documents(opened.space, {}, path=path, mtime=time_of(mtime), **how.parameters())
    try:
        answer = begun(opened, request, source) or reply_to(opened, request, source).data
    except ApiError as error:
        if error.status not in OF_THE_FILE:
            raise
        sent.failed.append(Failed(path, error.code, str(error)))
        return
    if "outcome" in answer:
        sent.count(answer["outcome"])
        sent.notes += [f"{path}: {note}" for note in answer["notes"]]
        return
    _count(sent, opened, ended(opened.client, opened.space, answer, lambda done, total: None), [source])


def _count(sent: Look, opened: Session, task: dict[str, Any], sources: Sequence[Path | bytes]) -> None:
    """Count the documents of a task: its items without the archives, whose members are items too."""
    archives = 0 if task["total"] in (None, len(sources)) else sum(map(holds_documents, sources))
    sent.count("stored", max(0, task["done"] - archives))
    sent.count("unchanged", task["skipped"])
    sent.failed += [
        Failed(one["name"], one["error"]["code"], one["error"]["detail"]) for one in failed_items(opened, task)
    ]
    if task["state"] == "failed" and "error" in task:
        sent.failed.append(Failed(task["id"], task["error"]["code"], task["error"]["detail"]))


def _groups(files: Iterable[tuple[str, Found]]) -> Iterator[list[tuple[str, Found]]]:
    group: list[tuple[str, Found]] = []
    size = 0
    for path, file in files:
        if group and (len(group) >= GROUP_FILES or size + file.size > GROUP_BYTES):
            yield group
            group, size = [], 0
        group.append((path, file))
        size += file.size
    if group:
        yield group


def _form(space: str, group: Sequence[tuple[str, Found]], how: How) -> Callable[[], Call]:
    """Return a function that makes a request with the files of a group; each of its requests reads them again."""
    boundary = token_hex(16)
    request = calls.add_documents(space, {}, wait=False, **how.parameters())
    return lambda: with_content(request, _parts(group, boundary), f"multipart/form-data; boundary={boundary}")


def _parts(group: Sequence[tuple[str, Found]], boundary: str) -> Iterator[bytes]:
    for path, file in group:
        name = path.replace("\\", "\\\\").replace('"', '\\"')
        head = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
            f"Content-Type: {BINARY}\r\nMuisti-Modified: {time_of(file.mtime)}\r\n\r\n"
        )
        yield head.encode()
        yield from blocks(file.place)
        yield b"\r\n"
    yield f"--{boundary}--\r\n".encode()


def time_of(mtime: int | None) -> str | None:
    """Return a time in microseconds as the API writes it."""
    if mtime is None:
        return None
    return f"{datetime.fromtimestamp(mtime // 1_000_000, UTC).isoformat()[:19]}.{mtime % 1_000_000:06d}Z"


Progress = Callable[[int, int, str], None]  # takes the files that are done, all of them, and more in words


class Folder:
    """A folder whose files are the documents below a path."""

    def __init__(self, place: Path, prefix: str, how: How) -> None:
        self.place, self.prefix = place, prefix
        self.largest = how.largest
        self._how = how

    @classmethod
    def of(cls, place: Path, how: How) -> Folder:
        """Return a folder, whose documents begin with the path that is given or else its own."""
        return cls(place, f"{(how.name or document_path(place)).rstrip('/')}/", how)

    def files(self) -> Files:
        """Return the files that are there and wanted.

        Raises:
            OSError: the folder cannot be read.
        """
        return self._how.choice.of(files(self.place, self.largest))

    def look(self, opened: Session, progress: Progress, seen: Files | None = None) -> Look:
        """Compare all files with the documents, and store what is new or has changed.

        Only files whose size or time differs are read. With `sync` documents whose file is gone end, and those whose
        file has moved get its path; then `wanted` excludes them.

        Raises:
            ApiError, Unreachable: the service refuses, or does not answer.
            OSError: the folder cannot be read.
        """
        seen = self.files() if seen is None else seen
        known = {f"{self.prefix}{path}": file for path, file in seen.found.items()}
        compared = self._compare(opened, known, {}, dry_run=True)
        found = Look(skipped=list(seen.skipped))
        found.count("unchanged", compared["unchanged"])
        for path in compared["wanted"]:
            reason = unreadable(known[path].place)
            if reason:
                found.skipped.append(Skipped(path.removeprefix(self.prefix), reason))
                del known[path]
        found.wanted = [path for path in compared["wanted"] if path in known]
        if self._how.sync:
            gone = compared["ended"] or compared["moved"] or len(found.wanted) < len(compared["wanted"])
            hashes = _hashes(known, found.wanted) if compared["ended"] else {}
            if gone:
                synced = self._compare(opened, known, hashes, dry_run=self._how.dry_run)
                found.moved = [(one["before"], one["after"]) for one in synced["moved"]]
                found.ended = synced["ended"]
                arrived = {after for _, after in found.moved}
                found.wanted = [path for path in found.wanted if path not in arrived]
        if not self._how.dry_run:
            wanted = {path: known[path] for path in found.wanted}
            found.add(self.store(opened, wanted, progress, len(found.skipped)))
        return found

    def store(self, opened: Session, known: Mapping[str, Found], progress: Progress, left_out: int = 0) -> Look:
        """Store files, by their paths as documents. `left_out` is the number of those that are not stored."""
        pace = Pace((file.size for file in known.values()), left_out)
        return send(opened, list(known.items()), self._how, lambda done: progress(done, len(known), pace.words(done)))

    def _compare(
        self, opened: Session, known: Mapping[str, Found], hashes: Mapping[str, str], *, dry_run: bool
    ) -> dict[str, Any]:
        """Ask the service which documents are those of the files; it ends the others unless it is a dry run."""
        body: dict[str, Any] = {"folder": self.prefix, "files": [_listed(*one, hashes) for one in known.items()]}
        if self._how.category is not None:
            body["category"] = self._how.category
        request = calls.sync_documents(opened.space, body, dry_run=dry_run or None)
        try:
            data = opened.write(lambda: opened.client.send(request)).data
        except ApiError as error:
            if error.status != FORBIDDEN or not dry_run or self._how.sync:
                raise
            return {"wanted": [*known], "ended": [], "moved": [], "unchanged": 0}  # a key that may only write
        return data["answer"] if dry_run else data


def _listed(path: str, file: Found, hashes: Mapping[str, str]) -> dict[str, Any]:
    said = {"path": path, "size": file.size, "mtime": time_of(file.mtime)}
    return {**said, "sha256": hashes[path]} if path in hashes else said


def _hashes(known: Mapping[str, Found], paths: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in paths:
        try:
            with known[path].place.open("rb") as file:
                found[path] = file_digest(file, "sha256").hexdigest()
        except OSError:
            continue
    return found


def compared(options: Globals, folder: str, name: str | None, category: str | None) -> dict[str, list[str]]:
    """Return the paths of files that differ from their documents, by what became of them."""
    how = How(name=name, category=category, sync=True, dry_run=True)
    with session(options, reads=True) as opened:
        found = Folder.of(Path(folder), how).look(opened, lambda *_: None)
    moved = [f"{before}\t{after}" for before, after in found.moved]
    return {"new or changed": found.wanted, "moved": moved, "gone": found.ended}
