"""Read Jupyter notebooks: text cells as Markdown, code cells as code, and the outputs that are text."""

import json
from collections.abc import Iterator
from typing import Any, cast

from muisti.core.model.documents import Piece
from muisti.core.model.unreadable import Broken
from muisti.core.parsing.encodings import text_of
from muisti.core.parsing.parsed import About, Options, Outline, block
from muisti.core.parsing.text import MarkdownReader, lines

OUTPUT = 4_000  # characters of an output that are kept: a plot or a log can be longer than the notebook


def read(data: bytes | bytearray, options: Options, about: About) -> Iterator[Piece]:
    """Yield the text of a notebook. Raises `Broken` for what is no notebook in JSON."""
    try:
        notebook: Any = json.loads(text_of(bytes(data), options.encoding, about.note))
    except (ValueError, RecursionError) as error:
        raise Broken(f"The notebook is no valid JSON: {error}") from error
    cells: Any = _under(notebook, "cells")
    if not isinstance(cells, list):
        raise Broken("The file is no notebook: it has no list of cells.")
    kernel = _under(notebook, "metadata", "language_info", "name") or _under(
        notebook, "metadata", "kernelspec", "language"
    )
    about.language = kernel if isinstance(kernel, str) else None
    path: tuple[str, ...] = ()
    for cell in cast(list[Any], cells):
        for piece in _cell(cell, path, about):
            path = piece.headings
            yield piece


def _cell(cell: Any, path: tuple[str, ...], about: About) -> Iterator[Piece]:
    source = _joined(_under(cell, "source")).strip("\n")
    kind = _under(cell, "cell_type")
    outline = Outline(path)
    if kind == "markdown" and source.strip():
        reader = MarkdownReader(path)
        yield from reader.pieces(lines([source + "\n\n"]))
        about.title = about.title or reader.title
    elif kind == "code" and source.strip():
        language = about.language or ""
        yield Piece(text=f"```{language}\n{source}\n```\n\n", kind="code", headings=path, language=about.language)
    elif source.strip():
        yield block(outline, source)
    outputs: Any = _under(cell, "outputs")
    for output in cast(list[Any], outputs) if isinstance(outputs, list) else ():
        text = _joined(_under(output, "text") or _under(output, "data", "text/plain")).strip("\n")
        if text.strip():
            shown = text if len(text) <= OUTPUT else text[:OUTPUT] + "\n…"
            yield block(outline, f"```\n{shown}\n```", "note")


def _under(value: Any, *keys: str) -> Any:
    for key in keys:
        value = cast(dict[str, Any], value).get(key) if isinstance(value, dict) else None
    return value


def _joined(source: Any) -> str:
    if isinstance(source, list):
        return "".join(part for part in cast(list[Any], source) if isinstance(part, str))
    return source if isinstance(source, str) else ""
