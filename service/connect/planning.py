"""Plans changes of client configurations: the entry of a server, the change of the file, and its undoing."""

import re
from collections.abc import Sequence
from pathlib import Path

from muisti.service.connect.clients import Client, Entry
from muisti.service.connect.files import Change, NotPossible, backup_of, text_of
from muisti.service.connect.jsonc import BLANK, Unreadable
from muisti.service.connect.program import Program


def over_http(client: Client, url: str, *, key: bool, tools: str | None = None) -> Entry:
    """Return the entry for a running server. `key`: the server asks for one, which the client reads in its environment.

    `tools` are groups of tools as the URL names them; None: those that the server offers to all.

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
    asked = f"?tools={tools}" if tools else ""
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
    try:
        return Change(path, before, client.form.put(before or "", [*client.holder, name], entry))
    except Unreadable as error:
        raise NotPossible(f"{path} cannot be changed, {error}. Nothing was written.") from error


def undo(client: Client, path: Path, name: str) -> Change:
    """Return the change that restores the file byte by byte, or removes the entry when something else has changed too.

    Raises:
        NotPossible: as `connect`.
    """
    now, kept = text(path), text_of(backup_of(path))
    if now is None:
        return Change(path, None, None)
    place = [*client.holder, name]
    try:
        entry = _within(client.form.read(now), place)
        if entry is None:
            return Change(path, now, now)
        if kept is not None and client.form.put(kept, place, entry) == now:
            return Change(path, now, kept)
        after = client.form.drop(now, place)
        if not _within(client.form.read(after), client.holder):
            after = client.form.drop(after, client.holder)
    except Unreadable as error:
        raise NotPossible(f"{path} cannot be changed, {error}. Nothing was written.") from error
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
        change.write()
    except OSError as error:
        raise NotPossible(f"{change.path} cannot be written: {error.strerror}") from error


def forget_backup(path: Path) -> None:
    """Delete the backup, which is of no use once the file is restored."""
    backup_of(path).unlink(missing_ok=True)


def text(path: Path) -> str | None:
    """Read a file; None when there is none.

    Raises:
        NotPossible: the file cannot be read, or is no UTF-8.
    """
    try:
        return text_of(path)
    except OSError as error:
        raise NotPossible(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise NotPossible(f"{path} is no UTF-8 (byte {error.start}). Nothing was written.") from error


def _within(value: object, path: Sequence[str]) -> object | None:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value
