"""Long work on stderr: bars on a terminal, else a line for each stage; kernels that compile, tasks until they end."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Self

from muisti.client import calls
from muisti.core.model.choices import LIMIT_MAX
from muisti.core.support.lazy import Lazy
from muisti.service.settings.places import shown
from muisti.service.terminal.base import ERROR, OK, Failure, Globals
from muisti.service.terminal.client import Client, Reply
from muisti.service.terminal.output import answer, console, talk
from muisti.service.terminal.views import cell, stated

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from muisti.core.operations import compiled_kernels
    from muisti.service.terminal.opening import Session
else:  # with the core
    compiled_kernels = Lazy("muisti.core.operations.compiled_kernels")

WAIT = 10  # seconds that a request waits for progress
NAMED = 20  # failed items that are printed
COMMANDS = 20  # earlier ones whose tasks are passed over
REMEDIES = {  # by the code of what keeps a task from going on
    "store_full": "free space on the disk of the database",
    "store_unavailable": "free space on the disk of the database, or mend it",
    "store_read_only": "let the database be written",
    "store_replaced": "put the database file back, or start again with the new one",
    "store_corrupt": "`muisti doctor` says what is wrong",
}
ENDED_WELL = ("succeeded", "partial")

MEGA = 1e6  # bytes


class Pace:
    """Return in words how many bytes of some files are done, how fast, and how many files were left out."""

    def __init__(self, sizes: Iterable[int], left_out: int, clock: Callable[[], float] = perf_counter) -> None:
        """`sizes` are those of the files, in their order."""
        self._sums, self._left_out = [*accumulate(sizes, initial=0)], left_out
        self._clock, self._began = clock, clock()

    def words(self, done: int) -> str:
        """Return the progress after so many files.

        >>> times = iter((0.0, 2.0))
        >>> Pace([3_000_000, 1_000_000], 5, lambda: next(times)).words(1)
        '3.0/4.0 MB, 1.5 MB/s, 5 left out'
        """
        size = self._sums[min(done, len(self._sums) - 1)] / MEGA
        rate = size / max(self._clock() - self._began, 1e-3)
        left_out = f", {self._left_out:,} left out" if self._left_out else ""
        return f"{size:,.1f}/{self._sums[-1] / MEGA:,.1f} MB, {rate:,.1f} MB/s{left_out}"


Note = Callable[[int, int | None], None]  # takes the number of finished items, and of all if it is known


class Stages:
    """Context manager of progress bars, one for each stage. The bars disappear at its end."""

    def __init__(self, options: Globals, *, silent: bool = False) -> None:
        """`silent`: nothing is printed where there is no terminal."""
        self._silent, self._topic, self._console = silent, "", console(options, stderr=True)
        self._bars: dict[str, TaskID] = {}
        rich = import_module("rich.progress")
        topic, count = rich.TextColumn("{task.description}"), rich.TextColumn("{task.fields[count]}")
        columns = (topic, rich.BarColumn(), count, rich.TimeRemainingColumn())
        hidden = not self._console.is_terminal
        self._progress: Progress = rich.Progress(*columns, console=self._console, transient=True, disable=hidden)

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

    def note(self, stage: str, done: int, total: int | None, more: str = "") -> None:
        """Show the progress of a stage; `total` is None when it is unknown, `more` is what else is said of it."""
        if not self._console.is_terminal:
            if stage not in self._bars and not self._silent:
                self._bars[stage] = import_module("rich.progress").TaskID(0)
                self._console.print(cell(f"{self._topic}: {stage}" + ("" if total is None else f" ({total:,})")))
            return
        if stage not in self._bars:
            self._bars[stage] = self._progress.add_task(f"{self._topic}: {stage}", total=total, count="")
        count = f"{done:,}/{total:,}" if total is not None else f"{done:,}" if done else ""
        count = ", ".join(filter(None, (count, more)))
        self._progress.update(self._bars[stage], completed=done, total=total, count=count)


def compile_once(options: Globals, *, again: bool = False) -> compiled_kernels.Compiled:
    """Compile what is not compiled yet and return the state; with `again` also where numba took the library's place.

    What cannot be kept is not compiled in advance; one line says so.
    """
    found = compiled_kernels.compiled_kernels()
    if found.place is None:
        if found.warning:
            talk(f"Note: {found.warning}.")
        return found
    if not (found.pending or (again and not found.ahead)):
        return found
    place = shown(Path(found.place))
    talk(f"Compiling Muisti's search loops into {place}, once: half a minute of processor time …")
    began = perf_counter()
    try:
        with Stages(options, silent=True) as stages:
            found = compiled_kernels.compile_kernels(lambda done, total: stages.note("compiling", done, total))
    except OSError as error:
        talk(f"The search loops cannot be kept in {place}: {error.strerror}. numba compiles them in each process.")
        return found
    talk(f"Compiled in {perf_counter() - began:.0f} s: {told(found)}.")
    return found


def told(found: compiled_kernels.Compiled) -> str:
    """Return in words how the loops run from the next start on."""
    place = "" if found.place is None else shown(Path(found.place), os.environ)
    if found.why:
        return f"numba keeps them in {place}, because {found.why}. With that mended, `muisti doctor` speeds up starts"
    return f"the next start loads a library from {place}"


def follow(options: Globals, opened: Session, task: dict[str, Any]) -> dict[str, Any]:
    """Wait until a task ends, with a bar, and return it. `task` is the answer of the request that made or read it.

    When the person interrupts, the task goes on: a message says how to watch or cancel it.
    """
    with Stages(options, silent=options.json or False) as stages:
        stages.begin(task["kind"])
        return ended(opened.client, opened.space, task, lambda done, total: stages.note("items", done, total))


def ended(client: Client, space: str, task: dict[str, Any], note: Note) -> dict[str, Any]:
    """Wait until a task ends, and return it. `note` gets its progress.

    Raises:
        Failure: nobody can work on the task until a person acts, such as on a full disk.
    """
    try:
        while task["ended_at"] is None:
            note(task["done"] + task["failed"] + task["skipped"], task["total"])
            if "obstacle" in task:
                raise Failure(_stuck(task))
            task = client.send(calls.get_task(space, task["id"], wait=WAIT, after=task["revision"])).data
    except KeyboardInterrupt:
        talk(f"The task goes on: muisti tasks watch {task['id']}, or muisti tasks cancel {task['id']}")
        raise
    return task


def own_task(send: Callable[[str | None], Reply], key: str, follow: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """Return the answer to a request that a key names: a task that it makes, or that of a killed command, which ended.

    A task that is over, or whose bytes never arrived, belongs to an earlier command. The next key follows from it, so
    that each command finds the task of its own killed forerunner. `send` gets the key.
    """
    named = key
    for _ in range(COMMANDS):
        task = send(named).data
        if "ended_at" not in task:
            return task
        if task["ended_at"] is None:
            task = follow(task)
            if task.get("error", {}).get("code") != "task.incomplete":
                return task
        named = f"{key}-{task['id']}"
    return send(None).data


def _stuck(task: dict[str, Any]) -> str:
    finished = task["done"] + task["failed"] + task["skipped"]
    of = "" if task["total"] is None else f" of {task['total']:,}"
    cause = task["obstacle"]["detail"].partition(";")[0]  # the rest is about a request
    return (
        f"{cause}; {REMEDIES[task['obstacle']['code']]}, and then `muisti tasks watch "
        f"{task['id']}` goes on. The task is kept, with {finished:,}{of} items finished"
    )


def failed_items(opened: Session, task: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all items of a task that have failed."""
    if not task["failed"]:
        return []
    return opened.whole(
        lambda cursor: calls.list_task_items(opened.space, task["id"], state="failed", limit=LIMIT_MAX, cursor=cursor)
    ).data["items"]


def failed_lines(opened: Session, task: dict[str, Any]) -> list[str]:
    """Return lines that name the failed items of a task with their errors, the first of them."""
    if not task["failed"]:
        return []
    request = calls.list_task_items(opened.space, task["id"], state="failed", limit=NAMED)
    items = opened.client.send(request).data["items"]
    lines = [f"{one['name']}: {one['error']['code']}: {one['error']['detail']}" for one in items]
    more = task["failed"] - len(items)
    return [*lines, f"… and {more:,} more: muisti tasks show {task['id']}"] if more else lines


def concluded(options: Globals, opened: Session, task: dict[str, Any], *, wait: bool) -> int:
    """Follow a task to its end if asked to, print it, and return the exit code."""
    if wait:
        task = follow(options, opened, task)
    reply = opened.client.send(calls.get_task(opened.space, task["id"]))
    answer(options, reply, *stated("{id} {state}", "id", "state", "done"))
    for line in failed_lines(opened, task):
        talk(line)
    if "error" in task:
        talk(task["error"]["detail"])
    return exit_code(task) if wait else OK


def exit_code(task: dict[str, Any]) -> int:
    """Return the exit code for a task that has ended: 0 when at least a part of it succeeded."""
    return OK if task["state"] in ENDED_WELL else ERROR
