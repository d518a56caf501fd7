"""Reports where a write differs from what the caller asked for."""

from typing import Any

import msgspec

from muisti.core.discourse.type_suggestions import suggested
from muisti.core.model.outcomes import Flag, Written
from muisti.service.mcp.fence import one_line
from muisti.service.schemas.policy import flagged


def flags_of(written: Written) -> dict[str, Any]:
    """Return the flags as JSON, and what searches cannot do yet; an empty object when there is neither."""
    flags = {"flags": msgspec.to_builtins(flagged(written.flags))} if written.flags else {}
    return {**flags, "degraded": list(written.degraded)} if written.degraded else flags


def suggestions_of(written: Written) -> tuple[dict[str, Any], str]:
    """Return the suggestions about what was stored, as JSON and in a sentence; both empty when there is none."""
    found = [*suggested(written.memories)]
    if not found:
        return {}, ""
    ids = ", ".join(one.id for one in found)
    told = f" Reads like a standing instruction, for which there is the type guard: {ids}."
    return {"suggestions": msgspec.to_builtins(found)}, told


def told_of(written: Written) -> str:
    """Return a sentence for each flag, and for what searches cannot do yet."""
    told = [*map(sentence, written.flags), *(f"{each[0].upper()}{each[1:]}." for each in written.degraded)]
    return "".join(f" {each}" for each in told)


def sentence(flag: Flag) -> str:
    where = one_line(flag.path.removeprefix("$."))
    match flag.code:
        case "echo":
            return f"It only repeats what you have just recalled: {', '.join(flag.ids)}."
        case "trust_lowered":
            return f"It is trusted no more than what it is derived from: {', '.join(flag.ids)}."
        case "suspected":
            return f"Stored, but {where} may hold a secret: {flag.kind}."
        case "redacted":
            return f"Not stored, in {where}: what looks like {flag.kind}."
