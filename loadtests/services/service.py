"""Interface of a memory service, for the HTTP stage."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from loadtests.http_load import Request

Direction = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Running:
    """A started service: how to ask it and write to it. `writes` has a way to write by name."""

    port: int
    pid: int
    search: Callable[[str, Direction], Request]
    filtered: Callable[[str, Direction], Request] | None  # with a filter that lets 10 % through
    writes: Mapping[str, Callable[[int, str, Direction], Request]]


@dataclass(frozen=True, slots=True)
class Service:
    """A service that can be started on a copy of its data. `searches` and `writes` are what it can do in a second
    or two at 100,000 memories, so that a slow one is asked less."""

    name: str
    start: Callable[[Path], AbstractContextManager[Running]]
    data: Path
    loading: float  # seconds
    searches: int
    writes: int
