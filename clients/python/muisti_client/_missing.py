"""Answers about a space that does not exist yet: its first memory creates it, so that nothing is known is no error."""

from collections.abc import Mapping
from typing import Any

from . import results
from ._errors import NotFound

BUDGET = 2_000  # tokens of a context by default
ENCODING = "o200k_base"


def is_missing(error: NotFound) -> bool:
    """Tell whether the space of a request is missing, or hidden from the key, and not something in it."""
    return error.code == "not_found" and error.detail.startswith("no space ")


def nothing_found(error: NotFound) -> results.Found:
    """Return the answer of a search in a missing space, which names it in `degraded`."""
    return results.Found(
        hits=[],
        total=0,
        evidence="none",
        strength=0.0,
        thresholds=None,
        strategy="none",
        degraded=[_said(error)],
        seq="0",
        applies=None,
        left_out=0,
    )


def empty_context(error: NotFound, asked: Mapping[str, Any]) -> results.Context:
    """Return the context of a missing space, which names it in `degraded`."""
    return results.Context(
        text="",
        tokens=0,
        token_budget=asked.get("token_budget", BUDGET),
        encoding=asked.get("encoding", ENCODING),
        evidence="none",
        strength=0.0,
        strategy="none",
        sections=[],
        citations=[],
        left_out=[],
        left_out_total=0,
        next_budget=None,
        degraded=[_said(error)],
        spaces=[],
        seq="0",
    )


def _said(error: NotFound) -> str:
    return f"there is {error.detail} yet; its first memory creates it"
