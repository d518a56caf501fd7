"""A made-up project, Harbourline, which sells tickets for ferries between islands: 200 memories of its team."""

from collections.abc import Iterator
from importlib import resources
from typing import Any

import msgspec


def memories() -> Iterator[dict[str, Any]]:
    """Yield the memories in the form in which the API takes them."""
    for line in resources.files(__name__).joinpath("harbour.ndjson").read_bytes().splitlines():
        yield msgspec.json.decode(line)
