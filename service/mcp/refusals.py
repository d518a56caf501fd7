"""What is refused, as a tool says it: the stable code, what is wrong, and what to do next."""

from collections.abc import Mapping
from typing import Any

import msgspec

from core.errors import MuistiError
from service.errors import HttpError, problem_of
from service.mcp.calls import Outcome

NEXT: Mapping[str, str] = {
    "duplicate": "Nothing was stored. Use the memory that is there, or update_memory; on_conflict=keep stores both.",
    "contradiction": "Nothing was stored. If the new one is right, update_memory the old one; on_conflict=keep: both.",
    "echo": "Nothing was stored: you have just recalled it. If it has changed, update_memory that one.",
    "address_taken": "Nothing was stored. Send replace=true to replace it, or choose another key.",
    "not_found": "It was deleted or never was; recall or list_memories shows what there is.",
    "stale_version": "Read it again with get_memory, then repeat the change with the new version.",
    "idempotency_key_reused": "Use a new idempotency_key for a new request.",
    "forbidden": "The key does not allow it; ask whoever runs the server.",
    "invalid_input": "Correct the arguments named in errors and call again.",
    "point_ahead": "as_of lies in the future; leave it out for what is known now.",
    "past_retention": "That is too long ago; choose a later as_of.",
    "epoch_gone": "The space was made anew since; give as_of as a time.",
    "sensitive_content": "Nothing was stored. Say it without the secret or the personal data, and call again.",
    "malformed_json": "Correct the arguments and call again.",
    "busy": "Call again in a second, with the same arguments.",
    "store_unavailable": "Call again in a second, with the same arguments.",
    "store_full": "Nothing was stored; whoever runs the server must make room.",
    "quota_exceeded": "Nothing was stored. Forget what is no longer needed, or ask whoever runs the server for more.",
    "issuer_unavailable": "Call again in a minute; the server cannot check tokens now.",
    "model_mismatch": "Whoever runs the server must run `muisti reembed`.",
}


def refused(error: MuistiError | HttpError) -> Outcome:
    problem = problem_of(error)
    advice = NEXT.get(problem.code, "")
    structured: dict[str, Any] = {"code": problem.code, "detail": problem.detail, "next": advice}
    if problem.errors:
        structured["errors"] = msgspec.to_builtins(problem.errors)
    if problem.conflicts is not msgspec.UNSET:
        structured["conflicts"] = msgspec.to_builtins(problem.conflicts)
    return Outcome(structured, f"{problem.code}: {problem.detail}. {advice}".strip(), is_error=True)
