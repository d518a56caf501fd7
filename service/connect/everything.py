"""All that Muisti puts into an agent client: its server's entry, its hooks, and the skill, as one list of changes."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from muisti.service.connect import hooks, planning
from muisti.service.connect.clients import Client, Entry, Home
from muisti.service.connect.planning import Change, Texts

NAME = "muisti"
SKILL = Path("muisti") / "SKILL.md"


@dataclass(frozen=True, slots=True)
class Parts:
    """Parts of Muisti that a client has. `hooks` and `skill` are None for a client that has no place for them."""

    client: Client
    present: bool
    entry: bool
    hooks: bool | None
    skill: bool | None


def skill_of(client: Client, home: Home) -> Path | None:
    """Return the path of the skill; None for a client that reads none."""
    return None if client.skills is None else home.folder / client.skills / SKILL


def parts(client: Client, home: Home) -> Parts:
    """Return what a client has of Muisti now."""
    place, skill = hooks.HOOKS.get(client.name), skill_of(client, home)
    return Parts(
        client,
        client.is_present(home),
        planning.entry_of(client, client.where(home), NAME) is not None,
        None if place is None else hooks.installed(client.name, place.where(home)),
        None if skill is None else skill.exists(),
    )


def connect(client: Client, home: Home, entry: Entry, options: list[str], skill: str) -> list[Change]:
    """Return the changes that give a client everything. `options` are those of its hooks, `skill` is the text of it.

    Raises:
        NotPossible: a file cannot be read, or is none of its format.
    """
    found = [planning.connect(client, client.where(home), NAME, entry)]
    if place := hooks.HOOKS.get(client.name):
        run = hooks.command(client.name, options)
        found += hooks.install(client.name, place.where(home), run, _left(found))
    if path := skill_of(client, home):
        found.append(Change(path, planning.text(path), skill))
    return merged(found)


def undo(client: Client, home: Home, skill: str) -> list[Change]:
    """Return the changes that take everything out again; a skill that somebody changed stays.

    Raises:
        NotPossible: as `connect`.
    """
    place, found = hooks.HOOKS.get(client.name), list[Change]()
    if place:
        found += hooks.uninstall(client.name, place.where(home))
    found.append(planning.undo(client, client.where(home), NAME, _left(found)))
    path = skill_of(client, home)
    if path and planning.text(path) == skill:
        found.append(Change(path, skill, None))
    return merged(found)


def save(client: Client, home: Home, changes: Iterable[Change]) -> None:
    """Write changes; the backup of the client's own file is kept, or deleted when the entry is gone.

    Raises:
        NotPossible: the disk does not let us.
    """
    own = client.where(home)
    for change in changes:
        if change.path == own:
            planning.save(change, client, NAME)
            if planning.entry_of(client, own, NAME) is None:
                planning.forget_backup(own)
        else:
            planning.write(change)


def merged(changes: Iterable[Change]) -> list[Change]:
    """Return one change for each file, of those that change anything."""
    found: dict[Path, Change] = {}
    for one in changes:
        first = found.get(one.path, one)
        found[one.path] = Change(one.path, first.before, one.after, one.mode)
    return [one for one in found.values() if one.changes]


def _left(changes: Iterable[Change]) -> Texts:
    return {one.path: one.after for one in changes}
