"""Zakira.Exchange: one table `memories`, addressed by category and key."""

from collections.abc import Iterator

from muisti.service.formats.importers.items import Failed, Found, Item, json_list, times, without, words
from muisti.service.formats.importers.shapes import Shape, json_object
from muisti.service.formats.importers.source_files import Source, tables

COLUMNS = ("category", "key", "data", "author", "reason", "tags", "custom", "created_at", "last_modified_at")


def detect(shape: Shape) -> bool:
    return {"category", "key", "data"} <= set(shape.tables.get("memories", ()))


def read(source: Source) -> Iterator[Found]:
    with tables(source) as opened:
        for place, row in opened.rows("memories", but=("embedding",)):
            if not isinstance(row["category"], str) or not isinstance(row["key"], str) or not row["data"]:
                yield Failed(place, "has no category, no key or no data")
                continue
            custom = json_object(row.get("custom") or "{}", place)
            moments, unread = times(row, created_at="created_at", updated_at="last_modified_at")
            rest = {"custom": row.get("custom")} if isinstance(custom, Failed) else {}
            yield Item(
                external=f"{row['category']}/{row['key']}",
                place=place,
                memory={
                    "content": row["data"],
                    "category": row["category"],
                    "key": row["key"],
                    "author": row.get("author"),
                    "reason": row.get("reason"),
                    "tags": words(json_list(row.get("tags"))),
                    "metadata": {} if isinstance(custom, Failed) else custom,
                    **moments,
                },
                rest={**rest, **unread, **without(row, *COLUMNS)},
            )
