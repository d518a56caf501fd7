"""Describe an existing memory to the caller whose new memory resembles it."""

from muisti.core.model.outcomes import Difference, Likeness, LikenessKind
from muisti.core.model.values import Memory

SHOWN = 300  # characters of a content


def likeness(
    memory: Memory, kind: LikenessKind, similarity: float | None = None, differs: tuple[Difference, ...] = ()
) -> Likeness:
    """Return the description. `similarity` is the cosine of both texts, or None when they were not compared."""
    content = memory.content
    return Likeness(
        id=memory.id,
        kind=kind,
        similarity=similarity,
        differs=differs,
        content=content if len(content) <= SHOWN else f"{content[: SHOWN - 1]}…",
        category=memory.category,
        key=memory.key,
    )
