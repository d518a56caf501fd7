"""Notion: its export as Markdown and CSV. A page is a memory, and so is a row of a database that has no page."""

import csv
import io
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from muisti.service.formats.importers.items import Failed, Found, Item, Skipped, when, without, words
from muisti.service.formats.importers.shapes import Shape
from muisti.service.formats.importers.source_files import Part, Source

CREATED, UPDATED = ("Created", "Created time", "Created Time"), ("Last edited time", "Last Edited Time", "Updated")
TAGS = ("Tags", "Tag", "Labels")
FORMS = ("%B %d, %Y %I:%M %p", "%B %d, %Y %H:%M", "%B %d, %Y", "%Y/%m/%d %H:%M", "%Y/%m/%d")
_ID = re.compile(r"(?P<name>.*?)[ _-]?(?P<id>[0-9a-f]{32})(?P<all>_all)?")
_PART = re.compile(r"-part-\d+\.zip\Z")
_FIELD = re.compile(r"(?P<name>[^:\n]{1,100}): ?(?P<value>.*)")


def detect(shape: Shape) -> bool:
    if shape.is_many and any(map(_is_archive, shape.members)):
        return True
    pages = [PurePosixPath(one) for one in shape.members if one.endswith((".md", ".csv"))]
    named = [one for one in pages if _ID.fullmatch(one.stem)]
    return shape.is_many and bool(named) and 2 * len(named) >= len(pages)


def read(source: Source) -> Iterator[Found]:
    with _parts(source) as parts:
        tables = {name: part for part in parts if (name := _table(part.name)) is not None}
        columns = {name: _columns(part) for name, part in tables.items()}
        pages: dict[str, Counter[str]] = {}
        for part in parts:
            if part.name.endswith(".md"):
                found = _page(part, columns)
                yield found
                if isinstance(found, Item):
                    folder = PurePosixPath(part.name).parent.as_posix()
                    pages.setdefault(folder, Counter())[str(found.memory["metadata"]["title"])] += 1
            elif _table(part.name) is None:
                yield Skipped(part.name, "no page")
            elif tables[_table(part.name) or ""] is not part:
                yield Skipped(part.name, "a view of a database")
        for name, part in tables.items():
            yield from _rows(part, name, pages.get(name, Counter()))


def _is_archive(name: str) -> bool:
    """Tell whether a file is one of the archives that a large export is divided into.

    >>> [_is_archive(one) for one in ("a/Export-9f-Part-1.zip", "my_ExportBlock-9f-Part-2.zip", "Part-1.zip")]
    [True, True, False]
    """
    last = PurePosixPath(name).name.lower()
    return (last.startswith("export") or "exportblock" in last) and _PART.search(last) is not None


@contextmanager
def _parts(source: Source) -> Generator[list[Part]]:
    """Yield the files of an export, and those of the archives in it that large exports are divided into."""
    with source.parts() as parts, tempfile.TemporaryDirectory(prefix="muisti-import-") as folder:
        found: list[Part] = []
        opened: list[Any] = []
        try:
            for number, part in enumerate(parts):
                if not _is_archive(part.name):
                    found.append(part)
                    continue
                path = Path(folder) / str(number)
                with part.open() as file, path.open("xb") as copy:
                    shutil.copyfileobj(file, copy)
                inner = Source(path, f"{source.name}/{part.name}").parts()
                found += inner.__enter__()
                opened.append(inner)
            yield found
        finally:
            for inner in reversed(opened):
                inner.__exit__(None, None, None)


def _bare(name: str) -> tuple[str, str | None]:
    """Return the name of a page without its id, and the id.

    >>> _bare("Trips 0123456789abcdef0123456789abcdef"), _bare("Trips")
    (('Trips', '0123456789abcdef0123456789abcdef'), ('Trips', None))
    """
    found = _ID.fullmatch(name)
    return (found["name"].strip() or "Untitled", found["id"]) if found else (name, None)


def _table(name: str) -> str | None:
    """Return the folder with the pages of the database of a CSV file; None for another file."""
    path = PurePosixPath(name)
    return None if path.suffix != ".csv" else path.with_name(path.stem.removesuffix("_all")).as_posix()


def _folder(name: str) -> str | None:
    parts = [_bare(part)[0] for part in PurePosixPath(name).parent.parts]
    return "/".join(one for one in parts if one not in ("", ".")) or None


def _records(part: Part) -> Iterator[dict[str, str]]:
    text = part.text()
    if isinstance(text, Failed):
        return
    for record in csv.DictReader(io.StringIO(text, newline=""), restkey="", restval=""):
        more: Any = record.pop("", None)
        yield {**record, **({"": more if isinstance(more, str) else ", ".join(more)} if more else {})}


def _columns(part: Part) -> Sequence[str]:
    return list(next(_records(part), {}))


@dataclass(frozen=True, slots=True)
class _Page:
    title: str
    text: str
    fields: Mapping[str, str]


def _divided(text: str, name: str, columns: Sequence[str]) -> _Page:
    """Return the title of a page, its fields if it is a row of a database with these columns, and its text."""
    first, _, body = text.lstrip().partition("\n")
    title = first.removeprefix("# ").strip() if first.startswith("# ") else name
    body = body if first.startswith("# ") else text
    head, _, rest = body.lstrip("\n").partition("\n\n")
    found = [_FIELD.fullmatch(line) for line in head.splitlines()]
    if columns and found and all(one is not None and one["name"] in columns for one in found):
        return _Page(title, rest.strip(), {one["name"]: one["value"].strip() for one in found if one is not None})
    return _Page(title, body.strip(), {})


def _page(part: Part, columns: Mapping[str, Sequence[str]]) -> Found:
    text = part.text()
    if isinstance(text, Failed):
        return text
    path = PurePosixPath(part.name)
    name, id_ = _bare(path.stem)
    page = _divided(text, name, columns.get(path.parent.as_posix(), ()))
    if not page.text and not page.fields:
        return Skipped(part.name, "empty")
    return _item(id_ or part.name, part.name, page)


def _item(external: str, place: str, page: _Page) -> Item:
    times = {name: _first(page.fields, names) for name, names in (("created_at", CREATED), ("updated_at", UPDATED))}
    read_times = {name: moment for name, (_, value) in times.items() if (moment := _when(value)) is not None}
    used = [key for name, (key, _) in times.items() if name in read_times and key is not None]
    tags = _first(page.fields, TAGS)
    said = page.text or "\n".join(f"{name}: {value}" for name, value in page.fields.items() if value)
    return Item(
        external=external,
        place=place,
        memory={
            "content": f"{page.title}\n\n{said}".strip(),
            "category": _folder(place),
            "tags": words(tags[1]),
            "metadata": {"title": page.title, "path": place},
            **read_times,
        },
        rest=without(page.fields, *used, *([tags[0]] if tags[0] else [])),
    )


def _rows(part: Part, name: str, pages: Counter[str]) -> Iterator[Found]:
    """Yield the rows of a database that have no page: Notion writes the fields of the others there, too."""
    text = part.text()
    if isinstance(text, Failed):
        yield text
        return
    _, id_ = _bare(PurePosixPath(name).name)
    for number, record in enumerate(_records(part), start=2):
        row = {key or "more": value.strip() for key, value in record.items() if value.strip()}
        place = f"{part.name}:{number}"
        title = next(iter(row.values()), "")
        first = next(iter(record), "")
        if not row:
            yield Skipped(place, "empty")
        elif pages[row.get(first, "")] > 0:
            pages[row.get(first, "")] -= 1
            yield Skipped(place, "a row whose page is here")
        else:
            fields = {key: value for key, value in row.items() if key != first}
            page = _Page(title, "" if fields else title, fields)
            yield _item(f"{id_ or name}\n{title}", place, page)


def _first(fields: Mapping[str, str], names: Sequence[str]) -> tuple[str | None, str | None]:
    return next(((name, fields[name]) for name in names if fields.get(name)), (None, None))


def _when(value: str | None) -> str | None:
    """Return a time as Notion writes it, in RFC 3339.

    >>> _when("March 1, 2025 9:30 AM"), _when("soon")
    ('2025-03-01T09:30:00+00:00', None)
    """
    for form in FORMS if value else ():
        try:
            return datetime.strptime(value or "", form).replace(tzinfo=UTC).isoformat()
        except ValueError:
            continue
    return when(value)
