"""Words for what a key may do, and what it may not. Pure functions."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

ABILITIES: dict[str, str] = {
    "read": "read and search memories",
    "append": "add memories",
    "write": "change and replace memories, decide conflicts and import files",
    "delete": "delete memories, undo changes and roll back",
    "admin": "manage spaces, webhooks and other keys, and read who reads",
}
MODES = {
    "read-only": ("read",),
    "append-only": ("read", "append"),
    "no-delete": ("read", "append", "write"),
    "full": ("read", "append", "write", "delete"),
}
ALL = "*"


class Words(NamedTuple):
    """The sentences about a key: what it can do, what it cannot do, and where."""

    can: list[str]
    cannot: list[str]
    where: str


def words(
    scopes: Collection[str], spaces: Sequence[str], category: str | None = None, source_class: str | None = None
) -> Words:
    """Say what a key can do and what it cannot.

    >>> words(["read"], ["notes"]).can, words(["read"], ["notes"]).where
    (['read and search memories', 'export a space', 'make keys that are no stronger'], 'in the space notes')
    """
    whole = category is None
    everywhere = ALL in spaces
    can = [text for scope, text in ABILITIES.items() if scope in scopes]
    cannot = [text for scope, text in ABILITIES.items() if scope not in scopes]
    (can if "read" in scopes and whole else cannot).append("export a space")
    (can if "admin" in scopes and everywhere else cannot).append("read the audit log and the statistics of the server")
    can.append("make keys that are no stronger")
    if not whole:
        cannot.append(f"see or touch memories outside of the category {category}")
    if source_class is not None:
        cannot.append(f"add memories that are trusted more than those of the class {source_class}")
    if not everywhere:
        cannot.append("see that other spaces exist")
    return Words(_ordered(can), cannot, where(spaces, category))


def where(spaces: Sequence[str], category: str | None) -> str:
    """Say in which spaces a key works.

    >>> where(["acme.*", "notes"], "travel")
    'in all spaces that begin with acme., and the space notes, in the category travel'
    """
    if ALL in spaces:
        named = "in every space, also in those to come"
    else:
        named = "in " + ", and ".join(_space(name) for name in spaces)
    return named if category is None else f"{named}, in the category {category}"


def mode_of(scopes: Collection[str]) -> str:
    """Return the short name of a list of scopes, or the list itself.

    >>> mode_of(["append", "read"]), mode_of(["append"])
    ('append-only', 'append')
    """
    for name, mode in MODES.items():
        if set(mode) == set(scopes):
            return name
    if set(scopes) == set(ABILITIES):
        return "everything"
    return ", ".join(scope for scope in ABILITIES if scope in scopes)


def _space(name: str) -> str:
    return f"all spaces that begin with {name[:-1]}" if name.endswith(ALL) else f"the space {name}"


def _ordered(can: list[str]) -> list[str]:
    last = "make keys that are no stronger"
    return [one for one in can if one != last] + [last]
