"""Measures the facts that texts state: preferences found, facts of conversations, relations between names.

    python -m loadtests.quality.facts DATA [--test FILE] [--beside NAME FILE] [--read N]

DATA is a folder with the sets `prefeval`, `locomo` and `relations_conll04`. Half of the topics of
`prefeval` and two conversations of `locomo` were in view when the rules were written. The others judge them. FILE of
`--test` has the test sentences of CoNLL04, as they are published. FILE of `--beside` has the entities that another
recogniser finds in them: a line of `[first token, token after the last, kind]` for each sentence. `--read` prints facts
to read.
"""

import json
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from zlib import crc32

import click

from loadtests.quality.relations import ENTITIES, Judged, Mention, Score, related, score, sentences
from loadtests.quality.turns import sessions
from muisti.core.graph.entities.recogniser import shipped
from muisti.core.graph.entities.spans import Names, Stretch
from muisti.core.graph.facts import between
from muisti.core.graph.facts.between import Fact, Named
from muisti.core.graph.facts.reading import facts
from muisti.core.graph.model import Mention as Recognised
from muisti.service.evaluation.dataset import Dataset, DatasetError, load

PREFERENCES = frozenset({"prefers", "likes", "dislikes", "avoids", "allergic_to", "uses", "is"})
SEEN = 2  # conversations in view when the rules were written
THRESHOLDS = [step / 40 for step in range(8, 36)]

Line = tuple[str, str, str, Sequence[Recognised], Fact]  # id, author, text, mentions, fact


def halves(data: Dataset) -> tuple[list[str], list[str]]:
    """Return the texts of the topics that the rules were written with, and those of the others."""
    texts: tuple[list[str], list[str]] = ([], [])
    for documents in data.documents.values():
        for one in documents:
            texts[crc32(str(one.meta["topic"]).encode()) % 2].append(one.text)
    return texts


def states_preference(text: str) -> bool:
    """Return whether a preference is found in a text."""
    return any(fact.kind in PREFERENCES for fact in facts(text, [], None))


def spoken_facts(data: Dataset, groups: Sequence[str]) -> tuple[list[Line], int, float]:
    """Return the facts of conversations, the number of turns, and milliseconds of processor time a turn for facts."""
    turns = [
        (f"{group}/{session}/{turn.number}", turn.author, turn.text, group)
        for (group, session), said in sessions(data).items()
        if group in groups
        for turn in said
    ]
    speakers = {group: {author for _, author, _, other in turns if other == group} for group in groups}
    read = [(*turn[:3], shipped().read(turn[2], speakers=speakers[turn[3]])) for turn in turns]
    begin = time.process_time()
    found = [facts(text, mentions, author) for _, author, text, mentions in read]
    spent = time.process_time() - begin
    lines: list[Line] = [(*turn, fact) for turn, those in zip(read, found, strict=True) for fact in those]
    return lines, len(turns), 1000 * spent / max(1, len(turns))


def _echo_preferences(data: Dataset) -> None:
    for name, texts in zip(("topics in view", "other topics"), halves(data), strict=True):
        found = sum(map(states_preference, texts))
        click.echo(f"| preferences, {name} | {found} of {len(texts)} | {found / max(1, len(texts)):.3f} |")


def _echo_turns(data: Dataset, read: int) -> None:
    groups = sorted(data.documents)
    for name, part in (("in view", groups[:SEEN]), ("others", groups[SEEN:])):
        lines, turns, spent = spoken_facts(data, part)
        kinds = ", ".join(f"{kind} {count}" for kind, count in Counter(line[-1].kind for line in lines).most_common())
        click.echo(f"| conversations, {name} | {len(lines)} facts in {turns} turns, {spent:.3f} ms a turn | {kinds} |")
    for id_, author, text, mentions, fact in random.Random(7).sample(lines, min(read, len(lines))):
        thing = text[slice(*fact.literal)] if fact.literal else _named(text, mentions, fact.object, author)
        subject = _named(text, mentions, fact.subject, author)
        denied = "" if fact.polarity else "not "
        click.echo(
            f"{id_} {fact.start}-{fact.stop}: {subject} {denied}{fact.kind} {thing!r}: {text[fact.start : fact.stop]!r}"
        )


def _named(text: str, mentions: Sequence[Named], number: int | None, author: str) -> str:
    return author if number is None or number < 0 else text[mentions[number].start : mentions[number].stop]


Finder = Callable[[Sequence[Judged]], Sequence[Sequence[Named]]]


def of_judges(judged: Sequence[Judged]) -> Sequence[Sequence[Named]]:
    """Return the entities that people found."""
    return [one.mentions for one in judged]


def of_tokens(judged: Sequence[Judged]) -> Sequence[Sequence[Named]]:
    """Return the entities that Muisti recognises in the tokens of the set."""
    return [shipped().stretch(one.text, Stretch([*one.tokens], True), Names((), ())) for one in judged]


def of_text(judged: Sequence[Judged]) -> Sequence[Sequence[Named]]:
    """Return the entities that Muisti recognises in running text."""
    return [shipped().read(one.text) for one in judged]


def of_file(path: Path, judged: Sequence[Judged]) -> Sequence[Sequence[Named]]:
    """Return the entities that a file has for each sentence.

    Raises:
        DatasetError: the file has another number of lines.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    if len(lines) != len(judged):
        raise DatasetError(f"{path} has {len(lines)} lines for {len(judged)} sentences")
    return [
        [
            Mention(one.tokens[first][0], one.tokens[stop - 1][1], ENTITIES[kind])
            for first, stop, kind in json.loads(line)
        ]
        for one, line in zip(judged, lines, strict=True)
    ]


def scored(judged: Sequence[Judged], mentions: Sequence[Sequence[Named]], least: float | None = None) -> Score:
    """Return how well the relations between the entities given are found; `least` as `relations.related` has it."""
    judge = between.shipped()
    return score([related(judge, one, those, least) for one, those in zip(judged, mentions, strict=True)], judged)


def tuned(dev: Sequence[Judged], find: Finder) -> float:
    """Return the threshold with the best F1 on sentences to tune with."""
    mentions = find(dev)
    return max(THRESHOLDS, key=lambda least: scored(dev, mentions, least).f1)


def _echo_relations(dev: Sequence[Judged], test: Sequence[Judged], beside: Sequence[tuple[str, Path]]) -> None:
    judged = tuned(dev, of_judges)
    ways: list[tuple[str, float, Sequence[Sequence[Named]]]] = [
        ("judged entities", judged, of_judges(test)),
        ("own entities in the set's tokens", tuned(dev, of_tokens), of_tokens(test)),
        ("own entities in running text", tuned(dev, of_text), of_text(test)),
        *((f"entities of {name}", judged, of_file(path, test)) for name, path in beside),
    ]
    for name, least, mentions in ways:
        for title, one in ((f"threshold {least:.3f}", least), ("default thresholds", None)):
            got = scored(test, mentions, one)
            told = f"P {got.precision:.3f} R {got.recall:.3f} F1 {got.f1:.3f}"
            click.echo(f"| relations of {len(test)} sentences, {name} | {title} | {told} |")


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--test", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Test sentences of CoNLL04.")
@click.option(
    "--beside",
    type=(str, click.Path(exists=True, dir_okay=False, path_type=Path)),
    multiple=True,
    help="A name, and a file of entities in the test sentences.",
)
@click.option("--read", type=click.IntRange(0), default=0, help="Facts of conversations to print.")
def main(folder: Path, *, test: Path | None, beside: Sequence[tuple[str, Path]], read: int) -> None:
    """Print what is found in sets of texts, as a table."""
    try:
        click.echo("| what | found | |\n| --- | --- | --- |")
        _echo_preferences(load(folder / "prefeval"))
        dev = sentences(folder / "relations_conll04" / "dev.jsonl")
        _echo_relations(dev, dev if test is None else sentences(test), beside if test else ())
        _echo_turns(load(folder / "locomo"), read)
    except (DatasetError, OSError) as error:
        raise click.ClickException(str(error)) from error


if __name__ == "__main__":
    main()
