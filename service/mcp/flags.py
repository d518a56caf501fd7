"""Reports where a write differs from what the caller asked for."""

from typing import Any

import msgspec

from muisti.core.model.outcomes import Flag, Written
from muisti.service.mcp.fence import one_line
from muisti.service.schemas.policy import flagged


def flags_of(written: Written) -> dict[str, Any]:
    """Return the flags as JSON; an empty object when the write did exactly what was asked."""
    return {"flags": msgspec.to_builtins(flagged(written.flags))} if written.flags else {}


def told_of(written: Written) -> str:
    """Return a sentence for each flag."""
    return "".join(f" {sentence(flag)}" for flag in written.flags)


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
