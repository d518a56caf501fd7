"""Export a space as records, page by page: its whole history up to one change.

Nothing is held open between pages. History only grows, so all pages show the same change, whatever is written
meanwhile. If history is erased meanwhile, the export fails at the end.
"""

from collections.abc import Iterator, Sequence
from typing import cast

from muisti.core.model.errors import Conflict, NotFound
from muisti.core.model.ids import id_text
from muisti.core.model.times import from_us
from muisti.core.model.values import Seq
from muisti.core.operations.transfer.records import (
    FORMAT,
    ChangeLine,
    CountsRecord,
    End,
    GenerationRecord,
    Header,
    PassageRecord,
    Record,
    SettingsRecord,
    SpaceRecord,
    TelemetryLine,
    VersionLine,
    memory_record,
    vector_text,
)
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database, Row, Rows, Statement
from muisti.core.store.sql import spaces, version_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import COLUMNS, WIDTH

PAGE = 200  # changes


class Export:
    """An export. `seq` is its point of history; `vectors` includes passages and their vectors."""

    def __init__(self, database: Database, space: str, now: int, version: str, *, vectors: bool) -> None:
        """`now` is in microseconds; `version` is the version of Muisti.

        Raises:
            NotFound: there is no such space.
        """
        self._database = database
        self._space = find_space(database, space)
        self._vectors = vectors
        self.seq: Seq = self._space.seq
        versions, living, changes = database.read(sizes(self._space, self.seq.number))
        (generations,) = database.read([all_models()])
        self._versions = cast(int, versions[0][0])
        self.header = Header(
            format=FORMAT,
            muisti=version,
            exported_at=from_us(now),
            space=_space(self._space),
            generations={str(row[0]): GenerationRecord(*cast(tuple[str, str, int], row[1:])) for row in generations}
            if vectors
            else {},
            counts=CountsRecord(cast(int, living[0][0]), self._versions, cast(int, changes[0][0])),
        )

    def pages(self) -> Iterator[Sequence[Record]]:
        """Yield the records in pages.

        Raises:
            NotFound, Conflict: the space was erased and created again, or history was erased meanwhile.
        """
        yield [self.header]
        lines, versions, after = 1, 0, 0
        while after < self.seq.number:
            page, upto = self._page(after)
            yield page
            lines, after = lines + len(page), upto
            versions += sum(isinstance(record, VersionLine) for record in page)
        self._check(self._database.read([spaces.state(self._space)])[0])
        if versions != self._versions:
            raise Conflict("memories were erased during the export, so the file is incomplete; export again")
        for page in self._telemetry():
            yield page
            lines += len(page)
        yield [End(lines)]

    def _telemetry(self) -> Iterator[Sequence[Record]]:
        """Yield the retrieval counts of memories, as of now, because they have no history."""
        after = b""
        while True:
            (rows,) = self._database.read([retrievals_of(self._space, self.seq.number, after, PAGE)])
            if not rows:
                return
            yield [_retrieved(row) for row in rows]
            after = cast(bytes, rows[-1][0])

    def _page(self, after: int) -> tuple[list[Record], int]:
        """Return the records of the next changes, and the number of the last of these changes."""
        seq = self.seq.number
        state, changed = self._database.read([spaces.state(self._space), changes_of(self._space, after, seq, PAGE)])
        self._check(state)
        upto = cast(int, changed[-1][0]) if len(changed) == PAGE else seq
        ask = [versions_of(self._space, after, upto)]
        ask += [passages_of(self._space, after, upto)] if self._vectors else []
        born, *cut = self._database.read(ask)
        passages = _passages(cut[0]) if cut else {}
        lines: list[tuple[int, int, Record]] = [(cast(int, row[0]), 0, _change(row, seq)) for row in changed]
        lines += [(line.born, 1, line) for line in (self._version(row, passages) for row in born)]
        return [record for _, _, record in sorted(lines, key=lambda line: line[:2])], upto

    def _version(self, row: Row, passages: dict[int, list[PassageRecord]]) -> VersionLine:
        row_id, born, died = cast(tuple[int, int, int | None], (row[0], *row[WIDTH : WIDTH + 2]))
        return VersionLine(
            born=born,
            died=died if died is not None and died <= self.seq.number else None,
            memory=memory_record(version_rows.memory(row, self._space.space.name)),
            passages=passages.get(row_id, []) if self._vectors else None,
        )

    def _check(self, state: Rows) -> None:
        if not state or state[0][0] != self._space.space.epoch:
            raise NotFound("space", self._space.space.name, "it was erased and created again during the export")


def _space(row: SpaceRow) -> SpaceRecord:
    space = row.space
    said = space.settings
    embedded = list(said.embedded_fields)
    settings = SettingsRecord(
        dict(said.lexical_weights), embedded, said.description, said.title, dict(said.labels), said.changed_us
    )
    return SpaceRecord(space.name, space.epoch, space.seq, space.created_at, settings, space.generation, row.kept_from)


def _change(row: Row, seq: int) -> ChangeLine:
    number, kind, memory_id, version, at, actor, request, undone = cast(
        tuple[int, str, bytes | None, int | None, int, str | None, str | None, int | None], row
    )
    return ChangeLine(
        seq=number,
        kind=kind,
        id=None if memory_id is None else id_text(memory_id),
        version=version,
        at=from_us(at),
        actor=actor,
        request=request,
        undone=undone if undone is not None and undone <= seq else None,
    )


def _retrieved(row: Row) -> TelemetryLine:
    memory_id, count, last = cast(tuple[bytes, int, int], row)
    return TelemetryLine(id=id_text(memory_id), retrieval_count=count, last_retrieved_at=from_us(last))


def _passages(rows: Rows) -> dict[int, list[PassageRecord]]:
    """Return the passages of each version, by its row id."""
    found: dict[int, list[PassageRecord]] = {}
    last = (-1, -1)
    for row in rows:
        version, number, start, stop, generation, vector = cast(
            tuple[int, int, int, int, int | None, bytes | None], row
        )
        if (version, number) != last:
            found.setdefault(version, []).append(PassageRecord(start, stop, {}))
            last = (version, number)
        if vector is not None:
            found[version][-1].vectors[str(generation)] = vector_text(vector)
    return found


# The SQL of exports: the history of a space in order, as of one change


def sizes(space: SpaceRow, seq: int) -> list[Statement]:
    """Count the versions, the memories that are not deleted, and the changes as of change `seq`."""
    return [
        Statement("SELECT count(*) FROM versions WHERE space_id = ? AND born <= ?", (space.id, seq)),
        Statement(
            "SELECT count(*) FROM versions WHERE space_id = ? AND born <= ? AND (died IS NULL OR died > ?)",
            (space.id, seq, seq),
        ),
        Statement("SELECT count(*) FROM changes WHERE space_id = ? AND seq <= ?", (space.id, seq)),
    ]


def all_models() -> Statement:
    """Select (id, hash, model, dimensions) of all models."""
    return Statement("SELECT id, hash, model, dimensions FROM generations ORDER BY id")


def changes_of(space: SpaceRow, after: int, seq: int, limit: int) -> Statement:
    """Select (seq, kind, memory id, version, committed_at, actor, request, undone) of the next changes up to `seq`."""
    return Statement(
        "SELECT seq, kind, memory_id, version, committed_at, actor, request, undone FROM changes "
        "WHERE space_id = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?",
        (space.id, after, seq, limit),
    )


def versions_of(space: SpaceRow, after: int, upto: int) -> Statement:
    """Select the versions with `after` < `born` <= `upto`, in order, each followed by its `born` and `died`."""
    return Statement(
        f"SELECT {COLUMNS}, v.born, v.died FROM versions v WHERE v.space_id = ? AND v.born > ? AND v.born <= ? "
        "ORDER BY v.born",
        (space.id, after, upto),
    )


def retrievals_of(space: SpaceRow, seq: int, after: bytes, limit: int) -> Statement:
    """Select (memory id, count, last time) of the next retrieved memories, by id, that were made up to change `seq`."""
    return Statement(
        "SELECT r.memory_id, r.count, r.last_at FROM retrievals r WHERE r.space_id = ? AND r.memory_id > ? "
        "AND r.count > 0 AND EXISTS (SELECT 1 FROM versions v WHERE v.memory_id = r.memory_id AND v.space_id = "
        "r.space_id AND v.born <= ?) ORDER BY r.memory_id LIMIT ?",
        (space.id, after, seq, limit),
    )


def passages_of(space: SpaceRow, after: int, upto: int) -> Statement:
    """Select (version row id, number, start, stop, generation id, vector) of passages; the last two may be null."""
    return Statement(
        "SELECT p.version_id, p.number, p.start, p.stop, e.generation_id, e.vector FROM versions v "
        "JOIN passages p ON p.version_id = v.id "
        "LEFT JOIN embeddings e ON e.version_id = p.version_id AND e.number = p.number "
        "WHERE v.space_id = ? AND v.born > ? AND v.born <= ? ORDER BY p.version_id, p.number, e.generation_id",
        (space.id, after, upto),
    )
