"""Keep what source files define and use, and resolve again only what a change concerns.

`CodeIndex.resolve` compares the current documents with what is resolved, so that no write, fork, import or rollback
needs a step of its own. It reads files from their stored chunks, so that nothing is kept that a policy has redacted.
Documents of one category are one project.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, cast

from msgspec import structs

from muisti.core.documents.symbols import sql as code
from muisti.core.model.code import Resolution
from muisti.core.model.errors import NotFound, StoreUnavailable
from muisti.core.parsing.code.apart import read
from muisti.core.parsing.code.grammars import TooIntricate
from muisti.core.parsing.code.modules import PROJECT, Modules, Projects
from muisti.core.parsing.code.plain import LANGUAGES as PLAIN
from muisti.core.parsing.code.reading import (
    Edge,
    Resolved,
    Resolver,
    cell_code,
    is_notebook,
    only,
    source_language,
)
from muisti.core.parsing.code.records import TOP, Record, interface, pack, unpack
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database, Refusal, Refused, Scalar, Statement
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.support.waiting import Locks, refuse_long

TOGETHER = 100  # files in one batch
CATCH_UP = 500  # files that a question reads and resolves before it is answered
TRIES = 8
PATIENCE = 0.2  # seconds that a question waits for another one that resolves the same space; it never waits for a task
BEAT = 1.0  # seconds between two calls of `alive` while another thread resolves the same space
LARGEST = 500_000  # characters of a file that is read; longer code was generated


class _File(NamedTuple):
    """A current document: its row, the id of its memory, its path and category, and what is known of it."""

    row: int
    memory: bytes
    path: str
    category: str
    language: str | None  # of its record, None for a file that was not read
    interface: bytes | None  # None for a file that is not resolved


def is_source(path: str) -> bool:
    """Return whether a file of this name is read: its language is known and its grammar is installed."""
    return source_language(path) is not None


def record_of(path: str, text: str, language: str) -> Record:
    """Return the record of a file; it is empty for a file that takes too much work."""
    try:
        if len(text) > LARGEST:
            return Record(path, language)
        return read(path, cell_code(text) if is_notebook(path) else text, language)
    except TooIntricate:
        return Record(path, language)


class CodeIndex:
    """Thread-safe. Threads of one process resolve a space one after the other; other processes are noticed."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._locks = Locks()
        self._tasks: list[str] = []  # the space of each call that resolves all

    def pending(self, space: SpaceRow) -> int:
        """Return how many source files are not read or not resolved yet, or are resolved and gone."""
        rows, unread = self._database.read([code.pending(space), code.unread(space)])
        current, gone = cast(tuple[int, int], rows[0])
        return current + gone + sum(is_source(cast(str, path)) for _, path in unread)

    def resolve(self, space: str, alive: Callable[[], None] = lambda: None) -> Resolution:
        """Read and resolve what has changed in a space since the last time.

        `alive` is called between the batches, and may raise.

        Raises:
            NotFound: there is no such space.
            StoreUnavailable: other processes resolve the same space all the time.
        """
        refuse_long()
        self._tasks.append(space)
        try:
            while True:
                with self._locks.of(space).within(BEAT) as is_held:
                    if is_held:
                        return self._resolve(space, None, alive)
                alive()
        finally:
            self._tasks.remove(space)

    def catch_up(self, space: str) -> Resolution | None:
        """Resolve at most `CATCH_UP` files before a question is answered.

        Return None, with nothing done, while a task resolves the space, or another thread for longer than `PATIENCE`.

        Raises:
            What `resolve` does.
            Busy: the database takes no more writes.
        """
        refuse_long()
        if space in self._tasks:
            return None
        with self._locks.of(space).within(PATIENCE) as is_held:
            return self._resolve(space, CATCH_UP, lambda: None) if is_held else None

    def _resolve(self, space: str, most: int | None, alive: Callable[[], None]) -> Resolution:
        for _ in range(TRIES):
            found = find_space(self._database, space)
            try:
                return _Pass(self._database, found, most, alive).run()
            except Refused as refused:
                if refused.code != Refusal.STALE:
                    raise NotFound("space", space) from refused
        raise StoreUnavailable("others resolve the code of this space all the time; try again")


class _Pass:
    """One comparison of the documents of a space with what is resolved of them, and the batches that follow."""

    def __init__(self, database: Database, space: SpaceRow, most: int | None, alive: Callable[[], None]) -> None:
        self._database, self._space, self._alive = database, space, alive
        self._room = 1 << 40 if most is None else most
        self._revision = 0
        self._files: list[_File] = []
        self._records: dict[int, Record] = {}

    def run(self) -> Resolution:
        """Return what was done. Raises `Refused` when another process has resolved files of the space meanwhile."""
        revision, current, outdated = self._database.read(
            [code.revision(self._space), code.files(self._space), code.outdated(self._space)]
        )
        self._revision = cast(int, revision[0][0])
        files = [_File(*cast(tuple[int, bytes, str, str, str | None, bytes | None], _named(row))) for row in current]
        gone = cast(list[tuple[int, str, str | None, bytes]], outdated)
        before = {(path, category or ""): (row, known) for row, path, category, known in gone}
        read_in = self._read_in([one for one in files if one.language is None and is_source(one.path)])
        self._files = [read_in.get(one.row, one) for one in files]
        self._files = [one for one in self._files if one.language is not None]
        fresh = [one for one in self._files if one.interface is None]
        if not fresh and not before:
            return Resolution(read=len(read_in), pending=self._left(files, read_in))
        self._load([one.row for one in self._files if one.interface is None or one.language == PROJECT])
        reopened = self._reopened(fresh, before)
        work = [*fresh, *reopened]
        self._write([*code.drop([row for row, _ in before.values()]), code.reopen([one.row for one in reopened])])
        done = work[: self._room]
        self._resolve(done)
        left = len(work) - len(done) + self._left(files, read_in)
        return Resolution(read=len(read_in), resolved=len(done), dropped=len(before), pending=left)

    def _left(self, files: Sequence[_File], read_in: Mapping[int, _File]) -> int:
        return sum(one.language is None and one.row not in read_in and is_source(one.path) for one in files)

    def _read_in(self, unread: Sequence[_File]) -> dict[int, _File]:
        """Read files that have no record, from the text of their chunks, and keep their records."""
        found: dict[int, _File] = {}
        for start in range(0, min(len(unread), self._room), TOGETHER):
            statements: list[Statement] = []
            group = unread[start : min(start + TOGETHER, self._room)]
            texts = self._database.read([code.text_of(self._space, one.row) for one in group])
            for one, rows in zip(group, texts, strict=True):
                text = "".join(cast(str, part) for (part,) in rows)
                language = cast(str, source_language(one.path))
                record = record_of(one.path, text, language)
                statements.append(code.keep(one.row, language, pack(record)))
                self._records[one.row] = record
                found[one.row] = one._replace(language=language)
            self._write(statements)
            self._alive()
        return found

    def _load(self, rows: Iterable[int]) -> None:
        wanted = [row for row in rows if row not in self._records]
        paths = {one.row: one.path for one in self._files}
        for start in range(0, len(wanted), 500):
            (found,) = self._database.read([code.records(wanted[start : start + 500])])
            for row, data in cast(list[tuple[int, bytes]], found):
                record = unpack(data)  # the path is that of the document, which may have moved or been copied
                self._records[row] = record if record.path == paths[row] else structs.replace(record, path=paths[row])

    def _reopened(self, fresh: Sequence[_File], before: Mapping[tuple[str, str], tuple[int, bytes]]) -> list[_File]:
        """Return the resolved files that a change concerns: by what others show, and by files that came or went."""
        now = {(one.path, one.category): one for one in fresh}
        packages = any(path.endswith("__init__.py") for path, _ in {*now.keys() ^ before.keys()})
        found: dict[int, _File] = {}
        for category in {category for _, category in (*now, *before)}:
            modules = self._modules(category)
            keys: set[str] = set()
            for (path, own), one in now.items():
                known = before.get((path, own))
                if own == category and (known is None or known[1] != interface(self._records[one.row])):
                    keys.add(f"path:{path}")
                    keys.update(f"name:{d.name}" for d in self._records[one.row].definitions)
                    if known is None:
                        keys.update(modules.keys(path, one.language or "", self._records[one.row].package))
            for path, own in before:
                if own == category and (path, own) not in now:
                    keys.add(f"path:{path}")
                    keys.update(modules.keys(path, source_language(path) or ""))
            gone = [row for (path, own), (row, _) in before.items() if own == category and f"path:{path}" in keys]
            (names,) = self._database.read([code.names(gone)])
            keys.update(f"name:{name}" for (name,) in names)
            (rows,) = self._database.read([code.dependent(self._space, keys)])
            concerned = {row for (row,) in rows}
            for one in self._files:
                python = packages and one.language == "python"
                if one.category == category and one.interface is not None and (python or one.row in concerned):
                    found[one.row] = one
        return [*found.values()]

    def _modules(self, category: str) -> Modules:
        own = [one for one in self._files if one.category == category]
        records = {one.path: self._records[one.row] for one in own if one.row in self._records}
        files = (
            (one.path, cast(str, one.language), records[one.path].package if one.path in records else "") for one in own
        )
        return Modules(files, Projects(records.values()))

    def _resolve(self, work: Sequence[_File]) -> None:
        for category in {one.category for one in work}:
            own = [one for one in self._files if one.category == category]
            by_path = {one.path: one for one in own}
            plain = [one.row for one in own if one.language in PLAIN]
            self._load(plain)  # for their packages, and for names that have one definition
            resolver = Resolver(
                self._modules(category),
                lambda path, by_path=by_path: self._record(by_path[path]),
                only(self._records[row] for row in plain),
            )
            mine = [one for one in work if one.category == category]
            for start in range(0, len(mine), TOGETHER):
                statements: list[Statement] = []
                for one in mine[start : start + TOGETHER]:
                    statements += self._derived(one, resolver.resolve(one.path), by_path)
                self._write(statements)
                self._alive()

    def _record(self, one: _File) -> Record:
        if one.row not in self._records:
            self._load([one.row])
        return self._records.get(one.row) or Record(one.path, one.language or "")

    def _derived(self, one: _File, found: Resolved, by_path: Mapping[str, _File]) -> list[Statement]:
        record = self._record(one)
        return code.resolved(
            self._space,
            one.row,
            interface(record),
            found.unresolved,
            symbols_of(record),
            edges_of(record, found.edges, {path: other.memory.hex() for path, other in by_path.items()})
            if found.edges
            else (),
            found.keys,
        )

    def _write(self, statements: Sequence[Statement]) -> None:
        self._database.write([*code.advance(self._space, self._revision), *statements])
        self._revision += 1


def symbols_of(record: Record) -> list[tuple[Scalar, ...]]:
    """Return the rows of the symbols of a file; what has no name is left out."""
    return [
        (n, d.name, d.name.casefold(), d.qualified, d.kind, d.parent, d.start, d.end, d.signature, d.doc)
        for n, d in enumerate(record.definitions)
        if d.name
    ]


def edges_of(record: Record, edges: Iterable[Edge], memories: Mapping[str, str]) -> list[tuple[Scalar, ...]]:
    """Return the rows of edges: one for each symbol, kind and target, with all its lines."""
    lines: dict[tuple[int, str, str, str], tuple[list[int], str]] = {}
    for edge in edges:
        key = (_symbol(record, edge.scope), edge.kind, edge.path, edge.name)
        lines.setdefault(key, ([], edge.certainty))[0].append(edge.line)
    return [
        (n, scope, kind, memories[path], name, json.dumps(sorted({*found})), certainty)
        for n, ((scope, kind, path, name), (found, certainty)) in enumerate(lines.items())
        if path in memories
    ]


def _symbol(record: Record, scope: int) -> int:
    """Return the innermost symbol with a name around a scope."""
    while scope != TOP and not record.definitions[scope].name:
        scope = record.definitions[scope].parent
    return scope


def _named(row: Sequence[Scalar]) -> tuple[Scalar, ...]:
    row_id, memory, path, category, language, known = row
    return row_id, memory, path, category or "", language, known
