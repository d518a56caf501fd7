"""Says which tools, arguments and choices a caller sees: those that its key may use, of the groups offered to it."""

from collections.abc import Collection
from typing import Any

from muisti.core.model.values import TRUST
from muisti.service.auth.access import Access, single_space
from muisti.service.mcp.arguments import WRITING
from muisti.service.mcp.catalog import TOOLS, Tool
from muisti.service.mcp.schema import described, properties_of, required_of
from muisti.service.settings.tool_groups import Group

Json = dict[str, Any]

_ADDRESS = "category and key"  # of these the key alone is left to a caller of one category


def usable(access: Access) -> list[Tool]:
    """Return the tools that a caller may use, always in this order."""
    narrow, single = access.grant.category is not None, single_space(access.grant) is not None
    return [
        tool
        for tool in TOOLS
        if access.may(tool.needs) and not (tool.whole and narrow) and not (tool.across and single)
    ]


def offered(access: Access, groups: Collection[Group]) -> list[Tool]:
    """Return the tools of these groups that a caller may use, always in this order."""
    return [tool for tool in usable(access) if tool.group in groups]


def hidden(access: Access) -> frozenset[str]:
    """Return the names of the arguments that a caller may not use."""
    names: set[str] = set()
    if single_space(access.grant) is not None:
        names.add("space")
    if access.grant.category is not None:
        names.add("category")
    if not access.may("write"):
        names |= {"replace", "supersedes"}
    return frozenset(names)


def schema_of(tool: Tool, access: Access) -> Json:
    """Return the JSON Schema of the arguments of a tool, as a caller sees it."""
    gone = hidden(access)
    properties = {
        name: _for(access, name, described(name, schema, tool.words))
        for name, schema in properties_of(tool.arguments).items()
        if name not in gone
    }
    required = list(required_of(tool.arguments))
    if "space" in properties and not access.grant.reaches("default"):
        required.append("space")
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def _own(text: str) -> str:
    """Return a description for a caller of one category."""
    return text.replace(_ADDRESS, "key")


def _for(access: Access, name: str, schema: Json) -> Json:
    """Return the schema of an argument with the words and choices that are for this caller."""
    if access.grant.category is not None:
        schema = {name: _own(value) if name == "description" else value for name, value in schema.items()}
    own = access.grant.source_class
    if name == "source_class" and own is not None:
        return {**schema, "enum": [one for one in schema["enum"] if TRUST[one] <= TRUST[own]]}
    if name == "action":
        return {**schema, "enum": [one for one in schema["enum"] if access.may(WRITING.get(one, "read"))]}
    if name == "on_conflict" and not access.may("write"):
        told = schema["description"].partition("; supersede:")[0]
        return {**schema, "enum": [one for one in schema["enum"] if one != "supersede"], "description": told}
    return schema
