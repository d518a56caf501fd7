"""WordNet and other lists of words and what they mean."""

import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

from deploy.model.values import Kind, Pair

FILES = ("data.noun", "data.verb", "data.adj", "data.adv")
EXAMPLE = re.compile(r'"([^"]+)"')


@dataclass(frozen=True, slots=True)
class Synset:
    words: tuple[str, ...]
    gloss: str
    examples: tuple[str, ...]
    hypernyms: tuple[str, ...]  # keys of other synsets
    key: str
    file: str  # the number of the lexicographers' file: the broad subject


def read_wordnet(files: dict[str, bytes]) -> dict[str, Synset]:
    """The synsets of WordNet's `data.*` files by key (part of speech and offset)."""
    synsets: dict[str, Synset] = {}
    for name in FILES:
        for line in files[name].decode().splitlines():
            if not line.startswith("  "):  # indented lines are the licence at the head of the file
                synset = _synset(line)
                synsets[synset.key] = synset
    return synsets


def _synset(line: str) -> Synset:
    data, _, text = line.partition(" | ")
    fields = data.split()
    part = "a" if fields[2] == "s" else fields[2]
    size = int(fields[3], 16)
    words = tuple(re.sub(r"\([a-z]+\)$", "", word).replace("_", " ") for word in fields[4 : 4 + 2 * size : 2])
    pointers = fields[5 + 2 * size :]
    hypernyms = tuple(
        f"{pointers[at + 2]}{pointers[at + 1]}"
        for at in range(0, min(len(pointers), 4 * int(fields[4 + 2 * size])), 4)
        if pointers[at] in ("@", "@i")
    )
    gloss = EXAMPLE.sub("", text).strip().strip("; ")
    return Synset(words, gloss, tuple(EXAMPLE.findall(text)), hypernyms, f"{part}{fields[0]}", fields[1])


def wordnet_pairs(synsets: dict[str, Synset], chance: random.Random) -> Iterator[Pair]:
    for synset in synsets.values():
        words = ", ".join(synset.words)
        if synset.gloss:
            asked = f"what is {synset.words[0]}" if chance.random() < 0.2 else words
            yield Pair(Kind.LEXICON, asked, synset.gloss)
        for example in synset.examples[:2]:
            yield Pair(Kind.LEXICON, example, f"{words}: {synset.gloss}")
        if len(synset.words) > 1 and chance.random() < 0.3:
            yield Pair(Kind.LEXICON, synset.words[0], f"{', '.join(synset.words[1:])}: {synset.gloss}")
        for key in synset.hypernyms[:1]:
            above = synsets.get(key)
            if above and chance.random() < 0.3:
                yield Pair(Kind.LEXICON, synset.gloss, f"{', '.join(above.words)}: {above.gloss}")


def named_descriptions(registry: bytes, chance: random.Random) -> Iterator[Pair]:
    """Names and descriptions of bioregistry's JSON."""
    for prefix, entry in json.loads(registry).items():
        name, description = entry.get("name"), entry.get("description")
        for source in entry.values():
            if isinstance(source, dict):
                name = name or source.get("name")
                description = description or source.get("description")
        if name and description and len(description) > 40:
            yield Pair(Kind.DOCUMENTATION, f"{name} ({prefix})" if chance.random() < 0.3 else name, description[:1_500])
