"""Describes a tool to clients, in the types of the SDK."""

import mcp_types as types

from muisti.service.auth.access import Access
from muisti.service.mcp.catalog import Tool, schema_of


def told(tool: Tool, access: Access) -> types.Tool:
    """Return the tool as this caller sees it."""
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=schema_of(tool, access),
        annotations=types.ToolAnnotations(
            read_only_hint=tool.read_only,
            # Of a tool that only reads, the other hints say nothing.
            destructive_hint=None if tool.read_only else tool.destructive,
            idempotent_hint=None if tool.read_only else tool.idempotent,
        ),
    )
