"""Measure the search for symbols by their names: the rank of the chunk in which a symbol is defined.

    python -m loadtests.quality.code_names REPO... [--most N]

Source files are stored as documents, in chunks of the usual size. Queries are the names of functions, classes and
methods that have the shape of symbols; methods are named with their class. A hit is right when its chunk covers the
line of a definition of that name, as the reader of code tells it. "Before" searches chunks that do not say what they
define.
"""

import argparse
import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import structs
from rich.console import Console
from rich.table import Table

from loadtests.quality.code import records_of
from loadtests.quality.contexts import opened
from muisti.core.documents.model import FileFacts, NewDocument
from muisti.core.documents.view import TOGETHER, Cuts, Incoming
from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.engine import Engine
from muisti.core.model.places import DocumentName
from muisti.core.model.spaces import CONTENT_ONLY
from muisti.core.parsing.chunking.cutting import cut
from muisti.core.parsing.code.apart import symbol_of
from muisti.core.parsing.code.reading import LANGUAGES
from muisti.core.parsing.code.records import Record
from muisti.core.parsing.pieces import Piece
from muisti.core.query.query import Query

SPACE = "code"
LIMIT = 10


def store(engine: Engine, root: Path, records: Iterable[Record], *, defines: bool) -> None:
    """Store the files of the records as documents."""
    engine.spaces.create(SPACE, CONTENT_ONLY)
    engine.spaces.set_policy(SPACE, {"secrets": "allow", "personal_data": "allow"})
    incoming: list[Incoming] = []
    for record in records:
        raw = root.joinpath(record.path).read_bytes()
        text = raw.decode("utf-8", "replace")
        cuts = cut([Piece(text=text, kind="code", language=record.language)])
        facts = FileFacts(sha256=hashlib.sha256(raw).hexdigest(), size=len(raw), language=record.language)
        kept = Cuts(one if defines else structs.replace(one, defines=()) for one in cuts)
        incoming.append(Incoming(new=NewDocument(path=record.path, facts=facts), cuts=kept))
    for start in range(0, len(incoming), TOGETHER):
        engine.owner.documents.put(SPACE, incoming[start : start + TOGETHER])


def queries(records: Iterable[Record]) -> dict[str, list[tuple[str, int]]]:
    """Return the names that are asked for, with the files and lines of their definitions."""
    found: dict[str, list[tuple[str, int]]] = {}
    for record in records:
        for one in record.definitions:
            named = one.name and one.kind != "constant" and "elsewhere" not in one.flags
            name = ".".join(one.qualified.split(".")[-2:]) if one.kind == "method" else one.name
            if named and symbol_of(name) == name:
                found.setdefault(name, []).append((record.path, one.start))
    return found


def lines_of(engine: Engine, paths: Iterable[str]) -> dict[str, tuple[str, int, int]]:
    """Return the file of each chunk, with its first and last line."""
    found: dict[str, tuple[str, int, int]] = {}
    for path in paths:
        cursor: str | None = None
        while True:
            page = engine.owner.documents.chunks(SPACE, DocumentName(name=path), limit=100, cursor=cursor)
            found.update((one.memory.id, (path, one.first_line, one.last_line)) for one in page.items)
            if (cursor := page.next_cursor) is None:
                break
    return found


def reciprocal_ranks(engine: Engine, wanted: Mapping[str, list[tuple[str, int]]], paths: Iterable[str]) -> list[float]:
    """Return one over the rank of the first right hit of each query, 0 when there is none."""
    places = lines_of(engine, paths)
    found = []
    for name, definitions in wanted.items():
        hits = engine.owner.read.search(SPACE, Query(text=name, limit=LIMIT)).hits
        ranks = [
            rank
            for rank, hit in enumerate(hits, start=1)
            if hit.memory.id in places
            for path, first, last in [places[hit.memory.id]]
            if any(path == own and first <= line <= last for own, line in definitions)
        ]
        found.append(1 / ranks[0] if ranks else 0.0)
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repos", nargs="+", type=Path, help="folders of source code")
    parser.add_argument("--most", type=int, default=500, help="queries of a repository (default 500)")
    options = parser.parse_args()
    table = Table("repository", "files", "queries", "MRR before", "MRR", "first before", "first")
    for repo in options.repos:
        records = records_of(repo.resolve(), LANGUAGES)
        asked = queries(records)
        wanted = {name: asked[name] for name in sorted(asked)[:: max(1, len(asked) // options.most)]}
        row = [repo.resolve().name, f"{len(records)}", f"{len(wanted)}"]
        found = []
        for defines in (False, True):
            with opened(StaticEncoder()) as engine:
                store(engine, repo, records, defines=defines)
                found.append(reciprocal_ranks(engine, wanted, [one.path for one in records]))
        row += [f"{sum(ranks) / max(1, len(ranks)):.3f}" for ranks in found]
        row += [f"{ranks.count(1.0) / max(1, len(ranks)):.3f}" for ranks in found]
        table.add_row(*row)
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
