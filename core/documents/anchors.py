"""Compare what memories cite of source code with the documents of their space, as one caller sees these.

An anchor is fresh as long as its file, or only the text of its symbol, is the same. Otherwise the document that was at
its path, the same file elsewhere, and the same text under the symbol's name say where it is now. No disk is read.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from hashlib import sha1, sha256
from typing import NamedTuple, cast

from msgspec import structs

from muisti.core.documents.symbols import sql as code
from muisti.core.documents.symbols.indexing import CodeIndex, record_of
from muisti.core.documents.symbols.reading import opened
from muisti.core.documents.symbols.sql import SYMBOL_WIDTH, Seen
from muisti.core.identity.caller import Caller
from muisti.core.model.anchors import State, path_of, problems_of
from muisti.core.model.errors import NotFound
from muisti.core.model.values import Anchor, Draft, Memory
from muisti.core.parsing.code.reading import source_language
from muisti.core.parsing.code.records import definition_of, hashes_of, unpack
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database, Row, Statement
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.support.waiting import refuse_long

CHECKED_MAX = 50  # anchors of one answer whose symbols or new places are sought; others are unknown
NAMESAKES = 20  # symbols of the same name whose text is compared
GIT = 40  # digits of the hash of a blob in git

_Key = frozenset[tuple[str, str]]


def _key(anchor: Anchor) -> _Key:
    return frozenset(anchor.items())


class _File(NamedTuple):
    """A current document: the row of its version, its path, and the SHA-256 of its bytes."""

    row: int
    path: str
    sha256: str


class Anchors:
    """Fills in and checks anchors. Thread-safe."""

    def __init__(self, database: Database) -> None:
        self.index = CodeIndex(database)
        self._database = database

    def cited(self, space: SpaceRow, draft: Draft, caller: Caller, now: int) -> Draft:
        """Return a draft whose anchors have the hashes of what the caller sees at their places now, unless stated.

        One who may not read gets the draft as it is.

        Raises:
            WouldWait: this thread may not wait.
        """
        if not draft.anchors or not caller.reads or any(problems_of(draft.anchors)):
            return draft
        refuse_long()
        sources = _Sources(self._database, self.index, space, Seen(caller.own_category, now))
        paths = [path_of(one["path"]) for one in draft.anchors]
        files = sources.at(paths)
        anchors = list[Anchor]()
        for anchor, path in zip(draft.anchors, paths, strict=True):
            there = files.get(path) or sources.ending(path)
            anchors.append(sources.filled({**anchor, "path": there[0].path if there else path}, there))
        return structs.replace(draft, anchors=tuple(anchors))

    def checked(self, memories: Sequence[Memory], caller: Caller, now: int) -> list[Memory]:
        """Return memories whose anchors have their state, as the caller sees the documents of their spaces.

        Raises:
            WouldWait: one has anchors, and this thread may not wait.
        """
        found = [*memories]
        for name in sorted({one.space for one in found if one.anchors and caller.reads}):
            refuse_long()
            with suppress(NotFound):
                space = find_space(self._database, name)
                sources = _Sources(self._database, self.index, space, Seen(caller.own_category, now))
                judged = sources.states(one for memory in found if memory.space == name for one in memory.anchors)
                for place, memory in enumerate(found):
                    if memory.anchors and memory.space == name:
                        anchors = tuple(judged[_key(one)] for one in memory.anchors)
                        found[place] = structs.replace(memory, anchors=anchors)
        return found


class _Sources:
    """The documents of a space for one answer, each read at most once."""

    def __init__(self, database: Database, index: CodeIndex, space: SpaceRow, seen: Seen) -> None:
        self._database, self._index, self._space, self._seen = database, index, space, seen
        self._texts: dict[int, str] = {}
        self._symbols: dict[int, Mapping[str, Sequence[str]]] = {}
        self._left = CHECKED_MAX

    def at(self, paths: Iterable[str]) -> Mapping[str, Sequence[_File]]:
        """Return the documents at paths."""
        found: dict[str, list[_File]] = {}
        for row in self._rows(code.at_paths(self._space, sorted({*paths}), self._seen)):
            found.setdefault(cast(str, row[1]), []).append(_file(row))
        return found

    def ending(self, path: str) -> Sequence[_File]:
        """Return the one document whose path ends with a path: ingestion puts the repository's name before it."""
        found = self._rows(code.ending(self._space, path, self._seen))
        return [*map(_file, found)] if len(found) == 1 else []

    def states(self, anchors: Iterable[Anchor]) -> Mapping[_Key, Anchor]:
        """Return anchors with their states."""
        distinct = {_key(one): one for one in anchors}
        files = self.at(one["path"] for one in distinct.values())
        return {key: self.judged(one, files.get(one["path"], ())) for key, one in distinct.items()}

    def filled(self, anchor: Anchor, files: Sequence[_File]) -> Anchor:
        """Return an anchor with the hashes of the file, and the whole name and the hash of the symbol."""
        file = next((one for one in files if "blob" not in anchor or self._is_blob(one, anchor["blob"])), None)
        if file is None:
            return anchor
        found = {"blob": file.sha256, **anchor}
        symbol = anchor.get("symbol")
        if symbol and "text" not in anchor:
            named = definition_of(self._defined(file), symbol)
            found |= {} if named is None else {"symbol": named[0], "text": named[1]}
        return found

    def judged(self, anchor: Anchor, files: Sequence[_File]) -> Anchor:
        """Return an anchor with its state, and with its place now where that is another one."""
        if "blob" in anchor and any(one.sha256 == anchor["blob"] for one in files):
            return {**anchor, "state": "fresh"}
        if not self._left:
            return {**anchor, "state": "unknown"}
        self._left -= 1
        state, now = self._compared(anchor, files)
        return {**anchor, "state": state, **({"now": now} if now else {})}

    def _compared(self, anchor: Anchor, files: Sequence[_File]) -> tuple[State, str]:
        path, blob, symbol, text = (anchor.get(name, "") for name in ("path", "blob", "symbol", "text"))
        former = [] if files else self._rows(code.former(self._space, path, self._seen))
        there = [*files, *(_file(row) for row in former if row[0] is not None)]
        if blob and not there:
            same = self._rows(code.of_hash(self._space, blob, self._seen))
            there += map(_file, same if len(same) == 1 else ())  # empty files are all the same
        for one in there:
            if blob and self._is_blob(one, blob):
                return _at(one.path, path, symbol)
        is_known = bool(files or former)
        ended: tuple[State, str] = ("gone" if is_known else "unknown", "")
        if symbol and text:
            found = self._of_symbol(symbol, text, there, path)
            return found if found is not None and (is_known or found[0] == "moved") else ended
        if there:
            return "changed" if blob else "unknown", _elsewhere(there[0].path, path, "")
        return ended

    def _of_symbol(self, symbol: str, text: str, there: Sequence[_File], path: str) -> tuple[State, str] | None:
        for one in there:
            if text in self._defined(one).get(symbol, ()):
                return _at(one.path, path, symbol)
        namesakes = self._namesakes(symbol)
        for file, name in namesakes:
            if text in self._defined(file).get(name, ()):
                return "moved", f"{file.path}:{name}"
        for one in there:
            if symbol in self._defined(one):
                return "changed", _elsewhere(one.path, path, symbol)
        same = [file for file, name in namesakes if name == symbol]
        one = len(same) == 1 and len(namesakes) < NAMESAKES
        return ("changed", f"{same[0].path}:{symbol}") if one else None

    def _namesakes(self, symbol: str) -> list[tuple[_File, str]]:
        """Return the files with symbols of the same last name, and the qualified names of these."""
        rows = self._rows(code.named(self._opened, symbol.rpartition(".")[2], self._seen, NAMESAKES))
        return [(_File(cast(int, row[SYMBOL_WIDTH]), str(row[3]), ""), str(row[1])) for row in rows]

    @cached_property
    def _opened(self) -> SpaceRow:
        return opened(self._database, self._index, self._space.space.name).space

    def _is_blob(self, file: _File, blob: str) -> bool:
        """Return whether a file has a hash, that of git where its bytes are known from the stored text."""
        if len(blob) != GIT:
            return file.sha256 == blob
        data = self._text(file.row).encode("utf-8", "surrogatepass")
        exact = sha256(data).hexdigest() == file.sha256
        return exact and sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest() == blob

    def _defined(self, file: _File) -> Mapping[str, Sequence[str]]:
        """Return the hashes of the definitions of a file by qualified name."""
        if file.row not in self._symbols:
            self._symbols[file.row] = self._read(file)
        return self._symbols[file.row]

    def _read(self, file: _File) -> Mapping[str, Sequence[str]]:
        language = source_language(file.path)
        if language is None:
            return {}
        text = self._text(file.row)
        kept = self._rows(code.records([file.row]))
        record = unpack(cast(bytes, kept[0][1])) if kept else record_of(file.path, text, language)
        return hashes_of(record, text)

    def _text(self, row: int) -> str:
        if row not in self._texts:
            self._texts[row] = "".join(cast(str, part) for (part,) in self._rows(code.text_of(self._space, row)))
        return self._texts[row]

    def _rows(self, statement: Statement) -> list[Row]:
        return self._database.read([statement])[0]


def _file(row: Row) -> _File:
    return _File(*cast(tuple[int, str, str], tuple(row)))


def _at(now: str, path: str, symbol: str) -> tuple[State, str]:
    return ("fresh", "") if now == path else ("moved", _elsewhere(now, path, symbol))


def _elsewhere(now: str, path: str, symbol: str) -> str:
    """Return a place that is not at the path; empty for the path itself."""
    return "" if now == path else f"{now}:{symbol}" if symbol else now
