"""Answers about the source code of a space: symbols by name, who uses them, what they use, and outlines of files."""

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

from muisti.core.documents.symbols import sql as code
from muisti.core.documents.symbols.indexing import CodeIndex
from muisti.core.documents.symbols.sql import SYMBOL_WIDTH, Seen
from muisti.core.identity.caller import Caller
from muisti.core.model.code import Outline, Symbol, Symbols, Use, Uses
from muisti.core.model.errors import Busy, InvalidInput, NotFound, StoreUnavailable
from muisti.core.model.ids import id_text
from muisti.core.model.terms import EDGE_KINDS, EdgeKind, SymbolKind
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database, Row, Statement
from muisti.core.store.sql.spaces import SpaceRow

BEING_READ = "they are being read now; ask again in a moment"
CANDIDATES = 1_000  # symbols of a name that are looked at


class Opened(NamedTuple):
    """A space whose code is read, the number of files that are not resolved, and in words what that means."""

    space: SpaceRow
    pending: int
    degraded: tuple[str, ...] = ()

    @property
    def hint(self) -> str:
        """The words for the error about something that is not found."""
        return "; ".join(self.degraded)


class CodeReader:
    """Reads what callers may see. A question first resolves what has changed, as far as `CodeIndex.catch_up` goes."""

    def __init__(self, database: Database, index: CodeIndex) -> None:
        self._database = database
        self._index = index

    def find(
        self, space: str, query: str, caller: Caller, now: int, *, kind: SymbolKind | None, path: str | None, limit: int
    ) -> Symbols:
        """Return the symbols of a name, or else those whose names contain it. `path` is the beginning of a path."""
        opened = self.opened(space)
        found, seen = opened.space, Seen(caller.own_category, now)
        place, name = split(query, "name")
        rows = self._rows(code.named(found, name, seen, CANDIDATES))
        rows = rows or self._rows(code.like(found, name, seen, CANDIDATES))
        symbols = [
            one
            for row in rows
            for one in [symbol(row)]
            if (kind is None or one.kind == kind) and one.path.startswith(path or "") and is_at(one.path, place)
        ]
        return Symbols(
            items=tuple(symbols[:limit]),
            total=len(symbols),
            pending=opened.pending,
            degraded=opened.degraded,
            seq=str(found.seq),
        )

    def callers(
        self, space: str, query: str, caller: Caller, now: int, *, kinds: Sequence[EdgeKind], limit: int
    ) -> Uses:
        """Return what uses the symbols of a name; `file.py:name` names those of a file."""
        return self._uses(space, query, caller, now, _targets, code.callers, kinds, limit)

    def callees(
        self, space: str, query: str, caller: Caller, now: int, *, kinds: Sequence[EdgeKind], limit: int
    ) -> Uses:
        """Return what the symbols of a name use, with what is defined inside of them."""
        return self._uses(space, query, caller, now, _users, code.callees, kinds, limit)

    def outline(self, space: str, path: str, caller: Caller, now: int) -> Outline:
        """Return the symbols of a file. The end of a path is enough when one file alone has it.

        Raises:
            NotFound: the caller sees no source file of this path.
        """
        opened = self.opened(space)
        found, seen = opened.space, Seen(caller.own_category, now)
        rows = self._rows(code.file(found, path, seen))
        if not rows:
            hint = opened.hint or "documents in one of the languages of docs/concepts/code.md are read"
            raise NotFound("source file", path, hint)
        row, memory, language, unresolved = cast(tuple[int, bytes, str, int | None], rows[0])
        symbols, imports = self._database.read([code.of_file(found, path, seen), code.imported(row)])
        return Outline(
            path=path,
            document=id_text(memory),
            language=language,
            symbols=tuple(symbol(one) for one in symbols if one[SYMBOL_WIDTH] == row),
            imports=tuple(cast(str, one) for (one,) in imports),
            unresolved=unresolved or 0,
            pending=opened.pending,
            degraded=opened.degraded,
            seq=str(found.seq),
        )

    def opened(self, space: str) -> Opened:
        """Return the space after its files have been resolved, as far as `catch_up` goes and the database can write."""
        found = find_space(self._database, space)
        pending = self._index.pending(found)
        reason = "ask again for all"
        if pending:
            try:
                done = self._index.catch_up(space)
                pending, reason = (pending, BEING_READ) if done is None else (done.pending, reason)
            except (StoreUnavailable, Busy) as refused:  # read although it takes no writes
                reason = f"the database takes no writes: {refused}"
        told = f"{pending:,} source files are not resolved yet, and the answer lacks what has changed in them; {reason}"
        return Opened(found, pending, (told,) if pending else ())

    def _uses(
        self,
        space: str,
        query: str,
        caller: Caller,
        now: int,
        named: Callable[[Sequence[Row]], Sequence[Any]],
        ask: Callable[..., Statement],
        kinds: Sequence[EdgeKind],
        limit: int,
    ) -> Uses:
        _check(kinds)
        opened = self.opened(space)
        found, seen = opened.space, Seen(caller.own_category, now)
        place, name = split(query)
        rows = [row for row in self._rows(code.named(found, name, seen, CANDIDATES)) if is_at(cast(str, row[3]), place)]
        if not rows:
            raise NotFound("symbol", query, opened.hint or "find_symbol lists names that contain a text")
        uses = self._rows(ask(found, named(rows), kinds, seen, limit))
        total = cast(int, uses[0][-1]) if uses else 0
        return Uses(
            symbols=tuple(map(symbol, rows)),
            items=tuple(map(_use, uses)),
            total=total,
            pending=opened.pending,
            degraded=opened.degraded,
            seq=str(found.seq),
        )

    def _rows(self, statement: Statement) -> list[Row]:
        return self._database.read([statement])[0]


def split(query: str, field: str = "symbol") -> tuple[str, str]:
    """Split `path:name` into both; the path is empty when there is none.

    >>> split("src/app.py:Client.get"), split("Client::get"), split("Client#get")
    (('src/app.py', 'Client.get'), ('', 'Client.get'), ('', 'Client.get'))
    """
    query = query.strip().replace("::", ".").replace("#", ".").removesuffix("()")
    path, colon, name = query.rpartition(":")
    if not name:
        raise InvalidInput.at(f"$.{field}", "is empty; give a name such as Client.get, or client.py:Client.get")
    return (path, name) if colon else ("", query)


def is_at(path: str, place: str) -> bool:
    """Return whether a path is a place, or ends with it."""
    return not place or path == place or path.endswith(f"/{place}")


def symbol(row: Row) -> Symbol:
    """Read the first columns of a row as a symbol."""
    name, qualified, kind, path, memory, language, start, stop, signature, doc, category = cast(
        tuple[str, str, SymbolKind, str, bytes, str, int, int, str, str, str | None], row[:SYMBOL_WIDTH]
    )
    return Symbol(
        name=name,
        qualified=qualified,
        kind=kind,
        path=path,
        document=id_text(memory),
        language=language,
        start=start,
        end=stop,
        signature=signature,
        doc=doc,
        category=category,
    )


def _use(row: Row) -> Use:
    kind, of, lines, certainty, path, used_in = cast(
        tuple[EdgeKind, str, str, Any, str, str], row[SYMBOL_WIDTH : SYMBOL_WIDTH + 6]
    )
    return Use(
        kind=kind,
        symbol=None if row[0] is None else symbol(row),
        path=path,
        used_in=used_in,
        lines=tuple(json.loads(lines)),
        certainty=certainty,
        of=of,
    )


def _targets(rows: Sequence[Row]) -> list[tuple[str, str]]:
    return [(cast(bytes, row[4]).hex(), cast(str, row[1])) for row in rows]


def _users(rows: Sequence[Row]) -> list[tuple[int, int]]:
    return [cast(tuple[int, int], row[SYMBOL_WIDTH : SYMBOL_WIDTH + 2]) for row in rows]


def _check(kinds: Sequence[EdgeKind]) -> None:
    if not kinds or not {*kinds} <= {*EDGE_KINDS}:
        raise InvalidInput.at("$.kinds", f"has an unknown kind; those that exist are {', '.join(EDGE_KINDS)}")
