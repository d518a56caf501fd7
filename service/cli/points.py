"""Points of a space's history on the command line: checkpoints, times in words, and numbers of changes."""

from typing import TYPE_CHECKING

from muisti.client import calls
from muisti.service.app.client import ApiError
from muisti.service.cli.options import Point

if TYPE_CHECKING:
    from muisti.service.cli.opening import Session

PAST_RETENTION = "past_retention"  # code of a refusal: the space has no history of that time


def point_of(opened: "Session", text: str) -> str:
    """Return a point in a form of the API. A word such as `monday` or `7d` names a checkpoint, else a time."""
    at = Point().read(text)
    if at is None or at == text:
        return text
    named = opened.client.send(calls.list_checkpoints(opened.space)).data["items"]
    return text if any(one["name"] == text for one in named) else at


def seq_of(opened: "Session", text: str) -> str | None:
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
