"""Plan how a document changes: which chunks stay, which change their place or tags, which come, and which end."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

import msgspec
from msgspec import structs

from muisti.core.documents import sql as documents
from muisti.core.documents.files import key_of, of_chunk
from muisti.core.documents.model import PLACE_BYTES, Document, NewDocument, fitting, shortened, structure_of
from muisti.core.model.errors import InvalidInput
from muisti.core.model.values import DOCUMENT_MAX, Draft, Json, Memory
from muisti.core.parsing.pieces import Cut
from muisti.core.store.database import Database, Row
from muisti.core.store.sql import version_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.write.prepare import distinct_tags

# Align the chunks of a document that are there with those that it should have, by content and in order

STEP = 1 << 30  # between the positions of new chunks
POSITION_MAX = 2**53 - 1

Key = bytes


def aligned(old: Sequence[Key], new: Sequence[Key]) -> list[int | None]:
    """Return for each new key the place of the old one that it stays, ascending; None for those that are new.

    >>> aligned([b"a", b"b", b"c"], [b"a", b"x", b"c"])
    [0, None, 2]
    """
    head = common(old, new)
    tail = common(old[head:][::-1], new[head:][::-1])
    matched: list[int | None] = [*range(head), *[None] * (len(new) - head)]
    for back in range(1, tail + 1):
        matched[-back] = len(old) - back
    anchors = _anchors(old[head : len(old) - tail], new[head : len(new) - tail])
    for mine, theirs in anchors:
        matched[head + mine] = head + theirs
    _spread(old, new, matched)
    return matched


def placed(positions: Sequence[int | None]) -> list[int] | None:
    """Return positions with a number in place of each None, between its neighbours; None when a gap is too narrow.

    >>> placed([0, None, 8]), placed([4, None, 5]), placed([None, None])
    ([0, 4, 8], None, [1073741824, 2147483648])
    """
    found = list(positions)
    start = 0
    while start < len(found):
        if found[start] is not None:
            start += 1
            continue
        stop = start
        while stop < len(found) and found[stop] is None:
            stop += 1
        low = found[start - 1] if start else None
        numbers = _between(low, found[stop] if stop < len(found) else None, stop - start)
        if numbers is None:
            return None
        found[start:stop] = numbers
        start = stop
    return [one for one in found if one is not None]


def fresh(count: int) -> list[int]:
    """Return positions for a document of so many chunks."""
    step = min(STEP, POSITION_MAX // (count + 1))
    return [step * number for number in range(1, count + 1)]


def _between(low: int | None, high: int | None, count: int) -> list[int] | None:
    if low is None and high is None:
        return fresh(count)
    if high is None:
        first = (low or 0) + STEP
        return [first + STEP * number for number in range(count)] if first + STEP * count <= POSITION_MAX else None
    bottom = -1 if low is None else low
    if high - bottom - 1 < count:
        return None
    return [bottom + (high - bottom) * number // (count + 1) for number in range(1, count + 1)]


def common(old: Sequence[object], new: Sequence[object]) -> int:
    return next(
        (n for n, both in enumerate(zip(old, new, strict=False)) if both[0] != both[1]), min(len(old), len(new))
    )


def _anchors(old: Sequence[Key], new: Sequence[Key]) -> list[tuple[int, int]]:
    """Return pairs (new, old) of keys that occur once on each side, the most that are in order."""
    once = {key for key, count in Counter(old).items() if count == 1}
    once &= {key for key, count in Counter(new).items() if count == 1}
    place = {key: number for number, key in enumerate(old) if key in once}
    return _longest([(mine, place[key]) for mine, key in enumerate(new) if key in once])


def _longest(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest subsequence of pairs whose second numbers ascend."""
    ends: list[int] = []  # the least last number of an ascending sequence of each length
    last: list[int] = []  # the pair that has it
    before: list[int] = []
    for number, (_, theirs) in enumerate(pairs):
        length = bisect_left(ends, theirs)
        before.append(last[length - 1] if length else -1)
        if length == len(ends):
            ends.append(theirs)
            last.append(number)
        else:
            ends[length], last[length] = theirs, number
    found: list[tuple[int, int]] = []
    at = last[-1] if last else -1
    while at >= 0:
        found.append(pairs[at])
        at = before[at]
    return found[::-1]


def _spread(old: Sequence[Key], new: Sequence[Key], matched: list[int | None]) -> None:
    """Match equal neighbours of matched keys, behind them and before them."""
    taken = {one for one in matched if one is not None}
    for places, step in ((range(1, len(new)), 1), (range(len(new) - 2, -1, -1), -1)):
        for mine in places:
            beside = matched[mine - step]
            if matched[mine] is not None or beside is None:
                continue
            theirs = beside + step
            if 0 <= theirs < len(old) and theirs not in taken and old[theirs] == new[mine]:
                matched[mine] = theirs
                taken.add(theirs)


PAGE = 500  # chunks in one read
_SHARED = ("tags", "metadata", "author", "importance", "source", "source_class", "document", "structure")


class Known(msgspec.Struct, frozen=True):
    """A chunk that is there, without its text. `fields` identifies what it shares with its document, and its place."""

    row: int
    id: bytes
    version: int
    position: int
    key: bytes
    fields: bytes
    tokens: int


class Coming(msgspec.Struct, frozen=True):
    """A new chunk, by its place among the cuts."""

    cut: int
    position: int


class Changing(msgspec.Struct, frozen=True):
    """A chunk that stays, and whose place or fields change."""

    known: Known
    cut: int
    position: int


class Alignment(msgspec.Struct, frozen=True):
    """The chunks of a document that stay, change, come and end."""

    kept: Sequence[Known] = ()
    changing: Sequence[Changing] = ()
    coming: Sequence[Coming] = ()
    ended: Sequence[Known] = ()


def document_draft(new: NewDocument, category: str | None) -> Draft:
    """Return the draft of a document, without the figures of its text.

    Raises:
        InvalidInput: the path cannot be accepted.
    """
    check_path(new.path, "$.path")
    facts = new.facts
    said: dict[str, Json] = {
        "sha256": facts.sha256,
        "size": facts.size,
        "mtime": facts.mtime,
        "media_type": facts.media_type,
        "pages": facts.pages,
        "language": shortened(facts.language),
        "origin": facts.origin,
        "notes": list[Json](fitting(facts.notes, PLACE_BYTES)) or None,
        "options": dict(facts.options) or None,
    }
    return Draft(
        content=facts.title[:DOCUMENT_MAX] if facts.title and facts.title.strip() else new.path,
        kind="document",
        category=category,
        tags=distinct_tags(new.tags),
        metadata=new.metadata,
        author=new.author,
        importance=new.importance,
        source=new.source,
        source_class=new.source_class,
        document=new.path,
        structure={name: value for name, value in said.items() if value is not None},
    )


def check_path(path: str, where: str) -> None:
    """Raise `InvalidInput` unless a path names a document: relative, with `/`, without `.` and `..` as parts."""
    if not path.strip() or len(path) > DOCUMENT_MAX:
        raise InvalidInput.at(where, f"has {len(path):,} characters; 1 to {DOCUMENT_MAX:,} are allowed")
    if path.startswith("/") or "\\" in path or any(part in ("", ".", "..") for part in path.split("/")):
        raise InvalidInput.at(where, f"{path[:80]!r} is no relative path with / between its parts")


def chunk_draft(document: Draft, cut: Cut, parent_id: str, position: int) -> Draft:
    """Return the draft of a chunk of a document."""
    structure = structure_of(structs.replace(cut, language=of_chunk(cut, document.structure.get("language"))))
    return structs.replace(
        document, content=cut.text, kind="chunk", parent_id=parent_id, position=position, structure=structure
    )


def fields_of(memory: Memory | Draft) -> bytes:
    """Return what identifies the fields of a chunk besides its text and position."""
    values: list[Any] = [getattr(memory, name) for name in _SHARED]
    return key_of(msgspec.json.encode(values, order="deterministic").decode())


def chunks_of(database: Database, space: SpaceRow, document_id: bytes) -> list[Known]:
    """Read the chunks of a document, page by page."""
    found: list[Known] = []
    after = -1
    while True:
        (rows,) = database.read([documents.current_chunks(space, document_id, after, PAGE)])
        found += (_known(row, space.space.name) for row in rows)
        if len(rows) < PAGE:
            return found
        after = found[-1].position


def _known(row: Row, space: str) -> Known:
    memory = version_rows.memory(row, space)
    return Known(
        cast(int, row[0]),
        version_rows.raw(memory.id),
        memory.version,
        memory.position or 0,
        key_of(memory.content),
        fields_of(memory),
        memory.tokens,
    )


def align(known: Sequence[Known], keys: Sequence[bytes], fields: Sequence[bytes]) -> Alignment:
    """Return what becomes of chunks, when a document shall have texts with these keys and fields."""
    matched = aligned([one.key for one in known], keys)
    there = [None if place is None else known[place] for place in matched]
    positions = placed([None if one is None else one.position for one in there]) or fresh(len(keys))
    kept: list[Known] = []
    changing: list[Changing] = []
    coming: list[Coming] = []
    for cut, (one, position) in enumerate(zip(there, positions, strict=True)):
        if one is None:
            coming.append(Coming(cut, position))
        elif one.fields == fields[cut] and one.position == position:
            kept.append(one)
        else:
            changing.append(Changing(one, cut, position))
    stays = {place for place in matched if place is not None}
    return Alignment(kept, changing, coming, [one for place, one in enumerate(known) if place not in stays])


def is_same(before: Memory, draft: Draft) -> bool:
    """Return whether a document was made from the same file, with the same options and fields."""
    known = Document(before)
    names = ("tags", "metadata", "author", "importance", "source", "document", "content")
    return (
        all(draft.structure.get(name) == before.structure.get(name) for name in ("sha256", "options"))
        and draft.structure.get("mtime") in (None, before.structure.get("mtime"))
        and bool(known.sha256)
        and all(getattr(draft, name) == getattr(before, name) for name in names)
    )
