"""Names, defaults and limits of how documents are cut, which help texts show without loading anything else."""

from typing import Literal, get_args

SIZE = 512  # tokens of a chunk, see `core/text/terms.token_starts`
OVERLAP = 50  # tokens that a chunk repeats of the one before
SIZE_MIN, SIZE_MAX = 16, 4_096  # a chunk of the most tokens is within the limit of a memory's content

# auto: code by its definitions, all else by its structure. ast: as auto, but refuses code without a grammar.
Strategy = Literal["auto", "recursive", "sentence", "fixed", "heading", "ast"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
