"""Progress of long operations on stderr: bars on a terminal, a line for each stage elsewhere."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Self

from muisti.service.cli.output import cell

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID


class Stages:
    """Context manager of progress bars, one for each stage. The bars disappear at its end."""

    def __init__(self, console: Console, *, silent: bool = False) -> None:
        """`silent`: nothing is printed where there is no terminal."""
        self._silent = silent
        self._console = console
        self._topic = ""
        self._bars: dict[str, TaskID] = {}
        rich = import_module("rich.progress")
        columns = (
            rich.TextColumn("{task.description}"),
            rich.BarColumn(),
            rich.TextColumn("{task.fields[count]}"),
            rich.TimeRemainingColumn(),
        )
        self._progress: Progress = rich.Progress(
            *columns, console=console, transient=True, disable=not console.is_terminal
        )

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def begin(self, topic: str) -> None:
        """Begin a topic: it is the heading of the following stages, and removes earlier bars."""
        for bar in self._bars.values():
            if self._console.is_terminal:
                self._progress.remove_task(bar)
        self._bars.clear()
        self._topic = topic

    def note(self, stage: str, done: int, total: int | None) -> None:
        """Show the progress of a stage; `total` is None when it is unknown."""
        if not self._console.is_terminal:
            if stage not in self._bars and not self._silent:
                self._bars[stage] = import_module("rich.progress").TaskID(0)
                self._console.print(cell(f"{self._topic}: {stage}" + ("" if total is None else f" ({total:,})")))
            return
        if stage not in self._bars:
            self._bars[stage] = self._progress.add_task(f"{self._topic}: {stage}", total=total, count="")
        count = f"{done:,}/{total:,}" if total is not None else f"{done:,}" if done else ""
        self._progress.update(self._bars[stage], completed=done, total=total, count=count)
