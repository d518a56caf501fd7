"""The factors of a hit's score, as `muisti search --explain` shows them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from muisti.service.cli.output import cell, fields

if TYPE_CHECKING:
    from rich.console import RenderableType

# Factors of the score by group, in the order in which they are computed.
FACTORS = {
    "words": ("lexical", "bm25", "terms"),
    "meaning": ("cosine", "second"),
    "together": ("fusion", "alpha", "fused", "blend"),
    "signals": ("signals", "composite"),
    "multiplied by": ("time", "recency", "decay", "importance", "trust", "feedback", "space_weight"),
    "age in days": ("age_days", "refreshed_days"),
    "novelty": ("novelty",),
    "definition": ("symbol",),
    "in words": ("sentence",),
}


def factors(explain: Mapping[str, Any]) -> Iterator[str]:
    for name, value in explain.items():
        if isinstance(value, float | int | str):
            yield f"{name}={value:.4f}" if isinstance(value, float) else f"{name}={value}"
        elif isinstance(value, Mapping):
            yield from factors({f"{name}.{part}": one for part, one in value.items()})


def explained(explain: Mapping[str, Any]) -> "RenderableType":
    """Return the factors of a score, a line for each group."""
    factors = dict(explain)
    groups = {
        title: [(name, factors.pop(name)) for name in names if name in factors] for title, names in FACTORS.items()
    }
    groups["other"] = [*factors.items()]
    rows = [(cell(title, "dim"), cell("  ".join(_valued(found)), "dim")) for title, found in groups.items()]
    return fields([(title, found) for title, found in rows if found.plain])


def _valued(found: Sequence[tuple[str, Any]]) -> Iterator[str]:
    """Format names with their values; a value of None is left out."""
    for name, value in found:
        if isinstance(value, Mapping):
            yield from _valued([(str(part), one) for part, one in value.items()])
        elif value is not None:
            yield f"{name.replace('_', ' ')} {value:.3g}" if isinstance(value, float) else f"{name} {value}"
