"""Measures standing instructions: how often the right one is beside the hits, and what the rule takes for one wrongly.

    python -m loadtests.quality.instructions FOLDER ... [--category instruction_following]

A folder is judged data (`evaluation.dataset`). The questions of the category are those that an instruction is about.
The right one is the relevant document that the lane can have. A folder without such questions only counts the documents
that the rule takes for instructions, and `--list` prints them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from loadtests.quality.contexts import opened, store
from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.model.choices import INSTRUCTIONS_MAX
from muisti.core.query.query import Query
from muisti.core.text.standing_instructions import standing
from muisti.service.evaluation.dataset import Dataset, DatasetError, Document, load

HEAD = (
    "| data | documents | taken for instructions | questions about one | right one first | among three | among five |",
    "| --- | --- | --- | --- | --- | --- | --- |",
)


@dataclass(frozen=True, slots=True)
class Measured:
    """The documents that the rule takes, and the place of the right instruction for each question, None for none."""

    taken: Sequence[Document]
    places: Sequence[int | None]


def measure(data: Dataset, category: str) -> Measured:
    """Return what the rule takes, and the places of the right instructions among those beside the hits."""
    taken = [one for own in data.documents.values() for one in own if standing(one.text, author=_speaker(one))]
    places: list[int | None] = []
    groups = {name: [one for one in asked if one.category == category] for name, asked in data.queries.items()}
    with opened(StaticEncoder()) as engine:
        for number, (group, asked) in enumerate(groups.items()):
            if not asked:
                continue
            space = f"g{number}"
            ids = {memory.id: document.id for memory, document in store(engine, space, data.documents[group])}
            for query in asked:
                answer = engine.owner.read.search(space, Query(text=query.text, limit=1))
                found = [ids[one.memory.id] for one in answer.instructions]
                right = [place for place, one in enumerate(found) if one in data.qrels[query.id]]
                places.append(right[0] if right else None)
    return Measured(taken, places)


def row(data: Dataset, found: Measured) -> str:
    """Return the line of a table."""
    documents = sum(map(len, data.documents.values()))
    within = [sum(place is not None and place < most for place in found.places) for most in (1, 3, INSTRUCTIONS_MAX)]
    shown = [str(count) if found.places else "" for count in within]
    asked = str(len(found.places)) if found.places else ""
    return f"| {data.name} | {documents:,} | {len(found.taken)} | {asked} | {' | '.join(shown)} |"


def _speaker(document: Document) -> str | None:
    speaker = document.meta.get("speaker")
    return speaker if isinstance(speaker, str) and speaker.strip() else None


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--category", default="instruction_following", show_default=True, help="Questions about an instruction.")
@click.option("--list", "listed", is_flag=True, help="Print what the rule takes for instructions.")
def main(folders: tuple[Path, ...], *, category: str, listed: bool) -> None:
    """Print for each folder what the rule takes, and where the right instruction is."""
    lines = [*HEAD]
    for folder in folders:
        try:
            data = load(folder)
        except DatasetError as error:
            raise click.ClickException(str(error)) from error
        found = measure(data, category)
        lines.append(row(data, found))
        for one in found.taken if listed else ():
            click.echo(f"{one.id}: {' '.join(one.text.split())[:200]}")
    click.echo("\n".join(lines))


if __name__ == "__main__":
    main()
