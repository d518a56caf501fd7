"""Names of one memory on the command line: its id or the end of it, CATEGORY KEY, or category/key as one word.

A word is an id when it is a UUID, or six to twelve hexadecimal digits, which are the end of one. Any other word with a
slash is an address. Two words are always a category and a key.
"""

import re
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from muisti.client import calls
from muisti.client import names as by_name
from muisti.client.names import Name
from muisti.core.model.choices import LIMIT_MAX
from muisti.core.model.ids import id_bytes
from muisti.service.terminal.base import Failure, completes
from muisti.service.terminal.client import ApiError, Client

if TYPE_CHECKING:
    from muisti.service.terminal.opening import Session

NAME = "ID | CATEGORY KEY"  # metavar of an argument that names a memory
PAGES = 10  # pages of the list that are searched for the end of an id
LATEST = 1_000  # changes that are searched for the end of an id that is no longer listed
_END = re.compile(r"…?([0-9a-f]{6,12})")


def check_name(words: Sequence[str]) -> None:
    """Raise a usage error unless this is an id, or a category and a key."""
    if len(words) > 2:
        raise click.UsageError(f"expected an ID, or a CATEGORY and a KEY; got {len(words)} words")


def _checked(context: click.Context, argument: click.Parameter, words: tuple[str, ...]) -> tuple[str, ...]:
    check_name(words)
    return words


memory_argument = click.argument(
    "name", metavar=NAME, nargs=-1, required=True, shell_complete=completes("memory"), callback=_checked
)


def split_text(words: Sequence[str]) -> tuple[Sequence[str], str | None]:
    """Split the name of a memory from the text after it, if there is one.

    >>> [split_text(text.split()) for text in ("rules/deploy daily", "rules deploy", "rules deploy daily")]
    [(['rules/deploy'], 'daily'), (['rules', 'deploy'], None), (['rules', 'deploy'], 'daily')]
    """
    if len(words) > 3:
        raise click.UsageError(
            f"expected an ID, or a CATEGORY and a KEY, then a TEXT in quotes; got {len(words)} words"
        )
    if len(words) == 3 or len(words) == 2 and (_is_id(words[0]) or _splits(words[0])):
        return words[:-1], words[-1]
    return words, None


def find(opened: "Session", words: Sequence[str]) -> dict[str, Any]:
    """Read the memory that has this name."""
    return opened.client.send(by_name.get(opened.space, locate(opened, words), no_touch=True)).data


def find_id(opened: "Session", words: Sequence[str]) -> str:
    """Return the whole id of the memory that has this name.

    Raises:
        Failure: no memory has it, or several have.
    """
    name = locate(opened, words)
    return (
        name if isinstance(name, str) else opened.client.send(by_name.get(opened.space, name, no_touch=True)).data["id"]
    )


def locate_id(opened: "Session", word: str) -> str:
    """Return the whole id of a memory, deleted and superseded ones too; `word` is an id, its end or category/key.

    An id of which nothing is known is returned unchanged.

    Raises:
        Failure: no memory has the name, or several have.
    """
    name = locate(opened, [word], gone=True)
    if isinstance(name, str):
        return name
    return opened.client.send(by_name.history(opened.space, name)).data["items"][0]["memory"]["id"]


def locate(opened: "Session", words: Sequence[str], as_of: str | None = None, *, gone: bool = False) -> Name:
    """Return the name in a form that the API accepts: a whole id, or a category and a key.

    `as_of` is the point in history at which to look. With `gone`, deleted and superseded memories are found too.

    Raises:
        Failure: the end of an id, or an address with several slashes, fits none or several.
    """
    check_name(words)
    if len(words) == 2:
        return words[0], words[1]
    word = words[0]
    if _is_id(word):
        return _whole_id(opened, word, as_of, gone=gone)
    places = _splits(word)
    if len(places) < 2:
        return places[0] if places else word
    there = [place for place in places if _is_there(opened, place, as_of, gone=gone)]
    if len(there) == 1:
        return there[0]
    which = ", or ".join(" ".join(map(repr, place)) for place in there or places)
    raise Failure(f"{word!r} has several slashes: give the category and the key as two words, {which}")


def _is_id(word: str) -> bool:
    return id_bytes(word) is not None or _END.fullmatch(word.lower()) is not None


def _splits(word: str) -> list[tuple[str, str]]:
    """Return all addresses that a word may mean.

    >>> _splits("rules/deploy"), _splits("a/b/c"), _splits("/x")
    ([('rules', 'deploy')], [('a', 'b/c'), ('a/b', 'c')], [])
    """
    slashes = [at for at, letter in enumerate(word) if letter == "/"]
    return [(word[:at], word[at + 1 :]) for at in slashes if word[:at] and word[at + 1 :]]


def _is_there(opened: "Session", place: tuple[str, str], as_of: str | None, *, gone: bool) -> bool:
    try:
        if gone:
            opened.client.send(by_name.history(opened.space, place))
        else:
            opened.client.send(by_name.get(opened.space, place, as_of=as_of, no_touch=True))
    except ApiError as error:
        if error.status != 404:
            raise
        return False
    return True


def _whole_id(opened: "Session", given: str, as_of: str | None, *, gone: bool) -> str:
    """Find the one id with the given end among the newest memories; with `gone` also among the latest changes."""
    end = _END.fullmatch(given.lower())
    if end is None:
        return given
    found, more = list[str](), False
    pages = opened.pages(lambda cursor: calls.list_memories(opened.space, limit=LIMIT_MAX, cursor=cursor, as_of=as_of))
    for page in islice(pages, PAGES):
        found += [memory["id"] for memory in page.data["items"] if memory["id"].endswith(end[1])]
        more = page.data["next_cursor"] is not None
    if not found and gone:
        found = sorted({id_ for id_ in _changed(opened) if id_.endswith(end[1])})
    if len(found) == 1:
        return found[0]
    if found:
        raise Failure(f"{given} is the end of several ids; give one in full: {', '.join(found)}")
    where = "" if not more else f" among the newest {PAGES * LIMIT_MAX:,} memories; give it in full"
    raise Failure(f"no id in the space {opened.space} ends with {end[1]}{where}")


def _changed(opened: "Session") -> list[str]:
    epoch, _, number = opened.client.send(calls.get_space(opened.space)).data["seq"].rpartition(":")
    since = f"{epoch}:{max(0, int(number) - LATEST)}"
    page = opened.client.send(calls.list_changes(opened.space, since=since, limit=LATEST, show="ids")).data
    return [change["memory_id"] for change in page["items"] if change["memory_id"]]


def etag(client: Client, space: str, name: Name, version: int | None) -> str | None:
    """Return the ETag of a version. For an address, the id is requested first, because ETags contain ids."""
    if version is None:
        return None
    one = name if isinstance(name, str) else client.send(by_name.history(space, name)).data["items"][0]["memory"]["id"]
    return f'"{one}.{version}"'
