"""Documents of other systems: a text with the chunks that it was cut into there.

A chunk keeps its borders where its text can be found. Chunks without what they repeat join to the text exactly.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from muisti.core.documents.model import structure_of
from muisti.core.model.choices import CONTENT_MAX
from muisti.core.model.values import DOCUMENT_MAX
from muisti.core.parsing.chunking.cutting import cut
from muisti.core.parsing.pieces import Cut, Piece
from muisti.core.text.terms import count_tokens
from muisti.service.formats.importers.items import Item, clean, without

REPEATED_MAX = 10_000  # characters that a chunk may repeat
_LETTER = re.compile(r"^[A-Za-z]:")  # of a drive


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a document. `cuts` join to it. `path` is its name here, `media_type` its format there."""

    path: str
    cuts: Sequence[Cut]
    media_type: str | None = None
    title: str | None = None

    def facts(self, system: str) -> dict[str, Any]:
        """Return what the structure of a document says of its text."""
        own = [one.text[one.overlap :] for one in self.cuts]
        data = "".join(own).encode()
        return without({
            "sha256": sha256(data).hexdigest(),
            "size": len(data),
            "media_type": self.media_type,
            "options": {"imported": system},  # so that a file that comes to this path is cut again
            "chunks": len(self.cuts),
            "characters": sum(map(len, own)),
            "lines": sum(one.count("\n") for one in own),
            "tokens": sum(count_tokens(one.text) for one in self.cuts),
        })  # fmt: skip


def document_items(item: Item, text: Text, system: str) -> Iterator[Item]:
    """Yield a document and its chunks, which share the fields of `item`, such as tags, metadata and times."""
    title = text.title or posixpath.basename(text.path)
    shared = {**item.memory, "document": text.path}
    yield replace(item, memory={**shared, "content": title, "kind": "document", "structure": text.facts(system)})
    for position, one in enumerate(text.cuts):
        memory = {**shared, "content": one.text, "kind": "chunk", "position": position, "structure": structure_of(one)}
        external = f"{item.external}\nchunk {position}"
        yield replace(item, external=external, parent=item.external, memory=memory, supersedes=None, retrieved=None)


def cuts_of(text: str, chunks: Sequence[str]) -> list[Cut]:
    """Return the cuts of a text at the borders of its chunks, or at new ones where a chunk is not in the text."""
    return _located(text, chunks) or list(cut([Piece(text=text)]))


def _located(text: str, chunks: Sequence[str]) -> list[Cut] | None:
    """Return the cuts at the borders of chunks; None when one of them is not in the text.

    What is between two chunks, such as blanks that were stripped, belongs to the one before.

    >>> [(one.text, one.overlap) for one in _located("One two.  Three", ["One two.", "two.  Three"]) or ()]
    [('One two.', 0), ('two.  Three', 4)]
    """
    starts: list[int] = []
    stops: list[int] = []
    for chunk in chunks:
        if not chunk.strip():
            continue
        start = text.find(chunk, starts[-1] + 1 if starts else 0)
        if start < 0 or (stops and start + len(chunk) <= stops[-1]):
            return None
        starts.append(start)
        stops.append(start + len(chunk))
    if not starts:
        return None
    ends = [max(stop, start) for stop, start in zip(stops, [*starts[1:], len(text)], strict=True)]
    begins = [0, *ends[:-1]]
    pairs = zip(starts, begins, ends, strict=True)
    cuts = [Cut(text=text[min(start, at) : end], overlap=max(0, at - start)) for start, at, end in pairs]
    return None if any(len(one.text) > CONTENT_MAX for one in cuts) else cuts


def joined(chunks: Sequence[str]) -> str:
    """Join chunks to a text; what a chunk repeats of the end of the one before comes once.

    >>> joined(["One two", "two three", "four"])
    'One two three\\nfour'
    """
    text = ""
    for chunk in chunks:
        most = min(len(text), len(chunk), REPEATED_MAX)
        same = next((size for size in range(most, 0, -1) if text.endswith(chunk[:size])), 0)
        text += chunk[same:] if same or not text else f"\n{chunk}"
    return text


def path_of(name: str, otherwise: str) -> str:
    r"""Return a name of another system as the path of a document: relative, with / between its parts.

    >>> path_of("C:\\work\\..\\a.md", "x"), path_of("/docs/a.md", "x"), path_of(" ", "x")
    ('work/a.md', 'docs/a.md', 'x')
    """
    slashed = clean(_LETTER.sub("", name)).replace("\\", "/").strip()
    parts = [part for part in slashed.split("/") if part not in ("", ".", "..")]
    path = "/".join(parts)
    return path if path.strip() and len(path) <= DOCUMENT_MAX else otherwise[:DOCUMENT_MAX]
