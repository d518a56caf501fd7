"""Options of chunking, and their limits."""

from msgspec import Struct

from muisti.core.model.errors import InvalidInput, Problem
from muisti.core.parsing.chunking.defaults import OVERLAP, SIZE, SIZE_MAX, SIZE_MIN, STRATEGIES, Strategy


class Chunking(Struct, frozen=True, kw_only=True):
    """Options of chunking: the strategy, and the most tokens of a chunk and of its overlap with the one before.

    Strategies: `recursive` cuts at headings, else paragraphs, sentences, words. `sentence` treats all sentences alike.
    `heading` also begins a chunk at every heading. `fixed` counts tokens only. `ast` cuts code between definitions.
    `auto` is `ast` for code whose grammar is installed, and `recursive` for everything else.
    """

    strategy: Strategy = "auto"
    size: int = SIZE
    overlap: int = OVERLAP


def check(options: Chunking, path: str = "$") -> None:
    """Raise `InvalidInput` with every problem of the options. `path` locates them in the request."""
    problems: list[Problem] = []
    if options.strategy not in STRATEGIES:
        problems.append(Problem(f"{path}.strategy", f"is {options.strategy!r}, not one of {', '.join(STRATEGIES)}"))
    if not SIZE_MIN <= options.size <= SIZE_MAX:
        problems.append(Problem(f"{path}.size", f"is {options.size:,}, not {SIZE_MIN} to {SIZE_MAX:,} tokens"))
    if not 0 <= options.overlap < options.size / 2:
        problems.append(Problem(f"{path}.overlap", f"is {options.overlap:,}, not 0 to less than half of {path}.size"))
    if problems:
        raise InvalidInput(problems)
