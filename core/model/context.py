"""Contexts: what is asked to be put into a prompt, and what was. Frozen and without I/O, as all of `core.model`."""

from collections.abc import Mapping
from typing import Annotated, Literal, get_args

from msgspec import Meta, Struct

from muisti.core.model.hits import Evidence, Mode
from muisti.core.model.values import MemoryId, Seq, SeqText, SpaceName

OutcomeSection = Literal["decided", "tried", "failed", "rejected", "open"]  # what a handoff is about
SectionName = Literal[
    "profile", "instructions", "recent", "summaries", "about", "facts", "documents", OutcomeSection, "memories"
]
SECTION_NAMES: tuple[SectionName, ...] = get_args(SectionName)
Compress = Literal["long", "never"]  # the memories that may be shown in pieces
Reason = Literal["budget", "section", "filler"]  # why a memory is left out

TURNS_MAX = 100
TEMPLATE_MAX = 4_000  # characters


class Wanted(Struct, frozen=True, kw_only=True):
    """A section that a context is to have. `max_tokens` None: all the room that is left. `turns` is for `recent`."""

    max_tokens: int | None = None
    turns: int = 4


class Section(Struct, frozen=True, kw_only=True):
    """A section, with its tokens and the number of memories in it. `note` says why it is empty, or unsure."""

    name: SectionName
    tokens: int
    memories: int
    note: str = ""


class Citation(Struct, frozen=True, kw_only=True):
    """A memory in the text. `start` and `stop` are characters; `cut` says that parts of it are left out."""

    n: int
    id: MemoryId
    space: SpaceName
    version: int
    section: SectionName
    start: int
    stop: int
    cut: bool
    score: float | None


class LeftOut(Struct, frozen=True, kw_only=True):
    """A memory that was found and left out, with the tokens that it takes whole."""

    id: MemoryId
    space: SpaceName
    section: SectionName
    score: float
    tokens: int
    reason: Annotated[
        Reason,
        Meta(
            description="`section`: its section has a limit of its own; `budget`: the context was full; `filler`: it "
            "says little beside the best."
        ),
    ]


class SpaceRead(Struct, frozen=True, kw_only=True):
    """A space that was read: the weight of its scores, the point in its history, and whether it has evidence."""

    name: SpaceName
    weight: float
    seq: SeqText
    evidence: Evidence


class Context(Struct, frozen=True, kw_only=True):
    """A text for a prompt, its exact size, and what it rests on.

    `left_out` has the best of the `left_out_total` memories that were found and left out. With `next_budget` tokens
    the best of them would fit; None when none was left out for its size. `degraded` says in words what could not be
    done.
    `spaces` are those that were read, and `seq` is the point in the history of the space that was asked.
    """

    text: str
    tokens: int
    token_budget: int
    encoding: str
    evidence: Evidence
    strength: float
    strategy: Mode
    sections: tuple[Section, ...]
    citations: tuple[Citation, ...]
    left_out: tuple[LeftOut, ...]
    left_out_total: int
    next_budget: int | None
    degraded: tuple[str, ...]
    spaces: tuple[SpaceRead, ...]
    seq: Seq


Sections = Mapping[SectionName, Wanted]
