"""basic-memory: notes in Markdown, in which lines of a certain form are observations and relations."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from muisti.service.formats.importers.items import Failed, Found, Item, Skipped, relation, text_of, when, without
from muisti.service.formats.importers.obsidian import CREATED, UPDATED, Note, notes
from muisti.service.formats.importers.shapes import Shape
from muisti.service.formats.importers.source_files import Source

FIELDS = ("title", "type", "tags", "permalink", *CREATED, *UPDATED)
_OBSERVATION = re.compile(r"\s*[-*]\s+\[(?P<category>[^\[\]()]{2,100}|[^\[\]() xX-])\]\s+(?P<text>\S.*)")
_RELATION = re.compile(
    r"\s*[-*]\s+(?:(?P<how>\"[^\"]{1,100}\"|'[^']{1,100}'|[^\s\[\]\"']{1,100})\s+)?"
    r"\[\[(?P<to>[^\[\]]{1,200})\]\](?:\s*(?P<context>\(.*\)))?"
)
_TAG = re.compile(r"(?:(?<=\s)|^)#([\w/-]{1,100})")
_CONTEXT = re.compile(r"\(([^()]*)\)$")


def detect(shape: Shape) -> bool:
    """Tell whether notes have two marks of basic-memory. One alone is in other vaults: Obsidian has permalinks, too."""
    marks = [_marks(text) for text in shape.texts]
    return any("permalink" in one and len(one) > 1 for one in marks) or 2 * sum(map(bool, marks)) > len(marks) > 0


def _marks(text: str) -> set[str]:
    head, _, body = text.partition("\n---") if text.startswith("---") else ("", "", text)
    found = {"permalink"} if "\npermalink:" in head else set[str]()
    found |= {"type"} if "\ntitle:" in head and "\ntype:" in head else set[str]()
    lines = body.splitlines()
    return found | ({"observation"} if any(_OBSERVATION.fullmatch(line) for line in lines) else set[str]())


def read(source: Source) -> Iterator[Found]:
    for found in notes(source):
        if isinstance(found, Skipped | Failed):
            yield found
        else:
            yield from _of(found)


def _of(note: Note) -> Iterator[Found]:
    """Yield the note without its observations and relations, then each of those, as part of it."""
    link = text_of(note.fields.get("permalink")) or note.name
    items: list[Item] = []
    prose: list[str] = []
    for number, line in enumerate(map(str.rstrip, note.text.splitlines()), start=note.line):
        place = f"{note.name}:{number}"
        if (found := _OBSERVATION.fullmatch(line)) is not None and not found["text"].startswith("("):
            items.append(_observation(note, link, place, found["category"].strip(), found["text"].strip()))
        elif (found := _RELATION.fullmatch(line)) is not None:
            items.append(_relation(note, link, place, found))
        else:
            prose.append(line)
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(prose)).strip()
    text = re.sub(r"(?m)^#+ (Observations|Relations)\s*$\n?", "", text).strip()
    opening = text.partition("\n")[0].strip("# ").casefold()
    yield Item(
        external=link,
        place=f"{note.name}:{note.line}",
        memory={
            "content": text if opening == note.title.casefold() else f"{note.title}\n\n{text}".strip(),
            "category": note.folder,
            "tags": note.tags,
            "metadata": without({"title": note.title, "path": note.name, "links": note.links}),
            "created_at": when(note.first(CREATED)),
            "updated_at": when(note.first(UPDATED)),
        },
        rest=without(note.fields, *(name for name in FIELDS if name not in ("permalink", "type"))),
    )
    yield from items


def _observation(note: Note, link: str, place: str, category: str, text: str) -> Item:
    context = _CONTEXT.search(text)
    said = text[: context.start()] if context else text
    listed = note.fields.get("tags")
    shared: list[Any] = listed if isinstance(listed, list) else []
    return Item(
        external=f"{link}\nobservation\n{category}\n{text}",
        place=place,
        memory={
            "content": said.strip() or text,
            "category": note.folder,
            "tags": [category, *_TAG.findall(said), *shared],
            "metadata": without({"title": note.title, "path": note.name, "context": context and context[1]}),
            **_times(note),
        },
        parent=link,
    )


def _relation(note: Note, link: str, place: str, found: re.Match[str]) -> Item:
    how = (found["how"] or "links_to").strip("\"'")
    target = found["to"].partition("|")[0].strip()
    context = found["context"]
    return Item(
        external=f"{link}\nrelation\n{how}\n{target}",
        place=place,
        memory={**relation(note.title, how, target), **_times(note)},
        rest={"context": context[1:-1]} if context else {},
        parent=link,
    )


def _times(note: Note) -> Mapping[str, Any]:
    return {"created_at": when(note.first(CREATED)), "updated_at": when(note.first(UPDATED))}
