"""`python -m loadtests.importing`: peak memory of importing a large file.

`muisti import` runs as a process of its own on two kinds of file, each first at a tenth of its size. One has Muisti's
JSON lines, whose memories have kilobytes of metadata. The other is an export of mcp-memory-service: one JSON object in
one line, whose memories have vectors.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console

from loadtests import tables, texts
from loadtests.tables import Table

MEGABYTES = 20
WORDS = (8, 50)  # of a memory
METADATA = 8_000  # characters
DIMENSIONS = 384
SOME = 500  # texts, which come again and again, each time with another number
MEGA = 1e6


class Taken(NamedTuple):
    """An import: bytes of the file, memories, seconds, and the most bytes that the process had in memory."""

    form: str
    size: int
    memories: int
    seconds: float
    peak: int


def main() -> None:
    options = _options()
    found: list[Taken] = []
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for form, write in FORMS.items():
            for megabytes in (options.megabytes / 10, options.megabytes):
                found.append(_taken(form, write, int(megabytes * MEGA), Path(folder)))
                Console(stderr=True).print(found[-1])
    Console(width=140).print(tables.rich_table(_table(found)))


def _taken(form: str, write: Callable[[Path, int], int], size: int, folder: Path) -> Taken:
    file, database = folder / form, folder / "muisti.db"
    memories = write(file, size)
    environment = {**os.environ, "MUISTI_DATABASE_URL": f"file:{database}"}
    command = [Path(sys.executable).with_name("muisti"), "import", file, "--json"]
    began = time.perf_counter()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stderr is not None
    answer, errors = process.stdout.read(), process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(errors.decode())
    report = json.loads(answer)
    assert report["created"] == memories, report
    taken = Taken(form, file.stat().st_size, memories, time.perf_counter() - began, used.ru_maxrss * 1024)
    for one in folder.iterdir():
        one.unlink()
    return taken


def _contents() -> Iterator[str]:
    some = list(islice(texts.made(WORDS, seed=3), SOME))
    number = 0
    while True:
        number += 1
        yield f"{some[number % SOME]} {number}"


def _export(file: Path, size: int) -> int:
    """Write an export of Muisti of about so many bytes; how many memories it has."""
    count, log = 0, " ".join(islice(texts.made(WORDS, seed=4), METADATA // 100))
    with file.open("w", encoding="utf-8") as opened:
        opened.write('{"type":"muisti","format":1,"source":"loadtests"}\n')
        for count, content in enumerate(_contents(), start=1):
            memory = {"id": f"0197a3c0-5f4e-7000-8000-{count:012x}", "content": content, "metadata": {"log": log}}
            opened.write(json.dumps({"type": "memory", "memory": memory}) + "\n")
            if opened.tell() >= size:
                break
        opened.write(f'{{"type":"end","lines":{count + 1}}}\n')
    return count


def _mcp_memory_service(file: Path, size: int) -> int:
    """Write an export of mcp-memory-service, with vectors, likewise."""
    count, vector = 0, np.random.default_rng(5).normal(size=DIMENSIONS).tolist()
    with file.open("w", encoding="utf-8") as opened:
        opened.write('{"export_metadata": {"include_embeddings": true}, "memories": [')
        for count, content in enumerate(_contents(), start=1):
            memory = {"content": content, "content_hash": f"h{count}", "tags": ["load"], "embedding": vector}
            opened.write((", " if count > 1 else "") + json.dumps(memory))
            if opened.tell() >= size:
                break
        opened.write("]}")
    return count


FORMS = {"export.ndjson": _export, "mcp-memory-service.json": _mcp_memory_service}


def _table(found: list[Taken]) -> Table:
    rows = [
        (one.form, f"{one.size / MEGA:,.0f}", f"{one.memories:,}", f"{one.seconds:,.0f}", f"{one.peak / MEGA:,.0f}")
        for one in found
    ]
    return Table("size", "Large files", ("file", "MB", "memories", "seconds", "peak memory, MB"), rows)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="loadtests.importing", description=__doc__)
    parser.add_argument("--megabytes", type=int, default=MEGABYTES, help=f"of the larger file; {MEGABYTES}")
    parser.add_argument("--folder", type=Path, help="where the files and the databases are")
    return parser.parse_args()


if __name__ == "__main__":
    main()
