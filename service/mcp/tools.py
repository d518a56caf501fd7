"""Runs a tool, for the fast path and for the SDK alike."""

from collections.abc import Mapping
from typing import Any

import msgspec

from muisti.core.model.errors import MuistiError
from muisti.service.auth.access import Access
from muisti.service.mcp.arguments import read
from muisti.service.mcp.calls import Call, Outcome
from muisti.service.mcp.catalog import Tool
from muisti.service.mcp.given import given
from muisti.service.mcp.offers import hidden, usable
from muisti.service.mcp.refusals import NOT_OFFERED, not_offered, refused
from muisti.service.mcp.session import Session
from muisti.service.runtime.bulkheads import LANE, Lane, is_slow_tool
from muisti.service.schemas.errors import HttpError


def tool_of(access: Access, name: str) -> Tool | None:
    """Return a tool; None when there is none or the caller may not use it, which callers cannot distinguish."""
    return next((tool for tool in usable(access) if tool.name == name), None)


async def run(session: Session, tool: Tool, arguments: Mapping[str, Any]) -> Outcome:
    """Call a tool. A refusal is an outcome too, and raises nothing."""
    calls = session.backend.meters.tool_calls
    if tool.group not in session.groups:
        calls.add(tool.name, NOT_OFFERED)
        return not_offered(tool.name, frozenset((*session.groups, tool.group)))
    try:
        outcome = await _run(session.numbered(), tool, arguments)
    except (MuistiError, HttpError) as error:
        calls.add(tool.name, error.code)
        return refused(error, session.access)
    calls.add(tool.name, "ok")
    return outcome


async def _run(session: Session, tool: Tool, arguments: Mapping[str, Any]) -> Outcome:
    unusable = hidden(session.access)
    if gone := unusable & arguments.keys():
        raise HttpError("forbidden", f"there is no argument {', '.join(sorted(gone))} for this key; leave it out")
    raw = msgspec.json.encode(given(tool.arguments, arguments, unusable), order="deterministic")
    found = read(raw, tool.arguments)
    space = session.space(found.space, tool.needs) if tool.in_space else ""
    LANE.set(Lane(is_slow_tool(tool.name, len(raw)), space, session.access.lane_key))
    memories = session.memories(dry_run=getattr(found, "dry_run", False))
    return await tool.run(Call(session, space, memories, raw), found)
