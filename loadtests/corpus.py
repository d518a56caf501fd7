"""Up to a million distinct texts, and real questions, from a folder of judged sets.

`python -m loadtests.corpus DATA OUT` writes them.

A memory is a window of 8 to 60 words of one document. The first pass cuts each document into windows that do not
overlap and that end with a sentence where possible. Further passes begin at other words and cut anywhere, so windows
overlap when few documents must give many texts. The same folder gives the same texts: the generator is seeded, and a
smaller corpus is the beginning of a larger one.
"""

import argparse
import json
import random
import sys
from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest
from pathlib import Path

SEED = 2026
SHORTEST, LONGEST = 8, 60  # words of a memory
LONGEST_WORD = 12  # mean characters: a longer mean is a script without spaces
QUESTION_WORDS = range(3, 41)
FIELDS = ("text", "a", "b")  # of a line that is not a query
MOST = 1_000_000
PASSES = 200


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m loadtests.corpus", description=__doc__)
    parser.add_argument("data", type=Path, help="folder of folders with *.jsonl and queries.jsonl")
    parser.add_argument("out", type=Path, help="folder for texts.txt (one memory a line) and questions.txt")
    parser.add_argument("--most", type=int, default=MOST, help="texts wanted (default a million)")
    options = parser.parse_args()
    texts, asked = build(options.data, options.out, options.most)
    print(f"{len(texts):,} texts, {len(asked):,} questions in {options.out}", file=sys.stderr)  # noqa: T201
    return 0 if len(texts) == options.most else 1


def build(data: Path, out: Path, most: int = MOST) -> tuple[list[str], list[str]]:
    """Write texts.txt and questions.txt, and give their lines. Fewer than `most` when the folder has no more."""
    texts, asked = memories(list(documents(data)), most), questions(data)
    out.mkdir(parents=True, exist_ok=True)
    for name, lines in (("texts.txt", texts), ("questions.txt", asked)):
        (out / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return texts, asked


def documents(data: Path) -> Iterator[list[str]]:
    """The words of every text under the folder, but for queries and texts in a script without spaces."""
    files = [path for path in sorted(data.glob("**/*.jsonl")) if path.name != "queries.jsonl"]
    if not files:
        raise FileNotFoundError(f"{data} holds no *.jsonl files of texts")
    for line in chain.from_iterable(path.read_text("utf-8").split("\n") for path in files):
        fields = json.loads(line) if line.strip() else {}
        for name in FIELDS:
            words = str(fields.get(name) or "").split()
            if len(words) >= SHORTEST and sum(map(len, words)) <= LONGEST_WORD * len(words):
                yield words


def memories(words_of: Sequence[list[str]], most: int) -> list[str]:
    """At most `most` distinct windows of the documents, in random order."""
    rng = random.Random(SEED)
    found: dict[str, None] = {}
    for number in range(PASSES):
        before = len(found)
        for words in words_of:
            for window in windows(words, rng, begin=rng.randrange(LONGEST) if number else 0, whole=not number):
                found[" ".join(window)] = None
        if len(found) >= MOST or len(found) == before:
            break
    texts = list(found)[:MOST]
    rng.shuffle(texts)
    return texts[:most]


def windows(words: Sequence[str], rng: random.Random, begin: int, whole: bool) -> Iterator[Sequence[str]]:
    """Windows side by side from the word `begin` on; `whole` ones end at their last end of a sentence.

    >>> words = "One two three four five six seven eight nine. Ten".split()
    >>> [len(window) for window in windows(words, random.Random(1), begin=0, whole=True)]
    [9]
    """
    while len(words) - begin >= SHORTEST:
        end = min(begin + rng.randint(SHORTEST, LONGEST), len(words))
        if whole:
            ends = (at for at in range(end, begin + SHORTEST - 1, -1) if words[at - 1][-1] in ".!?")
            end = next(ends, end)
        yield words[begin:end]
        begin = end


def questions(data: Path) -> list[str]:
    """The distinct questions of all sets, one of each set in turn, so that any beginning has something of each."""
    rng = random.Random(SEED)
    sets: list[list[str]] = []
    for path in sorted(data.glob("**/queries.jsonl")):
        lines = path.read_text("utf-8").splitlines()
        asked = list(dict.fromkeys(" ".join(json.loads(line)["text"].split()) for line in lines))
        asked = [text for text in asked if len(text.split()) in QUESTION_WORDS and text.isascii()]
        rng.shuffle(asked)
        sets.append(asked)
    turns = chain.from_iterable(zip_longest(*sets))
    return list(dict.fromkeys(text for text in turns if text is not None))


if __name__ == "__main__":
    sys.exit(main())
