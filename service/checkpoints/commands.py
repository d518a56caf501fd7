"""Commands about points of a space's history: checkpoint, diff, rollback."""

from collections.abc import Iterator
from typing import Any

import click

from muisti.client import calls
from muisti.service.terminal.base import Globals, command
from muisti.service.terminal.calling import Operations, cursor
from muisti.service.terminal.client import ApiError
from muisti.service.terminal.options import Point, allow_secrets, dry_run, limit
from muisti.service.terminal.output import answer
from muisti.service.terminal.session import Session, session
from muisti.service.terminal.views import ago_of, alike, lines, listed, said, seq_number, short

PAST_RETENTION = "past_retention"  # code of a refusal: the space has no history of that time


checkpoint = Operations(
    "checkpoint",
    examples=('muisti checkpoint create before-import --note "all was well"', "muisti checkpoint list"),
    help="Name points in a space's history, to return to.\n\n`muisti diff` and `muisti rollback` take the name. The "
    "versions of memories at a checkpoint are kept as long as it exists.",
)


def _lines(data: Any) -> Iterator[tuple[str, ...]]:
    for one in data["items"]:
        if one["change"] == "changed":
            for each in one["changes"]:
                yield "changed", one["id"], each["field"], short(each["before"]), short(each["after"])
        else:
            was, now = (None if one[side] is None else one[side]["content"] for side in ("before", "after"))
            yield one["change"], one["id"], "content", short(was), short(now)


CHECKPOINTS = listed(
    {"checkpoint": "name", "change": seq_number, "made": ago_of("created_at"), "by": "actor", "note": "note"},
    ("name", seq_number, "created_at", "actor", "note"),
    right=("change",),
    none="There are no checkpoints yet: muisti checkpoint create NAME",
)
DIFFERENCES = alike(("what", "memory", "field", "was", "is"), _lines, none="Nothing differs.")
ROLLED_BACK = listed(
    {
        "came back": "added",
        "changed": "changed",
        "ended": "ended",
        "to undo this": lambda data: f"muisti rollback {data['before'].rpartition(':')[2]}",
    },
    ("added", "changed", "ended"),
)


checkpoint.call(
    "create NAME --note --dry-run",
    calls.create_checkpoint,
    CHECKPOINTS._replace(plain=lines("name", seq_number)),
    'muisti checkpoint create before-import --note "all was well"',
    help="Name the space's current point.",
    prints="the name and the number of the last change up to it",
)
checkpoint.call("list", calls.list_checkpoints, CHECKPOINTS)
checkpoint.call(
    "delete NAME=checkpoint --dry-run",
    calls.delete_checkpoint,
    lambda given: said(f"Forgot {given['checkpoint']}.", given["checkpoint"]),
    "muisti checkpoint delete before-import",
    help="Delete a checkpoint; no memory changes.",
)


@command("muisti diff before-import", "muisti diff yesterday", "muisti diff 2026-01-31 before-import")
@click.argument("since")
@click.argument("until", required=False)
@limit("Memories in a page.")
@cursor
def diff(options: Globals, since: str, until: str | None, limit: int, cursor: str | None) -> None:
    """Show what changed between two points.

    SINCE and UNTIL are checkpoints, times such as 7d or yesterday, or numbers of changes; without UNTIL it is now.
    Prints how each memory differs (added, changed, ended), its ID, and a field with its old and new value.
    """
    with session(options, reads=True) as opened:
        begin, end = point_of(opened, since), None if until is None else point_of(opened, until)
        request = calls.diff_space(opened.space, since=begin, until=end, limit=limit, cursor=cursor)
        answer(options, opened.client.send(request), *DIFFERENCES)


@command("muisti rollback before-import --dry-run", "muisti rollback before-import")
@click.argument("to")
@allow_secrets
@dry_run
def rollback(options: Globals, to: str, *, dry_run: bool) -> None:
    """Restore a whole space to an earlier point.

    TO is a checkpoint, a time such as 2h or yesterday, or the number of a change. Memories that were added since are
    deleted; memories that were changed or deleted since are restored. The rollback is a change too, so it can be
    undone. Prints how many memories came back, changed and ended.
    """
    with session(options) as opened:
        request = calls.roll_back(opened.space, {"to": point_of(opened, to)}, dry_run=dry_run)
        reply = opened.client.send(request)
        answer(options, reply, *ROLLED_BACK)


def point_of(opened: Session, text: str) -> str:
    """Return a point in a form of the API. A word such as `monday` or `7d` names a checkpoint, else a time."""
    at = Point().read(text)
    if at is None or at == text:
        return text
    named = opened.client.send(calls.list_checkpoints(opened.space)).data["items"]
    return text if any(one["name"] == text for one in named) else at


def seq_of(opened: Session, text: str) -> str | None:
    """Return the Muisti-Seq of a time in a form of `Point`; None for a time before the space's history begins.

    Any other text is returned as it is.
    """
    at = Point().read(text)
    if at is None:
        return text
    request = calls.diff_space(opened.space, since=at, until=at, limit=1)
    try:
        return opened.client.send(request).data["since"]
    except ApiError as error:
        if error.code != PAST_RETENTION:
            raise
        return None
