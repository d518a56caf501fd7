"""Vaults of Obsidian, and other folders of notes in Markdown: a memory a note."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from muisti.service.formats.importers.items import Failed, Found, Item, Skipped, text_of, when, without, words
from muisti.service.formats.importers.shapes import Shape
from muisti.service.formats.importers.source_files import Part, Source
from muisti.service.formats.markdown import ID, BadFrontMatter, read_fields, read_plainly

CREATED, UPDATED = ("created", "created_at", "date"), ("modified", "updated", "updated_at")
LINK = re.compile(r"\[\[([^\[\]|#^\n]{1,200}+)[^\[\]\n]{0,200}+\]\]")
OURS = re.compile(rf"---\s*\n{ID}: \S")
_TAG = re.compile(r"(?:(?<=\s)|^)#([^\W\d_][\w/-]{0,99})", re.MULTILINE)
_COMMENT = re.compile(r"%%.*?%%", re.DOTALL)
_CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]*`", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Note:
    """A note. `name` is its path in its folder; `text` what follows its fields, `line` where that begins, from 1."""

    name: str
    fields: Mapping[str, Any]
    text: str
    line: int

    @property
    def title(self) -> str:
        title = self.fields.get("title")
        return title if isinstance(title, str) and title.strip() else PurePosixPath(self.name).stem

    @property
    def folder(self) -> str | None:
        """The folder of the note, relative to the folder that is read; None for that folder itself."""
        parent = PurePosixPath(self.name).parent.as_posix()
        return None if parent == "." else parent

    @property
    def prose(self) -> str:
        """The text without comments and without the spaces around it."""
        return _COMMENT.sub("", self.text).strip()

    @property
    def tags(self) -> list[str]:
        """The tags in the fields and in the text, each once."""
        tags = self.fields.get("tags", self.fields.get("tag"))
        listed = words(tags.replace(" ", ",") if isinstance(tags, str) and "," not in tags else tags)
        inline = _TAG.findall(_CODE.sub("", self.prose))
        return list(dict.fromkeys(one.removeprefix("#") for one in [*listed, *inline]))

    @property
    def links(self) -> list[str]:
        """The names of notes that the text links to, each once."""
        return list(dict.fromkeys(target.strip() for target in LINK.findall(_CODE.sub("", self.prose))))

    def first(self, names: Sequence[str]) -> Any:
        """Return the value of the first of these fields that is not empty."""
        return next((self.fields[name] for name in names if self.fields.get(name) not in (None, "")), None)


def notes(source: Source) -> Iterator[Note | Skipped | Failed]:
    """Yield the notes of a folder or an archive, or the note of a file; templates and other files are skipped."""
    with source.parts() as parts:
        for part in parts:
            path = PurePosixPath(part.name)
            if len(parts) > 1 and path.suffix.lower() not in (".md", ".markdown"):
                yield Skipped(part.name, "no Markdown")
            elif any(one.lower() == "templates" for one in path.parts[:-1]):
                yield Skipped(part.name, "a template")
            else:
                yield _note(part)


def _note(part: Part) -> Note | Skipped | Failed:
    text = part.text()
    if isinstance(text, Failed):
        return text
    try:
        fields, body = read_fields(text)
    except BadFrontMatter as error:
        if OURS.match(text):
            return Failed(f"{part.name}:{error.line}", f"front matter: {error}")
        fields, body = read_plainly(text)
    if not fields and not body.strip():
        return Skipped(part.name, "empty")
    return Note(part.name, fields, body, text.count("\n", 0, len(text) - len(body)) + 1)


FIELDS = ("title", "tags", "tag", "author", "source", "cssclasses", "cssclass", *CREATED, *UPDATED)


def detect(shape: Shape) -> bool:
    return any(name.lower().endswith((".md", ".markdown")) for name in shape.members)


def read(source: Source) -> Iterator[Found]:
    for found in notes(source):
        yield found if isinstance(found, Skipped | Failed) else item(found)


def item(note: Note) -> Found:
    """Return the memory of a note, with the title above the text unless the text begins with it."""
    text = note.prose
    if not text:
        return Skipped(note.name, "empty")
    opening = text.partition("\n")[0].strip("# ").casefold()
    return Item(
        external=note.name,
        place=f"{note.name}:{note.line}",
        memory={
            "content": text if opening == note.title.casefold() else f"{note.title}\n\n{text}",
            "category": note.folder,
            "author": text_of(note.fields.get("author")),
            "source": text_of(note.fields.get("source")),
            "tags": note.tags,
            "metadata": without({"title": note.title, "path": note.name, "links": note.links}),
            "created_at": when(note.first(CREATED)),
            "updated_at": when(note.first(UPDATED)),
        },
        rest=without(note.fields, *FIELDS),
    )
