"""Let one library read files: the program that `quality.parsing` runs, also in the environment of other libraries.

Paths come by standard input, a line each; a line of JSON goes out for each. It needs no package of Muisti but for
Muisti's own parsers, so that an environment with another library alone can run it.
"""

import contextlib
import json
import resource
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

PATIENCE = 120  # seconds for a file
ENDS: list[Callable[[], None]] = []  # what ends a library


@dataclass
class Result:
    """Result of a library for a file: its text, or the error. Only Muisti fills in `pages`."""

    text: str
    error: str
    seconds: float
    pages: int = 0


class TookTooLong(Exception):
    """A file took longer than `PATIENCE`."""


def _muisti() -> Callable[[str], tuple[str, int]]:
    from muisti.core.model.unreadable import Unreadable  # noqa: PLC0415  # peers' environments have no Muisti
    from muisti.core.parsing.parsed import Options  # noqa: PLC0415  # as above
    from muisti.core.parsing.reading import parse  # noqa: PLC0415  # as above
    from muisti.core.parsing.workers import Workers  # noqa: PLC0415  # as above

    workers = Workers()
    ENDS.append(workers.close)  # so that their time and memory are counted

    def read(path: str) -> tuple[str, int]:
        try:
            with parse(Path(path), path, Options(), workers) as document:
                return "".join(piece.text for piece in document), document.pages or 0
        except Unreadable as error:
            raise ValueError(error.code) from error

    return read


def _markitdown() -> Callable[[str], tuple[str, int]]:
    converter: Any = import_module("markitdown").MarkItDown()
    return lambda path: (converter.convert(path).text_content or "", 0)


def _kreuzberg() -> Callable[[str], tuple[str, int]]:
    kreuzberg: Any = import_module("kreuzberg")
    configuration = kreuzberg.ExtractionConfig(output_format="markdown", use_cache=False)
    return lambda path: (kreuzberg.extract_file_sync(path, config=configuration).content, 0)


def _pypdf() -> Callable[[str], tuple[str, int]]:
    pypdf: Any = import_module("pypdf")
    return lambda path: ("\n".join(page.extract_text() for page in pypdf.PdfReader(path).pages), 0)


READERS = {"muisti": _muisti, "markitdown": _markitdown, "kreuzberg": _kreuzberg, "pypdf": _pypdf}


def read(reader: Callable[[str], tuple[str, int]], path: str) -> Result:
    """Return the result of a library for a file. Any error of a library is a result."""
    began = time.process_time()
    text, error, pages = "", "", 0
    signal.alarm(PATIENCE)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            text, pages = reader(path)
    except Exception as raised:  # noqa: BLE001  # libraries raise whatever they like
        error = str(raised) if str(raised).startswith("document.") else type(raised).__name__
    finally:
        signal.alarm(0)
    return Result(text, error, time.process_time() - began, pages)


def _late(number: int, frame: object) -> None:
    raise TookTooLong(number)


def main() -> None:
    """Read the files that the input names."""
    signal.signal(signal.SIGALRM, _late)
    reader = READERS[sys.argv[1]]()
    for line in sys.stdin:
        path = line.rstrip("\n")
        sys.stdout.write(json.dumps({"path": path, **asdict(read(reader, path))}) + "\n")
        sys.stdout.flush()
    for end in ENDS:
        end()
    workers = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    sys.stdout.write(json.dumps({"memory": max(_peak(), workers) // 1024}) + "\n")


def _peak() -> int:
    """Return the most memory in kB that this program has used; that of its parent before it began is not counted."""
    return int(Path("/proc/self/status").read_text("utf-8").split("VmHWM:")[1].split()[0])


if __name__ == "__main__":
    main()
