"""Measures whether evidence sees the wrong person: questions with the name of another speaker for the right one.

    python -m loadtests.quality.persons FOLDER...

Each FOLDER holds judged dialogues (`service.evaluation.dataset`). Only questions that name exactly one speaker count.
Now and then the other speaker has an answer, too. AUROC compares the strength of both kinds of question.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import click
import numpy as np

from loadtests.quality.contexts import groups, opened, store
from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.model.hits import Answer
from muisti.core.query.query import Query
from muisti.service.evaluation.dataset import Dataset, load
from muisti.service.evaluation.evidence import auroc

SPEAKERS = 6  # that speak most, of each group


def swapped(dataset: Dataset, group: str) -> Iterator[tuple[str, str]]:
    """Yield the questions that name one speaker, each also with the name of another."""
    said = Counter(str(document.meta.get("speaker", "")) for document in dataset.documents[group])
    names = [name.split()[0] for name, _ in said.most_common(SPEAKERS) if name[:1].isupper()]
    for query in dataset.queries.get(group, ()):
        named = [name for name in names if re.search(rf"\b{re.escape(name)}\b", query.text)]
        others = [name for name in names if name not in named]
        if len(named) == 1 and others:
            yield query.text, query.text.replace(named[0], Random(query.id).choice(others))


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
def main(folders: Sequence[Path]) -> None:
    """Print how much evidence is found for the right and for the wrong person."""
    click.echo(
        "| set | questions | strong: right, wrong | none: right, wrong | AUROC |\n| --- | --- | --- | --- | --- |"
    )
    for folder in folders:
        dataset, answers = load(folder), list[tuple[Answer, Answer]]()
        with opened(StaticEncoder()) as engine:
            for group in groups(dataset, "all"):
                store(engine, group, dataset.documents[group])
                for pair in swapped(dataset, group):
                    right, wrong = (engine.owner.read.search(group, Query(text=one, no_touch=True)) for one in pair)
                    answers.append((right, wrong))
        strengths = np.array([[one.strength for one in pair] for pair in answers])
        levels = [
            ", ".join(f"{np.mean([pair[side].evidence == level for pair in answers]):.3f}" for side in (0, 1))
            for level in ("strong", "none")
        ]
        area = auroc(strengths[:, 0], strengths[:, 1])
        click.echo(f"| {dataset.name} | {len(answers)} | {levels[0]} | {levels[1]} | {area:.3f} |")


if __name__ == "__main__":
    main()
