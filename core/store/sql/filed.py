"""The SQL of memories as files: pages of their paths, and the changes that made and ended their versions.

A path is the folded category, a slash and the key; the category `.` is the root. A memory without a key is named by its
id.
"""

from collections.abc import Sequence

from muisti.core.model.filed import ROOT, Changed, Folder
from muisti.core.model.ids import id_bytes
from muisti.core.store.database import Scalar, Statement
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import COLUMNS, CURRENT, UNEXPIRED

_FILE = "v.kind = 'memory' AND v.document IS NULL"
_FOLDER = f"coalesce(nullif(v.category_folded, '{ROOT}') || '/', '')"
_NAME = "coalesce(v.key, lower(hex(v.memory_id)))"


def page(space: SpaceRow, folder: Folder, own: str | None, now: int) -> Statement:
    """Select (path, characters of the folder, memory or nulls) of the files and, with `deep` false, of the folders.

    `own` is the only folded category that the caller sees; None for all.
    """
    mine, args = ("", ()) if own is None else (" AND v.category_folded = ?6", (own,))
    start = len(folder.prefix)
    rest = f"instr(substr(path, {start + 1}), '/')"
    items = (
        "SELECT path AS item, reach, id FROM files"
        if folder.deep
        else f"SELECT iif({rest}, substr(path, 1, {start} + {rest}), path) AS item, max(reach) AS reach, "
        f"iif({rest}, NULL, id) AS id FROM files"
    )
    grouped = "" if folder.deep else " GROUP BY 1, 3 HAVING item > ?4"
    return Statement(
        f"WITH files AS (SELECT v.id, {_FOLDER} || {_NAME} AS path, length({_FOLDER}) AS reach FROM versions v "
        f"WHERE v.space_id = ?1 AND {CURRENT} AND v.status = 'active' AND {_FILE} "
        f"AND {UNEXPIRED.replace('?', '?2')}{mine}), "
        f"items AS ({items} WHERE substr(path, 1, {start}) = ?3 AND path > ?4{grouped} ORDER BY 1 LIMIT ?5) "
        f"SELECT i.item, i.reach, {COLUMNS} FROM items i LEFT JOIN versions v ON v.id = i.id ORDER BY i.item",
        (space.id, now, folder.prefix, folder.after, folder.limit + 1, *args),
    )


# A change ends a memory, or makes a version of it. The later version of a superseded memory only names its successor.
_ENDS = "(c.kind IN ('deleted', 'expired', 'superseded') OR coalesce(v.born <> c.seq, 0))"
_OPERATION = f"CASE WHEN {_ENDS} THEN 'deleted' WHEN c.version = 1 THEN 'created' ELSE 'modified' END"


def happened(space: SpaceRow, asked: Changed, own: str | None, *, whole: bool) -> Statement:
    """Select changes of files, newest first: (seq, operation, memory id, version, time, actor).

    Then come time and actor of the redaction, if the version was redacted, else the version. A caller who does not see
    the `whole` space sees no redacted version.
    """
    tests: list[tuple[str, Sequence[Scalar]]] = []
    if own is not None:
        tests.append(("v.category_folded = ?", (own,)))
    if asked.memory_id is not None:
        tests.append(("c.memory_id = ?", (id_bytes(asked.memory_id),)))
    for test, value in (
        ("c.version = ?", asked.version), (f"{_OPERATION} = ?", asked.operation), ("c.actor = ?", asked.actor),
        ("c.committed_at >= ?", asked.since_us), ("c.committed_at <= ?", asked.until_us), ("c.seq < ?", asked.before),
    ):  # fmt: skip
        if value is not None:
            tests.append((test, (value,)))
    further = "".join(f" AND {test}" for test, _ in tests)
    there = f"v.id IS NOT NULL AND {_FILE}"
    return Statement(
        "WITH c AS (SELECT seq, kind, memory_id, version, committed_at, actor FROM changes WHERE space_id = ? "
        "UNION ALL SELECT born, '', memory_id, version, updated_at, NULL FROM versions WHERE space_id = ? "
        "AND born < (SELECT kept_from FROM spaces WHERE id = ?)), "  # their changes are forgotten
        "r AS MATERIALIZED (SELECT memory_id, version, committed_at, actor FROM changes "
        "WHERE space_id = ? AND kind = 'redacted') "
        f"SELECT c.seq, {_OPERATION}, c.memory_id, c.version, c.committed_at, c.actor, r.committed_at, r.actor, "
        f"{COLUMNS} FROM c LEFT JOIN versions v "
        "ON v.memory_id = c.memory_id AND v.version = c.version AND v.space_id = ? "
        "LEFT JOIN r ON r.memory_id = c.memory_id AND r.version = c.version "
        "WHERE c.version IS NOT NULL AND c.kind NOT IN ('redacted', 'reembedded') "
        f"AND ({there if own is not None or not whole else f'{there} OR r.version IS NOT NULL'}){further} "
        "ORDER BY c.seq DESC LIMIT ?",
        (*(space.id,) * 5, *(arg for _, args in tests for arg in args), asked.limit + 1),
    )
