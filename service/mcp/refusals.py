"""Reports refusals in the words of the tools: the stable code, what is wrong, and what to do next.

The messages of the core are written for HTTP and name routes and headers. Here they name tools and arguments. The
advice names only actions that the caller's key allows.
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from muisti.core.model.collisions import AddressTaken, Contradiction, Duplicate, Echo, Similar
from muisti.core.model.errors import (
    InvalidInput,
    MuistiError,
    NotFound,
    NotUndone,
    QuotaExceeded,
    RequestReused,
    Stale,
    TooLarge,
)
from muisti.core.model.outcomes import Instead
from muisti.service.auth.access import Access, single_space
from muisti.service.schemas.errors import HttpError, problem_of
from muisti.service.schemas.likeness import LikenessReply
from muisti.service.settings.tool_groups import Group, in_order
from muisti.service.tools.rendering import differences, one_line, quoted
from muisti.service.tools.session import Outcome

Json = dict[str, Any]

NOT_OFFERED = "not_offered"  # code of a tool whose group the client is not offered
QUOTED = 3  # memories in conflict with a new one that the text shows

# Paths of HTTP bodies whose arguments have other names here.
_NAMES: Mapping[str, str] = {
    "$": "$.arguments",
    "$.recency.weight": "$.recency_weight",
    "$.recency.half_life_days": "$.half_life_days",
}
_AGAIN = "Call again in a second, with the same arguments."
ADVICE: Mapping[str, str] = {
    "changed_since": "Undo the later changes first, or bring back single memories by their id.",
    "stale_version": "Read it again with get_memory, then repeat the change with the new version.",
    "idempotency_key_reused": "Use a new idempotency_key for a new request.",
    "forbidden": "The key does not allow it; ask whoever runs the server.",
    "invalid_input": "Correct the arguments named in errors and call again.",
    "point_ahead": "as_of lies in the future; leave it out for what is known now.",
    "past_retention": "That is too long ago; choose a later as_of.",
    "epoch_gone": "The space was made again since; give as_of as a time.",
    "sensitive_content": "Nothing was stored. Say it without the secret or the personal data, and call again.",
    "malformed_json": "Correct the arguments and call again.",
    "busy": _AGAIN,
    "store_unavailable": _AGAIN,
    "not_yet_replicated": _AGAIN,
    "store_full": "Nothing was stored; whoever runs the server must make room.",
    "too_large": "Nothing was stored. Send less at a time.",
    "issuer_unavailable": "Call again in a minute; the server cannot check tokens now.",
    "model_mismatch": "Whoever runs the server must run `muisti reembed`.",
}
_CHANGE = "change it with update_memory"


def refused(error: MuistiError | HttpError, access: Access) -> Outcome:
    """Return the outcome of a call that is refused."""
    problem = problem_of(error)
    detail = said(error)
    advice = _advice(error, access)
    structured: Json = {"code": problem.code, "detail": detail, "next": advice}
    if problem.errors:
        structured["errors"] = [{"path": _path(one.path), "message": one.message} for one in problem.errors]
    against = [] if problem.conflicts is msgspec.UNSET else problem.conflicts
    if problem.conflicts is not msgspec.UNSET:
        structured["conflicts"] = msgspec.to_builtins(against)
    text = f"{problem.code}: {detail}. {advice}".strip()
    return Outcome(structured, "\n\n".join([text, *map(_quoted, against[:QUOTED])]), is_error=True)


def not_offered(name: str, groups: frozenset[Group]) -> Outcome:
    """Return the outcome of a call of a tool that is not offered. `groups`: those to ask for, to have it too."""
    wanted = in_order(groups)
    detail = f"{name} is a tool of a group that this connection is not offered"
    advice = (
        f"To have it, connect to /mcp?tools={wanted} or start `muisti mcp --tools {wanted}`; "
        f"MUISTI_MCP_TOOLS={wanted} offers it to every client."
    )
    structured: Json = {"code": NOT_OFFERED, "detail": detail, "next": advice}
    return Outcome(structured, f"{NOT_OFFERED}: {detail}. {advice}", is_error=True)


def said(error: MuistiError | HttpError) -> str:
    """Return what is wrong, on one line, without advice."""
    return one_line(_said(error))


def _said(error: MuistiError | HttpError) -> str:
    match error:
        case Similar():
            return _like(error)
        case AddressTaken():
            whose = f"belong to memory {', '.join(one.id for one in error.found)}" if error.found else "are taken"
            return f"category {error.category!r} and key {error.key!r} {whose}"
        case Echo():
            return f"it only repeats what you have just recalled: {', '.join(error.ids[:QUOTED])}"
        case RequestReused():
            return "this idempotency_key was used with other arguments"
        case QuotaExceeded() | Stale():
            return str(error).partition(";")[0]
        case TooLarge():
            return re.split("; nothing was stored|: send", str(error))[0]
        case InvalidInput():
            return "; ".join(f"{_path(one.path).removeprefix('$.')}: {one.message}" for one in error.problems)
        case HttpError():
            return error.detail
        case _:
            return str(error)


def _path(path: str) -> str:
    """Return the path of an argument by the name that it has here."""
    return "$.ndjson" if path.startswith("$.lines[") else _NAMES.get(path, path)


def _like(error: Similar) -> str:
    if not error.found:
        return f"the new memory {error.says} a stored one"
    found = error.found[0]
    return ". ".join([f"the new memory {error.says} {found.id}", *differences(found.differs)])


def _quoted(one: LikenessReply) -> str:
    """Return a stored memory that is in conflict with a new one, as text."""
    kept = {"id": one.id, "category": one.category, "key": one.key, "content": one.content}
    return quoted({name: value for name, value in kept.items() if value is not None})


def _advice(error: MuistiError | HttpError, access: Access) -> str:
    """Return what the caller may do next."""
    match error:
        case Duplicate():
            other = f", or {_CHANGE}" if access.may("write") else ""
            return f"Nothing was stored. Use the stored memory{other}; on_conflict 'keep' stores both."
        case Contradiction():
            if access.may("write"):
                return f"Nothing was stored. If yours is right, {_CHANGE}; on_conflict 'supersede' or 'keep' stores it."
            return "Nothing was stored. on_conflict 'review' stores yours too, and a person decides."
        case Echo():
            other = f" If it has changed, {_CHANGE}." if access.may("write") else ""
            return f"Nothing was stored: it is known already.{other}"
        case AddressTaken():
            other = "Call again with replace to overwrite that one, or choose" if access.may("write") else "Choose"
            return f"Nothing was stored. {other} another key."
        case QuotaExceeded():
            other = "Forget what is no longer needed, or ask" if access.may("delete") else "Ask"
            return f"Nothing was stored. {other} whoever runs the server for more."
        case NotFound():
            return _missing(error.kind, access)
        case NotUndone():
            return _way_on(error.instead)
        case _:
            return ADVICE.get(error.code, "")


def _way_on(instead: Instead) -> str:
    if instead.task is not None:
        return "Call undo again when the task has ended."
    if instead.import_id is not None:
        return f"Whoever runs the server can take back import {instead.import_id}: `muisti import --undo`."
    return "" if instead.last is None else f"undo with last={instead.last} takes back your call before it."


def _missing(kind: str, access: Access) -> str:
    if kind == "space":
        if single_space(access.grant) is not None or not access.may("read"):
            return "Ask whoever runs the server for a space that is there."
        return "list_spaces names those that are there; leave space out for the usual one."
    if kind == "version":
        return "memory_history names the versions that are there."
    if not access.may("read"):
        return "It was deleted or never was."
    return "It was deleted or never was; recall or list_memories shows what there is."
