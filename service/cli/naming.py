"""How a person names one memory: by its id, by the end of it as tables show it, or by category and key."""

import re
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from service.cli.base import Failure

if TYPE_CHECKING:
    from service.cli.opening import Session

PAGES = 10  # of the list that are searched for the end of an id
PAGE = 100
LATEST = 1_000  # changes that are searched for the end of an id that is no longer listed
_END = re.compile(r"…?([0-9a-f]{6,12})")


def check_name(name: Sequence[str]) -> None:
    """Raise a usage error unless this is an id, or a category and a key."""
    if len(name) > 2:
        raise click.UsageError(f"expected an ID, or a CATEGORY and a KEY; got {len(name)} words")


def find(opened: "Session", name: Sequence[str]) -> dict[str, Any]:
    """The memory of that name."""
    if len(name) == 2:
        return opened.client.get_entry(opened.space, *name).data
    return opened.client.get(opened.space, find_id(opened, name[0]), no_touch=True).data


def find_id(opened: "Session", given: str, as_of: str | None = None, *, gone: bool = False) -> str:
    """The whole id of what may be the end of one, of what there was at `as_of`.

    `gone`: also of what was deleted or superseded, among the latest changes.

    Raises:
        Failure: there is none, or several, among the newest memories.
    """
    end = _END.fullmatch(given.lower())
    if import_module("core.ids").id_bytes(given) is not None or end is None:
        return given
    found, cursor = list[str](), None
    for _ in range(PAGES):
        page = opened.client.list(opened.space, limit=PAGE, cursor=cursor, as_of=as_of).data
        found += [memory["id"] for memory in page["items"] if memory["id"].endswith(end[1])]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    if not found and gone:
        found = sorted({id_ for id_ in _changed(opened) if id_.endswith(end[1])})
    if len(found) == 1:
        return found[0]
    if found:
        raise Failure(f"{given} is the end of several ids; give one in full: {', '.join(found)}")
    where = "" if cursor is None else f" among the newest {PAGES * PAGE:,} memories; give it in full"
    raise Failure(f"no id in the space {opened.space} ends with {end[1]}{where}")


def _changed(opened: "Session") -> list[str]:
    """The ids of what changed last."""
    epoch, _, number = opened.client.space(opened.space).data["seq"].rpartition(":")
    since = f"{epoch}:{max(0, int(number) - LATEST)}"
    page = opened.client.changes(opened.space, {"since": since, "limit": str(LATEST), "show": "ids"}).data
    return [change["memory_id"] for change in page["items"] if change["memory_id"]]
