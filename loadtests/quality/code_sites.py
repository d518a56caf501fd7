"""Places of calls in source code, and what an independent reader says of them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from muisti.core.code.records import Record

Target = tuple[str, str]  # a path and a qualified name


class Site(NamedTuple):
    """The place of the name that a call uses; `column` counts bytes from 0. The name takes no part in comparisons."""

    path: str
    line: int
    column: int

    @property
    def name(self) -> str:
        return NAMES.get(self, "")


NAMES: dict[Site, str] = {}  # of the sites, as they were read
Sites = Mapping[Site, set[Target] | None]


class Oracle(NamedTuple):
    """An oracle: the languages it reads, and its targets of each site; empty for one outside, None for not known."""

    languages: tuple[str, ...]
    targets: Callable[[Path, list[Record], Path | None], Sites]
