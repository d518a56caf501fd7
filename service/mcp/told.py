"""Describes a tool to clients, in the types of the SDK."""

import mcp_types as types

from muisti.service.auth.access import Access
from muisti.service.mcp.catalog import Tool
from muisti.service.mcp.offers import schema_of


def told(tool: Tool, access: Access) -> types.Tool:
    """Return the tool as this caller sees it."""
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=schema_of(tool, access),
        annotations=_annotations(tool),
    )


def _annotations(tool: Tool) -> types.ToolAnnotations | None:
    """Return the hints that differ from MCP's defaults, None where none does.

    The defaults are: writes, is destructive, is not idempotent. Of a tool that only reads, the other two say nothing.
    """
    if tool.read_only:
        return types.ToolAnnotations(read_only_hint=True)
    if tool.destructive and not tool.idempotent:
        return None
    return types.ToolAnnotations(
        destructive_hint=None if tool.destructive else False,
        idempotent_hint=True if tool.idempotent else None,
    )
