"""Trains the tagger of entities from labelled sentences and public lists, and writes it with its card."""

import argparse
import time
from pathlib import Path

import numpy as np

from deploy.model.progress import say
from deploy.tagger import calibrate, data, export, lists, train
from deploy.tagger.card import Facts, write_card
from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.graph.entities import lists as words
from muisti.core.graph.entities.features import VECTOR
from muisti.core.graph.entities.spans import spans
from muisti.core.graph.entities.tagger import SHIPPED, Tagger, load

SEED = 20_261_124
LOWERED = 20  # one sentence in so many is also learned in lower case
OPEN = 0.5  # taken from the score of "no name", chosen on the sets for tuning: names are found more often


def build(folder: Path, downloads: Path, share: float, epochs: int) -> tuple[bytes, Facts]:
    """Return the file of a tagger that learned from a share of the sentences, and facts for its card."""
    flags = lists.flags(downloads)
    entries = words.packed(flags)
    known, encoder = words.Lists(entries), StaticEncoder()
    common = [word for word in sorted(flags) if word.isalpha() and flags[word] & (words.WORD | words.PROPER)][::4]
    mean, axes = train.principal(common, encoder, VECTOR)
    sets = {name: data.sentences(folder, name, "train") for name in data.TRAINING}
    found = [sentence for own in sets.values() for sentence in own if sentence.words]
    chosen = np.random.default_rng(SEED).permutation(len(found))[: round(share * len(found))]
    found = [found[at] for at in sorted(chosen)]
    found += [*data.lowered(found, LOWERED)]
    numbers, vocabulary = train.vocabulary(found, known, encoder, mean, axes)
    say(f"  {len(found):,} sentences, {len(numbers):,} words")
    net = train.train(train.batches(found, known, numbers), vocabulary, SEED, epochs)
    net["pairs"][0, :, 0] -= OPEN
    tuning = [sentence for name in data.TUNING for sentence in data.sentences(folder, name, "dev") if sentence.words]
    plain = np.array([[0.0, 1.0], [0.0, 1.0]])
    tagger = Tagger(load(export.content(entries, mean, axes, net, plain)), encoder)
    measured = calibrate.knots(tagger, tuning)
    content = export.content(entries, mean, axes, net, measured)
    facts = Facts({name: len(own) for name, own in sets.items()}, len(flags), len(content), f1(tagger, folder))
    return content, facts


def f1(tagger: Tagger, folder: Path) -> dict[str, float]:
    """Return the F1 of spans on each set for tuning, of the tagger alone."""
    found: dict[str, float] = {}
    for name in data.TUNING:
        right = both = 0
        for sentence in data.sentences(folder, name, "dev"):
            theirs = {(start, stop) for start, stop, _ in sentence.spans}
            ours = {(span.start, span.stop) for span in spans(*tagger.tag(sentence.words))} if sentence.words else set()
            right += len(theirs & ours)
            both += len(theirs) + len(ours)
        found[name] = 2 * right / max(1, both)
    return found


def main() -> None:
    options = _options()
    began = time.process_time()
    for share in options.shares:
        say(f"{share:.0%} of the sentences")
        content, facts = build(options.data, options.downloads, share, options.epochs)
        said = ", ".join(f"{name} {value:.3f}" for name, value in facts.f1.items())
        say(f"  F1 of the tagger alone on the sets for tuning: {said}")
        if share == 1:
            _write(options.output, content, facts)
        elif options.curve is not None:
            _write(options.curve / f"{share:.2f}", content, facts)
    say(f"{(time.process_time() - began) / 60:.1f} minutes of processor time")


def _write(folder: Path, content: bytes, facts: Facts) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SHIPPED.name).write_bytes(content)
    write_card(folder, facts)
    say(f"  {len(content):,} bytes in {folder / SHIPPED.name}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make tagger", description=__doc__)
    parser.add_argument("data", type=Path, help="folder of judged data")
    parser.add_argument("--downloads", type=Path, default=Path("build/tagger/downloads"), help="packages with lists")
    parser.add_argument("--output", type=Path, default=SHIPPED.parent, help="where the tagger is written")
    parser.add_argument("--epochs", type=int, default=train.EPOCHS)
    parser.add_argument("--shares", type=float, nargs="+", default=[1.0], help="shares of the sentences to learn from")
    parser.add_argument("--curve", type=Path, metavar="FOLDER", help="where taggers of smaller shares are written")
    return parser.parse_args()


if __name__ == "__main__":
    main()
