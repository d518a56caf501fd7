"""Reviews that ordinary texts open: how often the check at write time calls texts a duplicate or a contradiction.

    python -m muisti.service.evaluation.reviews FOLDER ... [--show]

Each FOLDER holds judged data (`service.evaluation.dataset`). Its texts are added one by one with the default
`on_conflict`, each group in a space of its own. Few of these texts duplicate or contradict each other. So nearly every
refusal and review is a false alarm; --show prints the pairs to look at.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from muisti.core.databases import open_file
from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.engine import Engine
from muisti.core.model.collisions import Similar
from muisti.core.model.errors import MuistiError
from muisti.core.model.times import system_clock
from muisti.core.model.values import Draft
from muisti.service.evaluation.dataset import Dataset, DatasetError, load

KINDS = ("duplicate", "conflict", "possible_conflict")


def outcomes(dataset: Dataset, engine: Engine, pairs: list[tuple[str, str, str]]) -> Counter[str]:
    """Add all texts of a set and return how often each kind of likeness was found; `pairs` gets the texts."""
    found: Counter[str] = Counter()
    for number, documents in enumerate(dataset.documents.values()):
        space = f"group-{number}"
        engine.spaces.create(space)
        for document in documents:
            found["texts"] += 1
            try:
                written = engine.owner.write.add(space, [Draft(content=document.text)])
                against = [one for one in written.similar if one.kind == "possible_conflict"]
            except Similar as refusal:
                against = refusal.found[:1]
            except MuistiError:  # a blank text, or one with a secret
                found["not stored"] += 1
                continue
            found.update({one.kind for one in against})
            pairs += [(one.kind, one.content, document.text) for one in against]
    return found


def table(found: Sequence[tuple[str, Counter[str]]]) -> Iterator[str]:
    """Yield the lines of a Markdown table, a set a line."""
    yield "| set | texts | refused as duplicates | refused as contradictions | reviews opened | reviews per 1,000 |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for name, count in found:
        cells = [f"{count['texts']:,}", *(f"{count[kind]:,}" for kind in KINDS)]
        yield f"| {name} | {' | '.join(cells)} | {1000 * count['possible_conflict'] / count['texts']:.1f} |"


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--show", is_flag=True, help="Print each pair of texts.")
def main(folders: Sequence[Path], show: bool) -> None:
    """Count the refusals and reviews that ordinary texts cause."""
    encoder = StaticEncoder()
    found: list[tuple[str, Counter[str]]] = []
    for folder in folders:
        pairs: list[tuple[str, str, str]] = []
        try:
            dataset = load(folder)
        except DatasetError as error:
            raise click.ClickException(str(error)) from None
        with (
            tempfile.TemporaryDirectory() as place,
            Engine(open_file(Path(place) / "reviews.db"), encoder, system_clock) as engine,
        ):
            found.append((dataset.name, outcomes(dataset, engine, pairs)))
        for kind, existing, new in pairs if show else ():
            click.echo(f"{kind}\n  {existing!r}\n  {new[:300]!r}")
    for line in table(found):
        click.echo(line)


if __name__ == "__main__":
    sys.exit(main())
