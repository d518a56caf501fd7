"""The targets of calls in C, as libclang tells them: of functions, and of macros that look like functions."""

import subprocess
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from loadtests.quality.code_sites import NAMES, Site, Sites, Target
from muisti.core.code.records import Record


class _Reader:
    """Reads translation units of a folder, and collects definitions and calls of all of them."""

    def __init__(self, root: Path, records: list[Record]) -> None:
        self.clang: Any = import_module("clang.cindex")
        self.root = root
        self.paths = {one.path for one in records}
        self.macros = {(one.path, d.name) for one in records for d in one.definitions if d.kind == "function"}
        self.defined: dict[str, Target] = {}  # by unified symbol resolution
        self.called: dict[Site, tuple[str, Target | None]] = {}  # a symbol, or the target itself

    def place(self, cursor: Any) -> str | None:
        """Return the path of a cursor below the folder, None for one elsewhere."""
        file = cursor.location.file
        path = Path(file.name).resolve() if file is not None else None
        found = path.relative_to(self.root).as_posix() if path is not None and path.is_relative_to(self.root) else None
        return found if found in self.paths else None

    def read(self, path: str, options: list[str]) -> None:
        index = self.clang.Index.create()
        unit = index.parse(str(self.root / path), args=options, options=1)  # 1: with the records of the preprocessor
        expanded: set[tuple[str, int, int]] = set()
        for cursor in unit.cursor.get_children():
            if cursor.kind == self.clang.CursorKind.MACRO_INSTANTIATION and (own := self.place(cursor)):
                expanded.add((own, cursor.location.line, cursor.location.column))
                self._macro(own, cursor)
        for cursor in _below(unit.cursor):
            kind = cursor.kind
            own = self.place(cursor)
            if own is None:
                continue
            if kind == self.clang.CursorKind.FUNCTION_DECL and cursor.is_definition():
                self.defined[cursor.get_usr()] = (own, cursor.spelling)
            elif kind == self.clang.CursorKind.CALL_EXPR:
                self._call(own, cursor, expanded)

    def _macro(self, path: str, cursor: Any) -> None:
        definition = cursor.referenced
        where = self.place(definition) if definition is not None else None
        if where is None or (where, cursor.spelling) in self.macros:
            tokens = [one.spelling for one in cursor.get_tokens()][1:2]
            if tokens == ["("]:
                site = Site(path, cursor.location.line, cursor.location.column - 1)
                NAMES[site] = cursor.spelling
                self.called[site] = ("", (where, cursor.spelling) if where else None)

    def _call(self, path: str, cursor: Any, expanded: set[tuple[str, int, int]]) -> None:
        callee = next(cursor.get_children(), None)
        while callee is not None and callee.kind.name in ("UNEXPOSED_EXPR", "PAREN_EXPR"):
            callee = next(callee.get_children(), None)
        if callee is None or callee.kind.name not in ("DECL_REF_EXPR", "MEMBER_REF_EXPR"):
            return
        at = callee.location
        if any((path, one.line, one.column) in expanded for one in (at, cursor.location)):
            return  # within a macro, whose own site counts
        site, target = Site(path, at.line, at.column - 1), callee.referenced
        NAMES[site] = callee.spelling
        if target is None or target.kind != self.clang.CursorKind.FUNCTION_DECL:
            self.called[site] = ("", None)
        else:
            self.called[site] = (target.get_usr(), None)


def _below(cursor: Any) -> Iterator[Any]:
    pending = [cursor]
    while pending:
        one = pending.pop()
        yield one
        pending += one.get_children()


def c_targets(root: Path, records: list[Record], _: Path | None) -> Sites:
    """Ask libclang for the function or macro of each call. Calls through pointers have none and count as outside."""
    reader = _Reader(root, records)
    headers = subprocess.run(["gcc", "-print-file-name=include"], capture_output=True, text=True, check=True)
    folders = sorted({str((root / one.path).parent) for one in records if one.path.endswith(".h")})
    options = [f"-I{folder}" for folder in (str(root), *folders, headers.stdout.strip())]
    for record in records:
        if record.path.endswith(".c"):
            reader.read(record.path, options)
    found: dict[Site, set[Target] | None] = {}
    for site, (symbol, own) in reader.called.items():
        target = own or reader.defined.get(symbol)
        found[site] = {target} if target else set()
    return found
