"""A client that knows MCP's defaults reads from the hints of a tool what the tool does."""

from typing import Any

import pytest

from muisti.core.identity.grants import Grant
from muisti.service.auth.access import Access
from muisti.service.mcp.manager import told
from muisti.service.mcp.tools import TOOLS
from muisti.service.routes.keys import MODES
from muisti.service.tools.catalog import Tool


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_with_the_defaults_of_mcp_the_hints_say_what_the_tool_does(tool: Tool):
    access = Access("x", Grant(frozenset(MODES["full"]), ("*",)))  # pyright: ignore[reportArgumentType]
    shown: dict[str, Any] = told(tool, access).model_dump(by_alias=True, exclude_none=True)
    given = shown.get("annotations", {})
    read = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, **given}
    assert read["readOnlyHint"] == tool.read_only
    if not tool.read_only:
        assert (read["destructiveHint"], read["idempotentHint"]) == (
            "destructive" in tool.traits,
            "idempotent" in tool.traits,
        )
