"""Pairs from any running text: a sentence and the text around it, a paragraph and the next."""

import random
from collections.abc import Iterator, Sequence

from deploy.model.values import Kind, Pair
from deploy.model.words import content_words, sentences

LONGEST = 1_500  # characters


def inverse_cloze(paragraphs: Sequence[str], kind: Kind, chance: random.Random) -> Iterator[Pair]:
    """One sentence of each paragraph with the paragraph that it was taken from, mostly without it.

    The inverse cloze task of Lee, Chang and Toutanova (2019): the sentence stays in for one pair in ten.
    """
    for paragraph in paragraphs:
        parts = sentences(paragraph)
        if len(parts) < 2:
            continue
        at = chance.randrange(len(parts))
        if len(content_words(parts[at])) < 3:
            continue
        rest = parts if chance.random() < 0.1 else parts[:at] + parts[at + 1 :]
        document = " ".join(rest)
        if len(document) > 60:
            yield Pair(kind, parts[at][:400], document[:LONGEST])


def neighbours(paragraphs: Sequence[str], kind: Kind, chance: random.Random) -> Iterator[Pair]:
    """Paragraphs that follow each other, one pair in three."""
    for first, second in zip(paragraphs, paragraphs[1:], strict=False):
        if len(first) > 80 and len(second) > 80 and chance.random() < 1 / 3:
            yield Pair(kind, first[:400], second[:LONGEST])
