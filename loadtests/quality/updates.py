"""Measures recall of facts that change in long conversations: with superseding, with recency, and with neither.

    python -m loadtests.quality.updates FOLDER [--docs docs]

FOLDER holds judged data (`evaluation.dataset`). Its queries also name the ids of documents with the outdated fact
(`superseded`) and with the current one (`updated`). Each such query is asked in its whole conversation: as it is, and
with recency. Then each outdated document is superseded by the next document that states the fact, in the order of
turns, and the query is asked again. With --docs the table is put into quality.md there.
"""

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import click

from loadtests.document import put_table
from muisti.client import calls
from muisti.service.app.local import start
from muisti.service.evaluation.dataset import Dataset, DatasetError, load
from muisti.service.evaluation.run import LIMIT, Stored, as_memory, reference, stored
from muisti.service.settings import Settings
from muisti.service.terminal.client import Client

DEPTH = 100  # hits in which the facts are looked for

WAYS: Mapping[str, Mapping[str, Any]] = {
    "nothing": {},
    "recency, weight .3, half-life 30 days": {"recency": {"weight": 0.3, "half_life_days": 30}},
    "recency, weight 1, half-life 30 days": {"recency": {"weight": 1.0, "half_life_days": 30}},
    "recency, weight 1, half-life 7 days": {"recency": {"weight": 1.0, "half_life_days": 7}},
}
SUPERSEDED = "the old fact superseded"
_SIDES = ("superseded", "updated")


@dataclass(frozen=True, slots=True)
class Update:
    """A question about a fact that has changed: ids of the documents that state it, in the order of turns."""

    id: str
    text: str
    group: str
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """The ranks, from 1, of the first document with the new fact and of the first with the old; 0 for not found."""

    new: int
    old: int


def updates(folder: Path, dataset: Dataset) -> list[Update]:
    """Return the queries of a folder that ask about changed facts.

    Raises:
        DatasetError: the folder has none.
    """
    turns = {one.id: one.meta.get("turn", 0) for documents in dataset.documents.values() for one in documents}
    lines = map(json.loads, (folder / "queries.jsonl").read_text("utf-8").splitlines())
    found = [
        Update(line["id"], line["text"], line["group"], *(_in_order(line[name], turns) for name in _SIDES))
        for line in lines
        if all(line.get(name) for name in _SIDES)
    ]
    if not found:
        raise DatasetError(f"{folder}: no query names what was updated and superseded")
    return found


def _in_order(ids: Sequence[str], turns: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(sorted((id_ for id_ in ids if id_ in turns), key=lambda id_: turns[id_]))


def asked(client: Client, held: Stored, update: Update, how: Mapping[str, Any]) -> Found:
    """Ask a question and return the ranks of both facts."""
    body = {"query": update.text, "limit": DEPTH, **how}
    hits = client.send(calls.search(held.spaces[update.group], body)).data["hits"]
    sources = [hit["memory"]["source"] for hit in hits]

    def first(ids: Sequence[str]) -> int:
        return min((sources.index(id_) + 1 for id_ in ids if id_ in sources), default=0)

    return Found(first(update.new), first([id_ for id_ in update.old if id_ not in update.new]))


def supersede(client: Client, held: Stored, wanted: Sequence[Update]) -> int:
    """Let each document with a fact supersede the one before it; return the number of superseded documents."""
    ids: dict[str, list[str]] = {}
    documents = dict(held.documents)
    for memory_id, document in documents.items():
        ids.setdefault(document.id, []).append(memory_id)
    done = set[str]()
    for update in wanted:
        space = held.spaces[update.group]
        for before, after in pairwise((*update.old, update.new[0])):
            if before in done or before == after:
                continue
            done.add(before)
            first, *others = ids[before]
            texts = [documents[one] for one in ids[after]]
            for one in (*others, *ids[after]):
                client.send(calls.delete_memory(space, one))
            made = client.send(calls.supersede_memory(space, first, as_memory(texts[0], []))).data["id"]
            more = [
                client.send(calls.add_memory(space, as_memory(text, []), on_conflict="keep")).data["id"]
                for text in texts[1:]
            ]
            ids[after] = [made, *more]
            documents |= zip(ids[after], texts, strict=True)
    return len(done)


def measure(client: Client, dataset: Dataset, wanted: Sequence[Update]) -> dict[str, list[Found]]:
    """Return the ranks for each question, by the name of the way to ask it."""
    times = {group: reference(documents) for group, documents in dataset.documents.items()}
    with stored(client, dataset, lambda *_: None) as held:
        found = {
            name: [asked(client, held, update, {**how, **times[update.group]}) for update in wanted]
            for name, how in WAYS.items()
        }
        supersede(client, held, wanted)
        found[SUPERSEDED] = [asked(client, held, update, times[update.group]) for update in wanted]
    return found


def table(found: Mapping[str, Sequence[Found]]) -> Iterator[str]:
    """Yield the table, a row for each way to ask."""
    yield "| | new before old | old among the first ten | new at rank 1 | new among the first ten | MRR of the new |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for name, ranks in found.items():
        ahead = sum(one.new > 0 and (one.old == 0 or one.new < one.old) for one in ranks)
        stale = sum(0 < one.old <= LIMIT for one in ranks)
        top, ten = sum(one.new == 1 for one in ranks), sum(0 < one.new <= LIMIT for one in ranks)
        mean = fmean(1 / one.new if one.new else 0.0 for one in ranks)
        yield f"| {name} | {ahead} of {len(ranks)} | {stale} | {top} | {ten} | {mean:.3f} |"


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--docs", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Put the table there.")
def main(folder: Path, docs: Path | None) -> None:
    """Measure what superseding does for facts that change."""
    try:
        dataset = load(folder)
        wanted = updates(folder, dataset)
    except DatasetError as error:
        raise click.UsageError(str(error)) from error
    with (
        tempfile.TemporaryDirectory(prefix="muisti-updates-") as place,
        start(Settings(database_url=f"file:{Path(place) / 'updates.db'}")) as client,
    ):
        rows = [*table(measure(client, dataset, wanted))]
    click.echo("\n".join(rows))
    if docs is not None:
        put_table(docs / "why" / "quality.md", "updates", rows)


if __name__ == "__main__":
    sys.exit(main())
