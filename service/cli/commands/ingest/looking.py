"""A folder beside its documents: what is new, changed, moved or gone, and bringing that in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from muisti.client import calls
from muisti.core.chunking.defaults import OVERLAP, SIZE
from muisti.service.app.client import ApiError
from muisti.service.cli.commands.ingest import shape
from muisti.service.cli.commands.ingest.sending import Sent, send, time_of, unreadable
from muisti.service.cli.session import session
from muisti.service.folders.files import Files, Found, Skipped, files

if TYPE_CHECKING:
    from muisti.service.cli.base import Globals
    from muisti.service.cli.commands.ingest.shape import How
    from muisti.service.cli.opening import Session

FORBIDDEN = 403


class Look(Struct):
    """Outcome of a look at a folder. `wanted` are the files that are new or have changed."""

    wanted: list[str] = field(default_factory=list[str])
    unchanged: int = 0
    moved: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    ended: list[str] = field(default_factory=list[str])
    skipped: list[Skipped] = field(default_factory=list[Skipped])
    sent: Sent = field(default_factory=Sent)


class Folder:
    """A folder whose files are the documents below a path."""

    def __init__(self, place: Path, prefix: str, how: How) -> None:
        self.place, self.prefix = place, prefix
        self.largest = how.largest
        self._how = how

    @classmethod
    def of(cls, place: Path, how: How) -> Folder:
        """Return a folder, whose documents begin with the path that is given or else its own."""
        return cls(place, f"{(how.name or shape.document_path(place)).rstrip('/')}/", how)

    def files(self) -> Files:
        """Return the files that are there and wanted.

        Raises:
            OSError: the folder cannot be read.
        """
        return self._how.choice.of(files(self.place, self.largest))

    def look(self, opened: Session, progress: Callable[[int, int], None], seen: Files | None = None) -> Look:
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
        found = Look(skipped=list(seen.skipped), unchanged=compared["unchanged"])
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
            found.sent = self.store(opened, {path: known[path] for path in found.wanted}, progress)
        return found

    def store(self, opened: Session, known: Mapping[str, Found], progress: Callable[[int, int], None]) -> Sent:
        """Store files, by their paths as documents."""
        return send(opened, list(known.items()), self._how, lambda done: progress(done, len(known)))

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
    """Return the SHA-256 of files; those that have just been deleted have none."""
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
    given = {"watch": False, "preview": False, "main_content": False, "allow_secrets": False}
    given |= {"languages": (), "no_tests": False}
    how = shape.how(
        **given, name=name, category=category, sync=True, dry_run=True,
        strategy="auto", chunk_size=SIZE, overlap=OVERLAP, tags=(), largest=100,
    )  # fmt: skip
    with session(options, reads=True) as opened:
        found = Folder.of(Path(folder), how).look(opened, lambda done, total: None)
    moved = [f"{before}\t{after}" for before, after in found.moved]
    return {"new or changed": found.wanted, "moved": moved, "gone": found.ended}
