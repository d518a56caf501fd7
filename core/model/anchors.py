"""Anchors: the places in source code that a memory cites, and whether these are still as they were.

An anchor is an object of JSON. `path` is that of a file in its repository, `symbol` the qualified name of a definition
in it. `blob` is the hash of the file when the memory was written: the SHA-256 of its bytes, or git's own. `text` is the
hash of the definition, `commit` the commit that was checked out. Readers add `state`, and in `now` a new place.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from textwrap import dedent
from typing import Literal, get_args

from muisti.core.model.values import DOCUMENT_MAX, NAME_MAX, Anchor, Memory

State = Literal["fresh", "moved", "changed", "gone", "unknown"]
STATES: tuple[State, ...] = get_args(State)
ANCHORS_MAX = 20  # of a memory
ANCHORS_BYTES = 4_096  # of JSON, of all anchors of a memory
READ = ("state", "now")  # members that only readers add

_SYMBOL = re.compile(r"[^\W\d][\w$]*(?:(?:\.|::|#)[^\W\d][\w$]*)*(?:\(\))?")
_HASHES: Mapping[str, re.Pattern[str]] = {
    "blob": re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}"),
    "commit": re.compile(r"[0-9a-f]{7,64}"),
    "text": re.compile(r"[0-9a-f]{32}"),
}
_TEXTS: Mapping[str, int] = {"path": DOCUMENT_MAX, "symbol": NAME_MAX}
_STALE: Mapping[str, str] = {"moved": "moved", "changed": "changed since", "gone": "gone since"}


def anchor_of(text: str) -> dict[str, str]:
    """Return the anchor that `path` or `path:symbol` names.

    >>> anchor_of("./src/app.py:Client::get()"), anchor_of("notes/a:b/c.md")
    ({'path': 'src/app.py', 'symbol': 'Client.get'}, {'path': 'notes/a:b/c.md'})
    """
    place, colon, symbol = text.strip().replace("::", ".").rpartition(":")
    if not colon or not place or not _SYMBOL.fullmatch(symbol):
        return {"path": path_of(text.strip())}
    return {"path": path_of(place), "symbol": symbol.replace("#", ".").removesuffix("()")}


def path_of(text: str) -> str:
    """Return a path as anchors have it.

    >>> path_of(".\\\\src\\\\app.py")
    'src/app.py'
    """
    path = text.replace("\\", "/")
    while path.startswith("./"):
        path = path[2:]
    return path


def problems_of(anchors: Sequence[Anchor]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with anchors: the place below their list, and a message."""
    if len(anchors) > ANCHORS_MAX:
        yield "", f"has {len(anchors):,} anchors; at most {ANCHORS_MAX} are allowed"
        return
    size = 0
    for number, one in enumerate(anchors):
        if "path" not in one:
            yield f"[{number}]", "needs a path"
            continue
        for name, value in one.items():
            message = _problem(name, value)
            if message is not None:
                yield f"[{number}].{name[:40]}", message
            size += len(name) + len(value.encode("utf-8", "surrogatepass")) + len('"":"",')
    if size > ANCHORS_BYTES:
        yield "", f"takes {size:,} bytes; at most {ANCHORS_BYTES:,} are allowed"


def _problem(name: str, value: str) -> str | None:
    if name in _TEXTS:
        if not 1 <= len(value) <= _TEXTS[name] or not value.isprintable():
            return f"must be a text of 1 to {_TEXTS[name]:,} characters that can be seen"
        return None
    if name not in _HASHES:
        return f"there is no such field; an anchor has {', '.join((*_TEXTS, *_HASHES))}"
    return None if _HASHES[name].fullmatch(value) else "must be a hash in small hexadecimal digits"


def text_hash(text: str, first: int, last: int) -> str:
    r"""Return the hash of the lines `first` to `last` of a text, whatever their common indentation.

    >>> text_hash("a\n  b\n", 2, 2) == text_hash("b  ", 1, 1)
    True
    """
    lines = [line.rstrip() for line in text.split("\n")[first - 1 : last]]
    return blake2b(dedent("\n".join(lines)).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def place_of(anchor: Anchor) -> str:
    """Return the place that an anchor names.

    >>> place_of({"path": "a.py", "symbol": "f", "blob": "0"})
    'a.py:f'
    """
    symbol = anchor.get("symbol")
    return f"{anchor['path']}:{symbol}" if symbol else str(anchor["path"])


def told(anchor: Anchor) -> str:
    """Return the place that an anchor names, and in words what has happened to it.

    >>> told({"path": "a.py", "state": "moved", "now": "b.py"}), told({"path": "c.py", "state": "fresh"})
    ('a.py moved to b.py', 'c.py')
    """
    state, now = anchor.get("state", ""), anchor.get("now")
    where = "" if not now else f" to {now}" if state == "moved" else f", now in {now}"
    return " ".join(f"{place_of(anchor)} {_STALE[state]}{where}".split()) if state in _STALE else place_of(anchor)


def stale(memory: Memory) -> str:
    """Return in words which anchors of a memory are no longer as they were; empty when all are."""
    return "; ".join(told(one) for one in memory.anchors if one.get("state") in _STALE) if memory.anchors else ""
