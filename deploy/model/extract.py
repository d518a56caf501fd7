"""From packages to pairs and passages: which reader reads which package."""

import json
import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from deploy.model import packages
from deploy.model.dialogue import chatterbot, chitchat
from deploy.model.html_pairs import html_pairs
from deploy.model.lexicon import named_descriptions, read_wordnet, wordnet_pairs
from deploy.model.packages import Source
from deploy.model.preferences import preferences
from deploy.model.prose import inverse_cloze, neighbours
from deploy.model.python_pairs import python_pairs
from deploy.model.values import Kind, Pair, Passage
from deploy.model.words import is_english, one_line, sentences

PREFERENCES = 15_000
SENTENCES = 6  # of a paragraph of plain text

Files = Iterable[tuple[str, bytes]]
Found = tuple[list[Pair], list[Passage]]


def extract(source: Source, folder: Path, seed: int) -> Found:
    """The pairs and passages of one package. The same seed gives the same, whatever was read before."""
    chance = random.Random(f"{seed} {source.name}")
    return READERS[source.reads](packages.files(source, folder), chance)


def _python(files: Files, chance: random.Random) -> Found:
    return python_pairs(files, chance), []


def _wordnet(files: Files, chance: random.Random) -> Found:
    synsets = read_wordnet({Path(name).name: data for name, data in files if "/wordnet/" in name})
    return [*wordnet_pairs(synsets, chance), *preferences(synsets, PREFERENCES, chance)], []


def _bioregistry(files: Files, chance: random.Random) -> Found:
    data = next(data for name, data in files if name.endswith("data/bioregistry.json"))
    return list(named_descriptions(data, chance)), []


def _chitchat(files: Files, chance: random.Random) -> Found:
    return chitchat(next(data for name, data in files if name.endswith("dataset.json")), chance)


def _chatterbot(files: Files, chance: random.Random) -> Found:
    return list(chatterbot(list(files))), []


def _plain(files: Files, chance: random.Random) -> Found:
    """Speeches and a novel: text files, or JSON lists of paragraphs. Long paragraphs are cut."""
    pairs: list[Pair] = []
    passages: list[Passage] = []
    for name, data in files:
        if "/data/" not in name or not name.endswith((".txt", ".json")) or name.endswith("data.json"):
            continue
        texts = _paragraphs(name, data.decode(errors="replace"))
        paragraphs = [part for text in texts for part in _cut(sentences(text))]
        paragraphs = [text for text in paragraphs if len(text) > 60 and is_english(text)]
        pairs += inverse_cloze(paragraphs, Kind.DOCUMENTATION, chance)
        pairs += neighbours(paragraphs, Kind.DOCUMENTATION, chance)
        passages += [Passage(tuple(parts[:8])) for parts in map(sentences, paragraphs) if len(parts) >= 2]
    return pairs, passages


def _cut(parts: list[str]) -> Iterator[str]:
    for at in range(0, len(parts), SENTENCES):
        yield " ".join(parts[at : at + SENTENCES])


def _paragraphs(name: str, text: str) -> list[str]:
    if name.endswith(".json"):
        value = json.loads(text)
        text = "\n\n".join(map(str, value)) if isinstance(value, list) else str(value)
    return text.split("\n\n") if "\n\n" in text else text.split("\n")


def _factbook(files: Files, chance: random.Random) -> Found:
    """Read countries: each heading, with or without the country's name, and the text below it."""
    pairs: list[Pair] = []
    passages: list[Passage] = []
    for name, data in files:
        if not name.endswith(".json") or name.endswith("package.json"):
            continue
        page = json.loads(data)
        country = _text(page.get("Government", {}).get("Country name", {}).get("conventional short form", {}))
        for headings, text in _leaves(page):
            text = one_line(text.replace("++", " "))
            if len(text) < 80 or not is_english(text):
                continue
            asked = f"{country} {headings[-1]}" if chance.random() < 0.7 else " ".join(headings)
            pairs.append(Pair(Kind.DOCUMENTATION, asked.strip().lower(), text[:1_500]))
            pairs += inverse_cloze([text], Kind.DOCUMENTATION, chance)
            parts = sentences(text)
            if len(parts) >= 2:
                passages.append(Passage(tuple(parts[:8])))
    return pairs, passages


def _leaves(value: object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, str) and path:
                yield path, inner
            else:
                yield from _leaves(inner, (*path, key))


def _text(value: object) -> str:
    return str(value.get("text", "")) if isinstance(value, dict) else ""


def _caniuse(files: Files, chance: random.Random) -> Found:
    pairs: list[Pair] = []
    for name, data in files:
        if "/features-json/" in name:
            feature = json.loads(data)
            pairs.append(
                Pair(Kind.DOCUMENTATION, feature["title"], f"{feature['description']} {feature['notes']}"[:1_500])
            )
    return [pair for pair in pairs if len(pair.document) > 40], []


READERS: dict[str, Callable[[Files, random.Random], Found]] = {
    "python": _python,
    "html": html_pairs,
    "wordnet": _wordnet,
    "bioregistry": _bioregistry,
    "chitchat": _chitchat,
    "chatterbot": _chatterbot,
    "plain": _plain,
    "factbook": _factbook,
    "caniuse": _caniuse,
}
