"""Read names from a database file for shell completion, quickly and without the engine."""

from contextlib import closing
from pathlib import Path
from typing import Literal, cast

from muisti.core.model.ids import id_text
from muisti.core.store.file.opening import reading
from muisti.core.store.file.sqlite_errors import translated

Named = Literal["space", "category", "tag", "author", "key", "address", "memory"]
_HERE = "v.space_id = (SELECT id FROM spaces WHERE name = :space) AND v.died IS NULL"
_SQL: dict[Named, str] = {
    "space": "SELECT name, '' FROM spaces ORDER BY name",
    "category": f"SELECT min(v.category), count(*) FROM versions v WHERE {_HERE} AND v.category IS NOT NULL "
    "GROUP BY v.category_folded ORDER BY count(*) DESC",
    "tag": f"SELECT min(t.spelling), count(*) FROM versions v JOIN tags t ON t.version_id = v.id WHERE {_HERE} "
    "GROUP BY t.tag ORDER BY count(*) DESC",
    "author": f"SELECT min(v.author), count(*) FROM versions v WHERE {_HERE} AND v.author IS NOT NULL "
    "GROUP BY v.author_folded ORDER BY count(*) DESC",
    "key": f"SELECT min(v.key), count(*) FROM versions v WHERE {_HERE} AND v.key IS NOT NULL "
    "GROUP BY v.key ORDER BY count(*) DESC",
    "address": f"SELECT v.category || '/' || v.key, substr(v.content, 1, 60) FROM versions v WHERE {_HERE} "
    "AND v.key IS NOT NULL ORDER BY v.born DESC",
    "memory": f"SELECT v.memory_id, substr(v.content, 1, 60) FROM versions v WHERE {_HERE} ORDER BY v.born DESC",
}


def names(path: Path, kind: Named, space: str, most: int) -> list[tuple[str, str]]:
    """Return names of a kind in a space, each with a hint: the number of memories, or the beginning of the memory.

    An address is a category and a key, with a slash between.

    Raises:
        MuistiError: the file cannot be read.
    """
    with translated(), closing(reading(path, None)) as connection:
        rows = connection.execute(f"{_SQL[kind]} LIMIT :most", {"space": space, "most": most})
        return [
            (id_text(cast(bytes, name)) if kind == "memory" else str(name), str(about))
            for name, about in rows.fetchall()
        ]
