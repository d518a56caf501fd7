"""A tool as a client is told of it, in the types of the SDK."""

from typing import Any

import mcp_types as types

from service.access import Access
from service.mcp.catalog import TEXT, Tool, hidden

Json = dict[str, Any]


def told(tool: Tool, access: Access) -> types.Tool:
    """The tool as this caller sees it."""
    gone = hidden(access)
    properties = {name: schema for name, schema in tool.properties.items() if name not in gone}
    required = list(tool.required)
    if "space" not in gone:
        properties["space"] = TEXT
        if not access.grant.reaches("default"):
            required.append("space")
    schema: Json = {"type": "object", "properties": properties}
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema={**schema, **({"required": required} if required else {})},
        output_schema={"type": "object", "properties": tool.output},
        annotations=types.ToolAnnotations(
            read_only_hint=tool.read_only,
            # Of a tool that only reads, the other hints say nothing.
            destructive_hint=None if tool.read_only else tool.destructive,
            idempotent_hint=None if tool.read_only else tool.idempotent,
        ),
    )
