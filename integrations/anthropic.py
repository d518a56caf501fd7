"""The memory tool of Anthropic's SDK with its files in Muisti: `MuistiMemoryTool`, `AsyncMuistiMemoryTool`."""

from typing import Any

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
from anthropic.types.beta import (
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from muisti import MuistiError
from muisti.integrations.calls import Handle, Operation, need_sync, run, run_anywhere
from muisti.integrations.file_texts import FileError
from muisti.integrations.files import Files


class MuistiMemoryTool(BetaAbstractMemoryTool):
    """The memory tool for `client.beta.messages.run_tools`, with its files in a space of Muisti.

    A file is the memory at its folder and name, such as `get(category="memories/notes", key="deploy.md")`. An edit is
    a version of it, with `author`, and a renamed file keeps its history. What cannot be done is a ToolError.
    """

    def __init__(self, memory: Handle, *, author: str | None = None, **options: Any) -> None:
        super().__init__(**options)
        need_sync(memory, type(self).__name__)
        self.files = Files(memory, author)

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        return _told(self.files.view(command.path, command.view_range))

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return _told(self.files.create(command.path, command.file_text))

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        return _told(self.files.str_replace(command.path, command.old_str, command.new_str))

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        return _told(self.files.insert(command.path, command.insert_line, command.insert_text))

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return _told(self.files.delete(command.path))

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return _told(self.files.rename(command.old_path, command.new_path))

    def clear_all_memory(self) -> str:
        return _told(self.files.clear())


class AsyncMuistiMemoryTool(BetaAsyncAbstractMemoryTool):
    """The memory tool for asynchronous clients. It takes either kind of handle."""

    def __init__(self, memory: Handle, *, author: str | None = None, **options: Any) -> None:
        super().__init__(**options)
        self._memory, self.files = memory, Files(memory, author)

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        return await self._told(self.files.view(command.path, command.view_range))

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return await self._told(self.files.create(command.path, command.file_text))

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        return await self._told(self.files.str_replace(command.path, command.old_str, command.new_str))

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        return await self._told(self.files.insert(command.path, command.insert_line, command.insert_text))

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return await self._told(self.files.delete(command.path))

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return await self._told(self.files.rename(command.old_path, command.new_path))

    async def clear_all_memory(self) -> str:
        return await self._told(self.files.clear())

    async def _told(self, operation: Operation[str]) -> str:
        try:
            return await run_anywhere(self._memory, lambda: operation)
        except (FileError, MuistiError) as error:
            raise ToolError(str(error)) from error


def _told(operation: Operation[str]) -> str:
    try:
        return run(operation)
    except (FileError, MuistiError) as error:
        raise ToolError(str(error)) from error
