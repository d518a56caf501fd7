"""Puts `MuistiMemoryTool` in the place of the file tools that the suite of Anthropic's SDK tests.

That suite reads and writes a folder. So before each call the files of the folder become memories, and afterwards the
memories become files there.
"""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from anthropic.lib.tools import _beta_builtin_memory_tool as tested
from anthropic.types.beta import BetaMemoryTool20250818CreateCommand as Create
from anyio import Path as AsyncPath
from spaces import empty_space

from muisti.integrations.anthropic import AsyncMuistiMemoryTool, MuistiMemoryTool
from muisti.integrations.calls import run
from muisti.integrations.entries import listed, names, unpack_text

COMMANDS = ("view", "create", "str_replace", "insert", "delete", "rename")


class Folder:
    """The files of a space in a folder, and back."""

    def __init__(self, base_path: str) -> None:
        self.base_path = Path(base_path)
        self.memory_root = self.base_path / "memories"
        self.memory_root.mkdir(parents=True, exist_ok=True)
        self.space = empty_space()
        self.tool = MuistiMemoryTool(self.space)

    def read(self) -> None:
        for path in sorted(self.memory_root.rglob("*")):
            if path.is_file() and path.read_bytes() != self._written().get(path):
                command = Create(
                    command="create", path=f"/{path.relative_to(self.base_path)}", file_text=path.read_bytes().decode()
                )
                self.tool.create(command)

    def write(self) -> None:
        shutil.rmtree(self.memory_root)
        self.memory_root.mkdir()
        for path, content in self._written().items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def _written(self) -> dict[Path, bytes]:
        return {
            self.base_path.joinpath(*names(one.category), one.key): unpack_text(one).encode()
            for one in run(listed(self.space))
        }


class StandIn(MuistiMemoryTool):
    def __init__(self, base_path: str = "./memory") -> None:
        self.folder = Folder(base_path)
        self.base_path, self.memory_root = self.folder.base_path, self.folder.memory_root
        super().__init__(self.folder.space)

    def __getattribute__(self, name: str) -> Any:
        method = super().__getattribute__(name)
        return _mirrored(method, self.folder) if name in COMMANDS else method


class AsyncStandIn(AsyncMuistiMemoryTool):
    def __init__(self, base_path: str = "./memory") -> None:
        self.folder = Folder(base_path)
        self.base_path, self.memory_root = AsyncPath(self.folder.base_path), AsyncPath(self.folder.memory_root)
        super().__init__(self.folder.space)

    def __getattribute__(self, name: str) -> Any:
        method = super().__getattribute__(name)
        return _mirrored_async(method, self.folder) if name in COMMANDS else method


def _mirrored(method: Callable[[Any], str], folder: Folder) -> Callable[[Any], str]:
    def called(command: Any) -> str:
        folder.read()
        try:
            return method(command)
        finally:
            folder.write()

    return called


def _mirrored_async(method: Callable[[Any], Any], folder: Folder) -> Callable[[Any], Any]:
    async def called(command: Any) -> str:
        folder.read()
        try:
            return await method(command)
        finally:
            folder.write()

    return called


tested.BetaLocalFilesystemMemoryTool = StandIn
tested.BetaAsyncLocalFilesystemMemoryTool = AsyncStandIn
