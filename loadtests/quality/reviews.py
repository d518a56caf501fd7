"""Reviews that ordinary texts open: how often the check at write time calls texts a duplicate or a contradiction.

    python -m loadtests.quality.reviews FOLDER ... [--turns N] [--show]

Each FOLDER holds judged data (`service.evaluation.dataset`). Its texts are added one by one with the default
`on_conflict`, each group in a space of its own. Few of these texts duplicate or contradict each other. So nearly every
refusal and review is a false alarm; --show prints the pairs to look at.

With --turns only the first N turns of all folders are added. A turn is a text, or a line of a text whose lines begin
with the name of a speaker, as in minutes of meetings. The last column is the median processor time of a write.
"""

import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

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
_SPEAKER = re.compile(r"^[A-Z][\w .'’-]{0,40}: ")


@dataclass(slots=True)
class Outcome:
    """Counts by kind of likeness, the pairs behind them (kind, existing, new), and the seconds of each write."""

    counts: Counter[str] = field(default_factory=Counter)
    pairs: list[tuple[str, str, str]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


def turns(text: str) -> Sequence[str]:
    """Return the turns of a text, one a line where each line begins with a speaker.

    >>> turns("Ann: Hi!\\nBob: Hello."), turns("Note: two lines,\\nbut one turn")
    (['Ann: Hi!', 'Bob: Hello.'], ['Note: two lines,\\nbut one turn'])
    """
    lines = [line for line in text.splitlines() if line.strip()]
    return lines if len(lines) > 1 and all(map(_SPEAKER.match, lines)) else [text]


def outcomes(dataset: Dataset, engine: Engine, most: int | None = None) -> Outcome:
    """Add all texts of a set, or its first `most` turns, and return what the check found."""
    found = Outcome()
    left = most
    for number, documents in enumerate(dataset.documents.values()):
        space = f"group-{number}"
        engine.spaces.create(space)
        for document in documents:
            texts = [document.text] if left is None else turns(document.text)[:left]
            left = None if left is None else left - len(texts)
            for text in texts:
                _add(engine, space, text, found)
    return found


def _add(engine: Engine, space: str, text: str, found: Outcome) -> None:
    """Add a text and count what the check said of it."""
    found.counts["texts"] += 1
    began = time.process_time()
    try:
        written = engine.owner.write.add(space, [Draft(content=text)])
        against = [one for one in written.similar if one.kind == "possible_conflict"]
    except Similar as refusal:
        against = refusal.found[:1]
    except MuistiError:  # a blank text, or one with a secret
        found.counts["not stored"] += 1
        return
    found.seconds.append(time.process_time() - began)
    found.counts.update({one.kind for one in against})
    found.pairs += [(one.kind, one.content, text) for one in against]


def table(found: Sequence[tuple[str, Outcome]]) -> Iterator[str]:
    """Yield the lines of a Markdown table, a set a line."""
    heads = ("set", "texts", "refused as duplicates", "refused as contradictions", "reviews opened")
    yield f"| {' | '.join(heads)} | reviews per 1,000 | ms of a write |"
    yield f"|{' --- |' * (len(heads) + 2)}"
    for name, outcome in found:
        count = outcome.counts
        cells = [f"{count['texts']:,}", *(f"{count[kind]:,}" for kind in KINDS)]
        rate, cost = 1000 * count["possible_conflict"] / max(count["texts"], 1), 1000 * median(outcome.seconds or [0.0])
        yield f"| {name} | {' | '.join(cells)} | {rate:.1f} | {cost:.2f} |"


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--turns", "most", type=click.IntRange(1), help="Most turns to add, of all folders.")
@click.option("--show", is_flag=True, help="Print each pair of texts.")
def main(folders: Sequence[Path], most: int | None, show: bool) -> None:
    """Count the refusals and reviews that ordinary texts cause."""
    encoder = StaticEncoder()
    found: list[tuple[str, Outcome]] = []
    for folder in folders:
        try:
            dataset = load(folder)
        except DatasetError as error:
            raise click.ClickException(str(error)) from None
        with (
            tempfile.TemporaryDirectory() as place,
            Engine(open_file(Path(place) / "reviews.db"), encoder, system_clock) as engine,
        ):
            outcome = outcomes(dataset, engine, most)
        found.append((dataset.name, outcome))
        most = None if most is None else most - outcome.counts["texts"]
        for kind, existing, new in outcome.pairs if show else ():
            click.echo(f"{kind}\n  {existing!r}\n  {new[:300]!r}")
    for line in table(found):
        click.echo(line)


if __name__ == "__main__":
    sys.exit(main())
