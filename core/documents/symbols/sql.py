"""The SQL of source code: records of files, symbols, edges between them, and what each file depends on."""

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from muisti.core.store.database import Refusal, Scalar, Statement, refuse
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import CURRENT, UNEXPIRED, structural

_DOCUMENTS = f"v.space_id = ? AND v.kind = 'document' AND {structural('v')} AND {CURRENT}"
_LISTED = "(SELECT value FROM json_each(?))"
_DERIVED = ("code_symbols", "code_edges", "code_keys", "code_resolved")
_SYMBOL = (
    "s.name, s.qualified, s.kind, v.document, v.memory_id, f.language, s.start, s.stop, s.signature, s.doc, v.category"
)
_SYMBOLS = (
    "FROM code_symbols s JOIN versions v ON v.id = s.version_id JOIN code_files f ON f.version_id = v.id "
    f"WHERE s.space_id = ? AND {CURRENT} AND {UNEXPIRED}"
)
SYMBOL_WIDTH = 11
_HASH = "coalesce(v.structure ->> '$.sha256', '')"  # of the file of a document


class Seen(NamedTuple):
    """The only category that a caller sees, folded; None for all. `now` is in microseconds."""

    category: str | None
    now: int

    @property
    def sql(self) -> str:
        """The condition on a row `v`."""
        return "" if self.category is None else " AND v.category_folded = ?"

    @property
    def args(self) -> tuple[Scalar, ...]:
        return () if self.category is None else (self.category,)


# Records


def keep(row: int, language: str, record: bytes) -> Statement:
    """Store the record of a version by its row id, unless the version is gone."""
    return Statement(
        "INSERT OR REPLACE INTO code_files SELECT id, ?, ? FROM versions WHERE id = ?", (language, record, row)
    )


def files(space: SpaceRow) -> Statement:
    """Select the current documents: (row, memory id, path, folded category, language of the record, interface)."""
    return Statement(
        "SELECT v.id, v.memory_id, v.document, v.category_folded, f.language, r.interface FROM versions v "
        "LEFT JOIN code_files f ON f.version_id = v.id LEFT JOIN code_resolved r ON r.version_id = v.id "
        f"WHERE {_DOCUMENTS} ORDER BY v.document",
        (space.id,),
    )


def outdated(space: SpaceRow) -> Statement:
    """Select versions that are resolved and not current any more: (row, path, folded category, interface)."""
    return Statement(
        "SELECT v.id, v.document, v.category_folded, r.interface FROM code_resolved r "
        f"JOIN versions v ON v.id = r.version_id WHERE r.space_id = ? AND NOT ({CURRENT})",
        (space.id,),
    )


def pending(space: SpaceRow) -> Statement:
    """Count current versions that have a record and are not resolved, and resolved ones that are not current."""
    return Statement(
        "SELECT (SELECT count(*) FROM versions v JOIN code_files f ON f.version_id = v.id "
        f"LEFT JOIN code_resolved r ON r.version_id = v.id WHERE {_DOCUMENTS} AND r.version_id IS NULL), "
        "(SELECT count(*) FROM code_resolved r JOIN versions v ON v.id = r.version_id "
        f"WHERE r.space_id = ? AND NOT ({CURRENT}))",
        (space.id, space.id),
    )


def unread(space: SpaceRow) -> Statement:
    """Select the current documents without a record: (row, path)."""
    return Statement(
        f"SELECT v.id, v.document FROM versions v WHERE {_DOCUMENTS} "
        "AND NOT EXISTS (SELECT 1 FROM code_files f WHERE f.version_id = v.id)",
        (space.id,),
    )


def records(rows: Sequence[int]) -> Statement:
    """Select (row, record) of versions."""
    return Statement(f"SELECT version_id, record FROM code_files WHERE version_id IN {_LISTED}", (json.dumps(rows),))


def text_of(space: SpaceRow, row: int) -> Statement:
    """Select the parts of the text of a current document, in order."""
    return Statement(
        "SELECT substr(v.content, 1 + coalesce(v.structure ->> '$.overlap', 0)) FROM versions d "
        "JOIN versions v ON v.document = d.document AND v.parent_id = d.memory_id AND v.space_id = ? "
        "AND v.kind = 'chunk' AND v.died IS NULL WHERE d.id = ? ORDER BY v.position",
        (space.id, row),
    )


# Resolving


def revision(space: SpaceRow) -> Statement:
    """Select the revision of what is resolved in a space."""
    return Statement("SELECT coalesce((SELECT revision FROM code_spaces WHERE space_id = ?), 0)", (space.id,))


def advance(space: SpaceRow, known: int) -> list[Statement]:
    """Raise the revision of a space; refuse with `stale` when another process has, with `no_space` when it is gone."""
    return [
        Statement(f"{refuse(Refusal.NO_SPACE)} WHERE NOT EXISTS (SELECT 1 FROM spaces WHERE id = ?)", (space.id,)),
        Statement(
            f"{refuse(Refusal.STALE)} WHERE coalesce((SELECT revision FROM code_spaces WHERE space_id = ?), 0) <> ?",
            (space.id, known),
        ),
        Statement("INSERT OR REPLACE INTO code_spaces VALUES (?, ?)", (space.id, known + 1)),
    ]


def dependent(space: SpaceRow, keys: Iterable[str]) -> Statement:
    """Select the rows of resolved versions that depend on one of the keys."""
    return Statement(
        f"SELECT DISTINCT k.version_id FROM code_keys k JOIN code_resolved r ON r.version_id = k.version_id "
        f"WHERE r.space_id = ? AND k.key IN {_LISTED}",
        (space.id, json.dumps(sorted(keys))),
    )


def names(rows: Sequence[int]) -> Statement:
    """Select the names that versions define."""
    return Statement(f"SELECT DISTINCT name FROM code_symbols WHERE version_id IN {_LISTED}", (json.dumps(rows),))


def drop(rows: Sequence[int]) -> list[Statement]:
    """Delete all that is derived from versions, and their records."""
    listed = json.dumps(rows)
    return [
        Statement(f"DELETE FROM {table} WHERE version_id IN {_LISTED}", (listed,))
        for table in (*_DERIVED, "code_files")
    ]


def reopen(rows: Sequence[int]) -> Statement:
    """Mark versions as not resolved; what is known of them stays until they are."""
    return Statement(f"DELETE FROM code_resolved WHERE version_id IN {_LISTED}", (json.dumps(rows),))


def resolved(
    space: SpaceRow,
    row: int,
    interface: bytes,
    unresolved: int,
    symbols: Sequence[Sequence[Scalar]],
    edges: Sequence[Sequence[Scalar]],
    keys: Iterable[str],
) -> list[Statement]:
    """Store what a version defines and uses, in place of what was known of it; nothing when the version is gone.

    `symbols` are (number, name, folded, qualified, kind, parent, start, stop, signature, doc); `edges` are (number,
    scope, kind, target id in hex, target, lines, certainty).
    """
    there = "EXISTS (SELECT 1 FROM versions WHERE id = ?)"
    gone = [Statement(f"DELETE FROM {table} WHERE version_id = ?", (row,)) for table in _DERIVED]
    return [
        *gone,
        Statement(
            "INSERT INTO code_symbols SELECT ?, value ->> 0, ?, value ->> 1, value ->> 2, value ->> 3, value ->> 4, "
            f"value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9 FROM json_each(?) WHERE {there}",
            (row, space.id, json.dumps(symbols), row),
        ),
        Statement(
            "INSERT INTO code_edges SELECT ?, value ->> 0, value ->> 1, value ->> 2, unhex(value ->> 3), value ->> 4, "
            f"value ->> 5, value ->> 6 FROM json_each(?) WHERE {there}",
            (row, json.dumps(edges), row),
        ),
        Statement(
            f"INSERT INTO code_keys SELECT ?, value FROM json_each(?) WHERE {there}",
            (row, json.dumps(sorted(keys)), row),
        ),
        Statement(
            f"INSERT INTO code_resolved SELECT ?, ?, ?, ? WHERE {there}", (row, space.id, interface, unresolved, row)
        ),
    ]


# Reading


def named(space: SpaceRow, name: str, seen: Seen, limit: int) -> Statement:
    """Select the symbols whose name, or the end of whose qualified name, is a name in any case; exact ones first."""
    last = name.rpartition(".")[2]
    return Statement(
        f"SELECT {_SYMBOL}, s.version_id, s.number {_SYMBOLS}{seen.sql} AND s.folded = ? "
        "AND (s.qualified = ? COLLATE NOCASE OR substr(s.qualified, -length(?) - 1) = '.' || ? COLLATE NOCASE) "
        "ORDER BY s.qualified <> ?, s.name <> ?, v.document, s.start LIMIT ?",
        (space.id, seen.now, *seen.args, last.casefold(), name, name, name, name, last, limit),
    )


def like(space: SpaceRow, name: str, seen: Seen, limit: int) -> Statement:
    """Select the symbols whose name contains a text in any case, those that begin with it first."""
    folded = name.casefold()
    return Statement(
        f"SELECT {_SYMBOL}, s.version_id, s.number {_SYMBOLS}{seen.sql} AND instr(s.folded, ?) "
        "ORDER BY instr(s.folded, ?), length(s.folded), v.document, s.start LIMIT ?",
        (space.id, seen.now, *seen.args, folded, folded, limit),
    )


def of_file(space: SpaceRow, path: str, seen: Seen) -> Statement:
    """Select the symbols of the files of a path, in order."""
    return Statement(
        f"SELECT {_SYMBOL}, s.version_id, s.number {_SYMBOLS}{seen.sql} AND v.document = ? "
        "ORDER BY v.category_folded, s.start, s.number",
        (space.id, seen.now, *seen.args, path),
    )


def file(space: SpaceRow, path: str, seen: Seen) -> Statement:
    """Select the files of a path: (row, memory id, language, unresolved uses or null)."""
    return Statement(
        "SELECT v.id, v.memory_id, f.language, r.unresolved FROM versions v JOIN code_files f ON f.version_id = v.id "
        f"LEFT JOIN code_resolved r ON r.version_id = v.id WHERE {_DOCUMENTS} AND {UNEXPIRED}{seen.sql} "
        "AND v.document = ? ORDER BY v.category_folded",
        (space.id, seen.now, *seen.args, path),
    )


def at_paths(space: SpaceRow, paths: Sequence[str], seen: Seen) -> Statement:
    """Select the documents at paths: (row, path, hash of the file)."""
    return Statement(
        f"SELECT v.id, v.document, {_HASH} FROM versions v WHERE {_DOCUMENTS} AND {UNEXPIRED}{seen.sql} "
        f"AND v.document IN {_LISTED} ORDER BY v.category_folded",
        (space.id, seen.now, *seen.args, json.dumps(paths)),
    )


def ending(space: SpaceRow, path: str, seen: Seen) -> Statement:
    """Select two documents at most whose path ends with a path, as `at_paths` does."""
    return Statement(
        f"SELECT v.id, v.document, {_HASH} FROM versions v WHERE {_DOCUMENTS} AND {UNEXPIRED}{seen.sql} "
        "AND substr(v.document, -length(?)) = ? LIMIT 2",
        (space.id, seen.now, *seen.args, f"/{path}", f"/{path}"),
    )


def of_hash(space: SpaceRow, sha256: str, seen: Seen) -> Statement:
    """Select two documents at most that were made from a file of this hash, as `at_paths` does."""
    return Statement(
        f"SELECT v.id, v.document, {_HASH} FROM versions v WHERE {_DOCUMENTS} AND {UNEXPIRED}{seen.sql} "
        f"AND {_HASH} = ? LIMIT 2",
        (space.id, seen.now, *seen.args, sha256),
    )


def former(space: SpaceRow, path: str, seen: Seen) -> Statement:
    """Select the documents that were at a path, as `at_paths` does where they are now; nulls for those that ended."""
    return Statement(
        f"SELECT v.id, v.document, {_HASH} FROM versions o LEFT JOIN versions v ON v.memory_id = o.memory_id "
        f"AND {CURRENT} AND {UNEXPIRED}{seen.sql} WHERE o.space_id = ? AND o.kind = 'document' "
        f"AND o.document = ? AND o.died IS NOT NULL{seen.sql.replace('v.', 'o.')} GROUP BY o.memory_id "
        "ORDER BY v.id DESC LIMIT 20",
        (seen.now, *seen.args, space.id, path, *seen.args),
    )


def imported(row: int) -> Statement:
    """Select the paths of the files that a version imports."""
    return Statement(
        "SELECT DISTINCT v.document FROM code_edges e JOIN versions v ON v.memory_id = e.target_id "
        f"WHERE e.version_id = ? AND e.kind = 'imports' AND {CURRENT} ORDER BY 1",
        (row,),
    )


def callers(
    space: SpaceRow, targets: Sequence[tuple[str, str]], kinds: Sequence[str], seen: Seen, limit: int
) -> Statement:
    """Select the uses of symbols, given by the hex id of the document and the qualified name.

    Columns: those of the symbol that uses, null for a file; then kind, target, lines, certainty, path,
    path of the lines, total.
    """
    return Statement(
        f"SELECT {_SYMBOL}, e.kind, e.target, e.lines, e.certainty, v.document, v.document, count(*) OVER () "
        "FROM json_each(?) t "
        "CROSS JOIN code_edges e ON e.target_id = unhex(t.value ->> 0) AND e.target = t.value ->> 1 "
        "CROSS JOIN versions v ON v.id = e.version_id CROSS JOIN code_files f ON f.version_id = v.id "
        "LEFT JOIN code_symbols s ON s.version_id = e.version_id AND s.number = e.scope "
        f"WHERE +v.space_id = ? AND {CURRENT} AND {UNEXPIRED}{seen.sql} AND e.kind IN {_LISTED} "
        "ORDER BY v.document, s.start, e.number LIMIT ?",
        (json.dumps(targets), space.id, seen.now, *seen.args, json.dumps(kinds), limit),
    )


def callees(
    space: SpaceRow, users: Sequence[tuple[int, int]], kinds: Sequence[str], seen: Seen, limit: int
) -> Statement:
    """Select what symbols use, given by the row of the version and the number; what is inside of them counts.

    Columns: those of the symbol that is used, null for a file. Then kind, qualified name of the user, lines, certainty,
    path, path of the lines, total.
    """
    return Statement(
        f"SELECT {_SYMBOL}, e.kind, i.qualified, e.lines, e.certainty, v.document, w.document, count(*) OVER () "
        "FROM json_each(?) t CROSS JOIN code_symbols u ON u.version_id = t.value ->> 0 AND u.number = t.value ->> 1 "
        "CROSS JOIN code_symbols i ON i.version_id = u.version_id AND (i.number = u.number OR "
        "substr(i.qualified, 1, length(u.qualified) + 1) = u.qualified || '.') "
        "CROSS JOIN code_edges e ON e.version_id = i.version_id AND e.scope = i.number "
        "CROSS JOIN versions w ON w.id = e.version_id "
        "CROSS JOIN versions v ON v.memory_id = e.target_id CROSS JOIN code_files f ON f.version_id = v.id "
        "LEFT JOIN code_symbols s ON s.version_id = v.id AND s.qualified = e.target AND e.target <> '' "
        "AND s.number = (SELECT min(o.number) FROM code_symbols o "
        "WHERE o.version_id = v.id AND o.qualified = e.target) "
        f"WHERE +v.space_id = ? AND {CURRENT} AND {UNEXPIRED}{seen.sql} AND e.kind IN {_LISTED} "
        "ORDER BY e.number LIMIT ?",
        (json.dumps(users), space.id, seen.now, *seen.args, json.dumps(kinds), limit),
    )


def all_symbols(space: SpaceRow, seen: Seen) -> Statement:
    """Select all symbols of a space by file: (symbol columns, row, number, parent)."""
    return Statement(
        f"SELECT {_SYMBOL}, s.version_id, s.number, s.parent {_SYMBOLS}{seen.sql} "
        "ORDER BY v.document, v.id, s.start, s.number",
        (space.id, seen.now, *seen.args),
    )


def all_edges(space: SpaceRow, seen: Seen) -> Statement:
    """Select all edges between symbols: (row and scope of the user, id of the used document, name, number of lines)."""
    return Statement(
        "SELECT e.version_id, e.scope, e.target_id, e.target, json_array_length(e.lines) FROM code_edges e "
        "JOIN versions v ON v.id = e.version_id "
        f"WHERE {_DOCUMENTS} AND {UNEXPIRED}{seen.sql} AND e.target <> ''",
        (space.id, seen.now, *seen.args),
    )
