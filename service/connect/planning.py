"""Changes of the configuration files of agent clients, shown as a diff and written whole, with a backup beside it.

The entry of a server is planned, put into a file and taken out again; entries that clients have are found.
"""

import difflib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from muisti.service.connect.clients import CLIENTS, Client, Entry, Home, started
from muisti.service.connect.jsonc import BLANK, Unreadable
from muisti.service.connect.program import NotPossible, Program, missing

BACKUP = ".muisti-backup"
Texts = Mapping[Path, str | None]  # of files that other changes leave
NO_TEXTS: Texts = {}


@dataclass(frozen=True, slots=True)
class Change:
    """The text of a file before and after a change. None means that there is no file. `mode` is that of a new file."""

    path: Path
    before: str | None
    after: str | None
    mode: int | None = None

    @property
    def changes(self) -> bool:
        return self.before != self.after

    def diff(self) -> list[str]:
        """Return a unified diff, its lines without line ends."""
        old, new = ((text or "").splitlines() for text in (self.before, self.after))
        return [*difflib.unified_diff(old, new, str(self.path), str(self.path), lineterm="")]

    def write(self) -> None:
        """Replace the old text by the new one, whole or not at all. Symbolic links are followed, permissions stay.

        Raises:
            OSError: the file cannot be written.
        """
        target = self.path.resolve()
        if self.after is None:
            target.unlink(missing_ok=True)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
                file.write(self.after)
                file.flush()
                os.fsync(file.fileno())
            if target.exists():
                shutil.copymode(target, name)
            elif self.mode is not None:
                os.chmod(name, self.mode)
            os.replace(name, target)
        finally:
            Path(name).unlink(missing_ok=True)


def backup_of(path: Path) -> Path:
    """Return the path of the backup, which keeps the text from before Muisti was connected."""
    return path.with_name(path.name + BACKUP)


def over_http(client: Client, url: str, *, key: bool, tools: str | None = None, space: str | None = None) -> Entry:
    """Return the entry for a running server. `key`: the server asks for one, which the client reads in its environment.

    `tools` are groups of tools as the URL names them; None: those that the server offers to all. `space` is that of
    calls which name none. Without it the client sends the folder that it works in, if it can.

    Raises:
        NotPossible: the client starts its servers itself, or does not put variables into headers.
    """
    if client.http is None:
        raise NotPossible(
            f"{client.title} starts its servers itself: leave out --url and MUISTI_URL, or add the server's address as "
            "a connector in its settings"
        )
    if key and not client.knows_variables:
        raise NotPossible(
            f"{client.title} does not read variables, so the key would be in its settings. Leave out --url and "
            "MUISTI_URL, and it starts muisti itself"
        )
    folder = None if space else client.folder
    named = [f"{name}={value}" for name, value in (("tools", tools), ("project", space), ("folder", folder)) if value]
    asked = f"?{'&'.join(named)}" if named else ""
    return client.http(f"{url.rstrip('/').removesuffix('/v1').removesuffix('/mcp')}/mcp{asked}", key)


def over_stdio(
    client: Client, program: Program, database: str, space: str | None, options: Sequence[str] = ()
) -> Entry:
    """Return the entry for a process that the client starts. Without `space` it uses that of the current project."""
    named = ["--space", space] if space else []
    first, *words = program.words
    return client.stdio(first, [*words, "mcp", "--database", database, *named, *options])


def connect(client: Client, path: Path, name: str, entry: Entry) -> Change:
    """Return the change of a file that puts the entry into it.

    Raises:
        NotPossible: the file cannot be read, or is none of its format.
    """
    before = text(path)
    with changing(path):
        return Change(path, before, client.form.put(before or "", [*client.holder, name], entry))


def undo(client: Client, path: Path, name: str, texts: Texts = NO_TEXTS) -> Change:
    """Return the change that restores the file byte by byte, or removes the entry when something else has changed too.

    Raises:
        NotPossible: as `connect`.
    """
    now, kept = text(path, texts), text(backup_of(path))
    if now is None:
        return Change(path, None, None)
    place = [*client.holder, name]
    with changing(path):
        entry = _within(client.form.read(now), place)
        if entry is None:
            return Change(path, now, now)
        if kept is not None and client.form.put(kept, place, entry) == now:
            return Change(path, now, kept)
        after = client.form.drop(now, place)
        for depth in range(len(client.holder), 0, -1):
            if not _within(client.form.read(after), client.holder[:depth]):
                after = client.form.drop(after, client.holder[:depth])
    return Change(path, now, None if kept is None and re.fullmatch(r"\s*(\{\s*\})?\s*", after.strip(BLANK)) else after)


def save(change: Change, client: Client, name: str) -> None:
    """Write a change, and keep a backup of the text from before Muisti was connected.

    Raises:
        NotPossible: the disk does not let us.
    """
    backup = backup_of(change.path)
    try:
        if change.before is not None and change.after is not None:
            ours = _within(client.form.read(change.before), [*client.holder, name]) is not None
            if not (ours and backup.exists()):
                Change(backup, None, change.before).write()
    except OSError as error:
        raise NotPossible(f"{backup} cannot be written: {error.strerror}") from error
    write(change)


def write(change: Change) -> None:
    """Write a change.

    Raises:
        NotPossible: the disk does not let us.
    """
    try:
        change.write()
    except OSError as error:
        raise NotPossible(f"{change.path} cannot be written: {error.strerror}") from error


def forget_backup(path: Path) -> None:
    """Delete the backup, which is of no use once the file is restored."""
    backup_of(path).unlink(missing_ok=True)


def text(path: Path, texts: Texts = NO_TEXTS) -> str | None:
    """Return the text of a file with its line ends as they are, as other changes leave it; None when there is none.

    Raises:
        NotPossible: the file cannot be read, or is no UTF-8.
    """
    if path in texts:
        return texts[path]
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise NotPossible(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise NotPossible(f"{path} is no UTF-8 (byte {error.start}). Nothing was written.") from error


@contextmanager
def changing(path: Path) -> Iterator[None]:
    """Raise `NotPossible` when a file is none of its format."""
    try:
        yield
    except Unreadable as error:
        raise NotPossible(f"{path} cannot be changed, {error}. Nothing was written.") from error


def _within(value: object, path: Sequence[str]) -> object | None:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


class Registered(NamedTuple):
    """An entry in the configuration file of a client. `project`: the file is one of a project."""

    client: Client
    path: Path
    project: bool
    entry: Entry

    @property
    def missing(self) -> str | None:
        """The file that the entry needs and that is gone; None when it is there, or a server is reached by its URL."""
        words = started(self.entry)
        return None if words is None else missing(words)

    @property
    def remedy(self) -> str:
        """The command that writes the entry again."""
        return f"muisti connect {self.client.name}{' --project' if self.project else ''}"


def registered(home: Home, folder: Path, name: str = "muisti") -> Iterator[Registered]:
    """Yield the entry `name` of each client, in the user's files and in those of the project in a folder."""
    for client in CLIENTS.values():
        for path, project in ((client.where(home), False), (client.project and folder / client.project, True)):
            if path and (found := entry_of(client, Path(path), name)):
                yield Registered(client, Path(path), project, found)


def entry_of(client: Client, path: Path, name: str) -> Entry | None:
    """Return the entry `name` in a file; None when there is none, or when the file cannot be read."""
    try:
        value = _within(client.form.read(text(path) or ""), [*client.holder, name])
    except (NotPossible, Unreadable):
        return None
    return dict(value) if isinstance(value, Mapping) else None
