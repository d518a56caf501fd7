"""Tells what a write did otherwise than it was asked to."""

from typing import Any

import msgspec

from core.outcomes import Flag, Written
from service.mcp.fence import one_line
from service.schemas.policy import flagged


def flags_of(written: Written) -> dict[str, Any]:
    """Return the flags for programs; nothing when all is as it was asked."""
    return {"flags": msgspec.to_builtins(flagged(written.flags))} if written.flags else {}


def told_of(written: Written) -> str:
    """Return a sentence for each flag."""
    return "".join(f" {_sentence(flag)}" for flag in written.flags)


def _sentence(flag: Flag) -> str:
    if flag.code == "echo":
        return f"It only repeats what you have just recalled: {', '.join(flag.ids)}."
    if flag.code == "trust_lowered":
        return f"It is trusted no more than what it is derived from: {', '.join(flag.ids)}."
    return f"Not stored, in {one_line(flag.path.removeprefix('$.'))}: what looks like {flag.kind}."
