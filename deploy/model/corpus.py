"""All pairs of all sources, decontaminated. Each source is kept on disk, so that an interrupted build resumes."""

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from deploy.model import packages
from deploy.model.decontaminate import Contamination
from deploy.model.extract import extract
from deploy.model.packages import Source
from deploy.model.progress import say
from deploy.model.questions import questions
from deploy.model.values import Kind, Pair, Passage

_shelf: "Shelf"


@dataclass(frozen=True, slots=True)
class Reading:
    """Counts of the pairs read from one source, for the model's card."""

    source: Source
    licence: str
    pairs: int
    dropped: int  # shared a run of words with evaluation data


@dataclass(frozen=True, slots=True)
class Shelf:
    """Where sources are read from and their pairs rest."""

    downloads: Path
    cache: Path
    contamination: Contamination | None
    seed: int


def read_all(sources: list[Source], shelf: Shelf, processes: int) -> list[Reading]:
    """Extract each source into the cache, unless it is there. Raises `LicenceRefused`."""
    shelf.cache.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(processes, get_context("fork"), _take_shelf, (shelf,)) as pool:
        return list(pool.map(_read, sources))


def load_pairs(source: Source, cache: Path, seed: int) -> list[Pair]:
    """The pairs of one source, each once, in a random order, with questions made from its passages."""
    pairs: dict[Pair, None] = {}
    passages: list[Passage] = []
    for record in _lines(_file(cache, source)):
        if "sentences" in record:
            passages.append(Passage(tuple(record["sentences"]), tuple(record["speakers"])))
        elif "kind" in record:
            pairs[Pair(Kind(record["kind"]), record["query"], record["document"])] = None
    chance = random.Random(f"{seed} {source.name}")
    talk = bool(passages and passages[0].speakers)
    pairs.update(dict.fromkeys(questions(passages, (4 if talk else 1) * len(passages), chance)))
    shuffled = list(pairs)
    chance.shuffle(shuffled)
    return shuffled


def _take_shelf(shelf: Shelf) -> None:
    """Once for each process, since the runs of words are many megabytes."""
    global _shelf
    _shelf = shelf


def _read(source: Source) -> Reading:
    contamination = _shelf.contamination
    licence = packages.licence_of(source, _shelf.downloads)
    file = _file(_shelf.cache, source)
    if not file.exists():
        found, passages = extract(source, _shelf.downloads, _shelf.seed)
        pairs = contamination.clean(found) if contamination else found
        if contamination:
            passages = [passage for passage in passages if not contamination.touches(" ".join(passage.sentences))]
        _write(file, _records(pairs, passages, len(found) - len(pairs)))
        say(f"  {source.name} {source.version}: {len(pairs)} pairs, {len(passages)} passages")
    counts = Counter(
        "dropped" if "dropped" in record else "pair" for record in _lines(file) if "sentences" not in record
    )
    dropped = next(_lines(file))["dropped"]
    return Reading(source, licence, counts["pair"], dropped)


def _records(pairs: list[Pair], passages: list[Passage], dropped: int) -> Iterator[dict[str, Any]]:
    yield {"dropped": dropped}
    for pair in pairs:
        yield {"kind": pair.kind, "query": pair.query, "document": pair.document}
    for passage in passages:
        yield {"sentences": passage.sentences, "speakers": passage.speakers}


def _file(cache: Path, source: Source) -> Path:
    return cache / f"{source.name.replace('/', '-')}.jsonl"


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    with file.open() as lines:
        yield from map(json.loads, lines)


def _write(file: Path, records: Iterable[dict[str, Any]]) -> None:
    """Write a file atomically, so that an interrupted build never leaves half a file."""
    part = file.with_suffix(".part")
    with part.open("w") as lines:
        lines.writelines(json.dumps(record) + "\n" for record in records)
    part.rename(file)
