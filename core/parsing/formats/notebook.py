"""Read Jupyter notebooks: text cells as Markdown, code cells as code, and the outputs that are text."""

import json
import re
from collections.abc import Iterator
from typing import Any, cast

from muisti.core.model.unreadable import Broken
from muisti.core.parsing.encodings import text_of
from muisti.core.parsing.formats.html import markup_pieces
from muisti.core.parsing.parsed import About, Options, Outline, block
from muisti.core.parsing.pieces import Piece
from muisti.core.parsing.text import MarkdownReader, lines

_TEXTS = ("text/plain", "text", "text/markdown", "text/latex", "latex")
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
OUTPUT = 4_000  # characters of an output that are kept: a plot or a log can be longer than the notebook


def read(data: bytes | bytearray, options: Options, about: About) -> Iterator[Piece]:
    """Yield the text of a notebook. Raises `Broken` for what is no notebook in JSON."""
    try:
        notebook: Any = json.loads(text_of(bytes(data), options.encoding, about.note))
    except (ValueError, RecursionError) as error:
        raise Broken(f"The notebook is no valid JSON: {error}") from error
    cells: Any = _under(notebook, "cells")
    sheets: Any = _under(notebook, "worksheets")  # of notebooks before 2015
    if cells is None and isinstance(sheets, list):
        cells = [cell for sheet in cast(list[Any], sheets) for cell in _under(sheet, "cells") or ()]
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
    source = _joined(_under(cell, "source") or _under(cell, "input")).strip("\n")
    kind = _under(cell, "cell_type")
    if kind == "heading":  # of notebooks before 2015
        level = _under(cell, "level")
        kind, source = "markdown", f"{'#' * level if isinstance(level, int) and 0 < level < 7 else '#'} {source}"
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
        text = _output(output, about).strip("\n")
        if text.strip():
            if len(text) > OUTPUT:
                about.note(f"Of long outputs the first {OUTPUT:,} characters were read.")
                text = text[:OUTPUT] + "\n…"
            yield block(outline, f"```\n{text}\n```", "note")


def _output(output: Any, about: About) -> str:
    """Return an output as text, of the forms that it has the plainest; of an error what was raised where."""
    if _under(output, "output_type") in ("error", "pyerr"):
        trace: Any = _under(output, "traceback")
        steps = cast(list[Any], trace) if isinstance(trace, list) else [trace]
        raised = f"{_joined(_under(output, 'ename'))}: {_joined(_under(output, 'evalue'))}"
        return _COLOUR.sub("", "\n".join([raised, *map(_joined, steps)]))
    forms: Any = _under(output, "data")
    held = cast(dict[str, Any], forms or output) if isinstance(forms or output, dict) else {}
    about.images = about.images or any(name.startswith("image/") or name == "png" for name in held)
    custom = [name for name in held if name.startswith("application/") and name.endswith("json")]
    if text := next((text for name in _TEXTS if (text := _joined(held.get(name)))), ""):
        for name in custom:
            about.leave_out(f"Content of outputs of the type {name[:80]}", len(json.dumps(held[name]).split()))
        return text
    page = next((page for name in ("text/html", "html") if (page := _joined(held.get(name)))), "")
    if page:
        return "".join(piece.text for piece in markup_pieces(page, Outline(), about))
    return "\n".join(json.dumps(held[name], ensure_ascii=False) for name in custom)


def _under(value: Any, *keys: str) -> Any:
    for key in keys:
        value = cast(dict[str, Any], value).get(key) if isinstance(value, dict) else None
    return value


def _joined(source: Any) -> str:
    if isinstance(source, list):
        return "".join(part for part in cast(list[Any], source) if isinstance(part, str))
    return source if isinstance(source, str) else ""
