"""Files of the memory tool are memories: each edit has a history, and the model sees each error."""

from typing import Any

import pytest

pytest.importorskip("anthropic.lib.tools", reason="make integrations-test")

from anthropic.lib.tools import ToolError
from anthropic.lib.tools._beta_builtin_memory_tool import BetaLocalFilesystemMemoryTool

import muisti
from muisti.integrations.anthropic import AsyncMuistiMemoryTool, MuistiMemoryTool

CALLS: list[dict[str, Any]] = [
    {"command": "view", "path": "/memories/none.txt"},
    {"command": "create", "path": "/memories/Notes/a.txt", "file_text": "one\ntwo\none\n"},
    {"command": "create", "path": "/memories/Notes/a.txt", "file_text": "again"},
    {"command": "create", "path": "/memories/empty.txt", "file_text": ""},
    {"command": "view", "path": "/memories/empty.txt"},
    {"command": "view", "path": "/memories/Notes/a.txt", "view_range": [2, -1]},
    {"command": "view", "path": "/memories/Notes/a.txt", "view_range": [2, 2]},
    {"command": "str_replace", "path": "/memories/Notes/a.txt", "old_str": "one", "new_str": "1"},
    {"command": "str_replace", "path": "/memories/Notes/a.txt", "old_str": "two", "new_str": "2"},
    {"command": "str_replace", "path": "/memories/Notes", "old_str": "two", "new_str": "2"},
    {"command": "insert", "path": "/memories/Notes/a.txt", "insert_line": 9, "insert_text": "x"},
    {"command": "insert", "path": "/memories/Notes/a.txt", "insert_line": 1, "insert_text": "x\n"},
    {"command": "insert", "path": "/memories/empty.txt", "insert_line": 0, "insert_text": "x"},
    {"command": "rename", "old_path": "/memories/Notes", "new_path": "/memories/deep/er"},
    {"command": "rename", "old_path": "/memories/none", "new_path": "/memories/other"},
    {"command": "rename", "old_path": "/memories/deep", "new_path": "/memories/empty.txt"},
    {"command": "view", "path": "/memories/deep/er/a.txt"},
    {"command": "delete", "path": "/memories/none"},
    {"command": "delete", "path": "/memories"},
    {"command": "delete", "path": "/memories/none/../empty.txt"},
    {"command": "view", "path": "/memories/../../etc/passwd"},
    {"command": "view", "path": "/etc/passwd"},
]


def told(tool: Any, call: dict[str, Any]) -> str:
    try:
        return str(tool.call(call))
    except ToolError as error:
        return f"ToolError: {error}"


def test_it_tells_what_the_sdks_own_file_tool_tells(memory: Any, tmp_path: Any):
    ours, theirs = MuistiMemoryTool(memory), BetaLocalFilesystemMemoryTool(str(tmp_path))
    for call in CALLS:
        assert told(ours, call) == told(theirs, call), call


def test_each_edit_has_a_history_and_an_undo(memory: Any):
    tool = MuistiMemoryTool(memory, author="claude")
    tool.call({"command": "create", "path": "/memories/a.txt", "file_text": "one\n"})
    tool.call({"command": "str_replace", "path": "/memories/a.txt", "old_str": "one", "new_str": "two"})
    tool.call({"command": "rename", "old_path": "/memories/a.txt", "new_path": "/memories/notes/b.txt"})
    versions = memory.history(category="memories/notes", key="b.txt")
    assert [(one.memory.key, one.memory.content) for one in versions] == [
        ("b.txt", "two\n"),
        ("a.txt", "two\n"),
        ("a.txt", "one\n"),
    ]
    assert versions[0].memory.author == "claude"
    memory.undo(last=2)
    assert tool.call({"command": "view", "path": "/memories/a.txt"}).splitlines()[1] == "     1\tone"
    tool.call({"command": "delete", "path": "/memories/a.txt"})
    memory.undo()
    assert memory.get(category="memories", key="a.txt").content == "one\n"


def test_what_the_service_refuses_is_told_and_nothing_is_lost(memory: Any):
    tool = MuistiMemoryTool(memory)
    tool.call({"command": "create", "path": "/memories/a.txt", "file_text": "kept"})
    with pytest.raises(ToolError, match="102,400"):
        tool.call({"command": "str_replace", "path": "/memories/a.txt", "old_str": "kept", "new_str": "x" * 102_401})
    with pytest.raises(ToolError, match="secret"):
        tool.call({"command": "create", "path": "/memories/b.txt", "file_text": "password = hunter2hunter2"})
    assert memory.get(category="memories", key="a.txt").content == "kept"


async def test_the_asynchronous_tool_takes_either_handle(memory: Any):
    async with muisti.open_async(":memory:") as awaited:
        for handle in (awaited, memory):
            tool = AsyncMuistiMemoryTool(handle)
            await tool.call({"command": "create", "path": "/memories/a.txt", "file_text": "one"})
            assert "one" in str(await tool.call({"command": "view", "path": "/memories/a.txt"}))
