"""Reads of documents, their chunks and their texts, as they are or were at a point of history."""

import base64
import binascii
from collections.abc import Iterator, Sequence
from typing import TypeVar, cast

import msgspec

from muisti.core.documents import sql as documents
from muisti.core.documents.model import DOCUMENT_SORTS, ChunkPage, Document, DocumentPage, DocumentSort, Totals
from muisti.core.identity.caller import Caller
from muisti.core.model.chunks import Chunk, located, overlap_of
from muisti.core.model.errors import Conflict, InvalidInput, NotFound
from muisti.core.model.ids import id_bytes
from muisti.core.model.places import DocumentName
from muisti.core.model.values import LIMIT_MAX, Memory, Seq
from muisti.core.query.points import AsOf, Point
from muisti.core.read.hierarchy import namespace
from muisti.core.read.reading import find_space, point_of, read_at
from muisti.core.store.database import Database, Row, Scalar, Statement
from muisti.core.store.sql import hierarchy, version_rows
from muisti.core.store.sql.hierarchy import Condition
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.text.terms import fold
from muisti.core.write.calls import Calls

TEXT_PAGE = 500  # chunks in one read of a text


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """Which documents a list shows; what is None does not choose. `folder` is the beginning of their paths."""

    folder: str | None = None
    media_type: str | None = None
    language: str | None = None
    category: str | None = None


class _Place(msgspec.Struct, frozen=True, array_like=True):
    """The place of the last document of a page: the order, the value that it is sorted by, and its id."""

    sort: str
    value: str | int
    memory: bytes


class _ChunkPlace(msgspec.Struct, frozen=True, array_like=True):
    """The place of the last chunk of a page: its position, and the characters and line breaks up to its end."""

    position: int = -1
    characters: int = 0
    lines: int = 0


T = TypeVar("T")

_PLACES = msgspec.msgpack.Decoder(_Place)
_CHUNK_PLACES = msgspec.msgpack.Decoder(_ChunkPlace)


class DocumentReader(msgspec.Struct, frozen=True, kw_only=True):
    """Reads as one caller. What the caller does not see is not there, and no read counts as a retrieval."""

    calls: Calls
    database: Database

    def get(self, space: str, name: DocumentName, *, as_of: AsOf | None = None) -> tuple[Document, Seq]:
        """Return a document, given by its path or id.

        Raises:
            NotFound: there is none.
            Conflict: documents of several categories have the path.
        """
        return self._get(space, name, self.calls.clock(), as_of)

    def _get(self, space: str, name: DocumentName, now: int, as_of: AsOf | None) -> tuple[Document, Seq]:
        found, _, answers = read_at(self.database, space, as_of, now, lambda row, point: _named(row, name, point))
        return _chosen(answers, space, name, self.calls.caller), found.seq

    def page(
        self,
        space: str,
        wanted: Filter,
        *,
        sort: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
        as_of: AsOf | None = None,
    ) -> DocumentPage:
        """Return a page of documents, and sums over all that meet the filter.

        Raises:
            InvalidInput: the limit, the order or the cursor cannot be accepted.
        """
        _check_limit(limit)
        order, after = _order(sort, cursor)
        conditions = conditions_of(wanted, self.calls.caller)

        def ask(row: SpaceRow, point: Point) -> list[Statement]:
            return [
                documents.page(row, conditions, point, order, after, limit + 1),
                documents.totals(row, conditions, point),
            ]

        found, _, (rows, (sums,)) = read_at(self.database, space, as_of, self.calls.clock(), ask)
        count, chunks, characters, size = cast(tuple[int, int, int, int], sums)
        more = len(rows) > limit
        return DocumentPage(
            items=tuple(Document(version_rows.memory(row, space)) for row in rows[:limit]),
            totals=Totals(documents=count, chunks=chunks, characters=characters, size=size),
            next_cursor=_cursor(order, rows[limit - 1]) if more else None,
            seq=found.seq,
        )

    def chunks(
        self, space: str, name: DocumentName, *, limit: int = 50, cursor: str | None = None, as_of: AsOf | None = None
    ) -> ChunkPage:
        """Return a page of the chunks of a document, in order, each with its place in the text.

        Raises:
            NotFound, Conflict: see `get`.
            InvalidInput: the limit or the cursor cannot be accepted.
        """
        _check_limit(limit)
        place = _decoded(cursor, _CHUNK_PLACES) if cursor is not None else _ChunkPlace()
        now = self.calls.clock()
        document, _ = self._get(space, name, now, as_of)

        def ask(row: SpaceRow, point: Point) -> list[Statement]:
            return [documents.chunks(row, document.memory, point, place.position, limit + 1)]

        found, _, (rows,) = read_at(self.database, space, as_of, now, ask)
        items, end = _located(rows[:limit], space, place)
        more = len(rows) > limit
        return ChunkPage(
            document=document,
            items=items,
            total=document.chunks,
            next_cursor=base64.urlsafe_b64encode(msgspec.msgpack.encode(end)).decode() if more else None,
            seq=found.seq,
        )

    def text(self, space: str, name: DocumentName, *, as_of: AsOf | None = None) -> tuple[Document, Iterator[str]]:
        """Return a document and its text in pieces. All of them show one point of history.

        Raises:
            NotFound, Conflict: see `get`.
        """
        now, found = self.calls.clock(), find_space(self.database, space)
        point = Point(found.seq.number, now) if as_of is None else point_of(self.database, space, as_of, now)
        fixed = AsOf(number=point.number, epoch=found.space.epoch) if as_of is None else as_of
        document, _ = self._get(space, name, now, fixed)
        return document, self._pieces(found, document.memory, point)

    def _pieces(self, space: SpaceRow, document: Memory, point: Point) -> Iterator[str]:
        after = -1
        while True:
            (rows,) = self.database.read([documents.chunks(space, document, point, after, TEXT_PAGE)])
            for row in rows:
                memory = version_rows.memory(row, space.space.name)
                yield memory.content[overlap_of(memory) :]
                after = memory.position or 0
            if len(rows) < TEXT_PAGE:
                return


def find_document(database: Database, space: SpaceRow, name: DocumentName, caller: Caller, now: int) -> Memory:
    """Return the current document of a name, which a write is about.

    Raises:
        NotFound, Conflict, Forbidden: see `DocumentReader.get`.
    """
    answers = database.read(_named(space, name, Point(None, now)))
    return _chosen(answers, space.space.name, name, caller).memory


def conditions_of(wanted: Filter, caller: Caller) -> list[Condition]:
    """Return the SQL of a filter, for what a caller sees."""
    category = namespace(caller, wanted.category)
    found = [] if category is None else [hierarchy.in_category(category)]
    if wanted.folder:
        found.append(documents.below(wanted.folder))
    if wanted.media_type is not None:
        found.append(documents.saying("media_type", wanted.media_type))
    if wanted.language is not None:
        found.append(documents.saying("language", wanted.language))
    return found


def _named(space: SpaceRow, name: DocumentName, point: Point) -> list[Statement]:
    raw = id_bytes(name.name)
    by_id = [] if raw is None else [documents.by_id(space, raw, point)]
    return [documents.by_path(space, name.name, point), *by_id]


def _chosen(answers: Sequence[Sequence[Row]], space: str, name: DocumentName, caller: Caller) -> Document:
    category = namespace(caller, name.category)
    paths, *ids = ([version_rows.memory(row, space) for row in rows] for rows in answers)
    found = [one for one in (*paths, *(each for some in ids for each in some)) if caller.shows(one.category)]
    if category is not None:
        found = [one for one in found if fold(one.category or "") == fold(category)]
    if not found:
        raise NotFound("document", name.name)
    if len(found) > 1 and found[0].category is not None:
        told = ", ".join(str(one.category) for one in found)
        raise Conflict(f"document {name.name!r} is in {len(found)} categories ({told}); name one")
    return Document(found[0])


def _located(rows: Sequence[Row], space: str, place: _ChunkPlace) -> tuple[tuple[Chunk, ...], _ChunkPlace]:
    found: list[Chunk] = []
    for row in rows:
        memory = version_rows.memory(row, space)
        characters, lines = cast(tuple[int, int], row[documents.CHARACTERS : documents.LINES + 1])
        found.append(located(memory, place.characters, place.lines))
        place = _ChunkPlace(memory.position or 0, place.characters + characters, place.lines + lines)
    return tuple(found), place


def _check_limit(limit: int) -> None:
    if not 1 <= limit <= LIMIT_MAX:
        raise InvalidInput.at("$.limit", f"{limit} is not between 1 and {LIMIT_MAX}")


def _order(sort: str | None, cursor: str | None) -> tuple[DocumentSort, tuple[Scalar, bytes] | None]:
    sorts: Sequence[str] = DOCUMENT_SORTS
    if sort is not None and sort not in sorts:
        raise InvalidInput.at("$.sort", f"{sort[:40]!r} is none of {', '.join(sorts)}")
    if cursor is None:
        return sort or "path", None
    place = _decoded(cursor, _PLACES)
    if place.sort not in sorts or (sort is not None and place.sort != sort):
        raise InvalidInput.at("$.cursor", "belongs to a list in another order")
    return place.sort, (place.value, place.memory)


def _decoded(cursor: str, decoder: msgspec.msgpack.Decoder[T]) -> T:
    try:
        return decoder.decode(base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True))
    except (binascii.Error, UnicodeEncodeError, msgspec.DecodeError):
        raise InvalidInput.at("$.cursor", f"{cursor[:80]!r} is no cursor of this list") from None


def _cursor(sort: str, row: Row) -> str:
    place = _Place(sort, cast("str | int", row[documents.SORTED]), cast(bytes, row[1]))
    return base64.urlsafe_b64encode(msgspec.msgpack.encode(place)).decode()
