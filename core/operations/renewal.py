"""Analyse the texts of a database again that an older Muisti analysed, when the database is opened.

Versions are renewed from the newest to the oldest, so the oldest passage tells whether all are. A process that stops
in between, or works beside another, does no harm.
"""

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from typing import cast

from muisti.core.model.errors import StoreReadOnly
from muisti.core.model.values import Passage
from muisti.core.store.database import Database, Row, Statement
from muisti.core.store.sql import index_rows, version_rows
from muisti.core.store.sql.version_rows import COLUMNS, WIDTH
from muisti.core.text.terms import ANALYZER, same_text_hash
from muisti.core.write.prepare import Source, parts_of

AT_ONCE = 200  # versions
_OLDEST = Statement("SELECT analyzer FROM passages ORDER BY version_id LIMIT 1")
_SAME_IN_ASCII = "2"  # this analysis differs from the current one for other texts only


def renew(database: Database) -> None:
    """Bring all terms and text hashes to the current analysis. A database that cannot be written stays as it is."""
    (oldest,) = database.read([_OLDEST])
    if not oldest or oldest[0][0] == ANALYZER:
        return
    below = 1 << 62
    with suppress(StoreReadOnly):
        while below:
            below = _renew_some(database, below)


def _renew_some(database: Database, below: int) -> int:
    """Renew the newest versions with an id below a number, in one transaction; return the lowest id, 0 at the end."""
    asked = f"SELECT {COLUMNS}, v.content_hash FROM versions v WHERE v.id < ? ORDER BY v.id DESC LIMIT ?"
    (found,) = database.read([Statement(asked, (below, AT_ONCE))])
    first = cast(int, found[-1][0]) if len(found) == AT_ONCE else 0
    old = "version_id >= ? AND version_id < ? AND analyzer <> ?"
    bounds = (first, below, ANALYZER)
    cut = f"SELECT version_id, number, start, stop, analyzer FROM passages WHERE {old}"
    passages: defaultdict[int, list[Row]] = defaultdict(list)
    for row in database.read([Statement(cut, bounds)])[0]:
        passages[cast(int, row[0])].append(row[1:])
    statements = [each for row in found for each in _renewed(row, passages[cast(int, row[0])])]
    statements.append(Statement(f"UPDATE passages SET analyzer = ? WHERE {old}", (ANALYZER, *bounds)))
    if not first:
        statements.append(index_rows.forget_packed())
    database.write(statements)
    return first


def _renewed(row: Row, passages: Sequence[Row]) -> list[Statement]:
    """Return what writes the hash of a version's text, and the terms of its passages, where they may differ."""
    memory, version = version_rows.memory(row, ""), cast(int, row[0])
    source, content_hash = Source.of(memory), same_text_hash(memory.content)
    statements: list[Statement] = []
    if content_hash != row[WIDTH]:
        statements.append(Statement("UPDATE versions SET content_hash = ? WHERE id = ?", (content_hash, version)))
    plain = all(map(str.isascii, source.texts.values()))
    stale = [row for row in passages if not (plain and row[3] == _SAME_IN_ASCII)]
    for part in parts_of((source, Passage(*cast(tuple[int, int, int], row[:3]))) for row in stale):
        where = "version_id = ? AND number = ?"
        values = (part.terms(), version, part.passage.number)
        statements.append(Statement(f"UPDATE passages SET terms = ? WHERE {where}", values))
    return statements
