"""The clients that scenarios run on: the library in process and the client over HTTP, each sync and async."""

import asyncio
import importlib
import inspect
import sys
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterator, Mapping
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

import muisti
from muisti.client import calls
from tests.clients.scenario import Course, Scenario

CLIENTS = Path(__file__).parents[2] / "clients" / "python"
Runner = Callable[[Scenario, str], None]  # runs a scenario in a space of this name


def thin() -> ModuleType:
    """Return the client as its own package installs it."""
    sys.path.insert(0, str(CLIENTS))
    try:
        # Not an own module here: another distribution, which is not installed, so no import statement can find it.
        return importlib.import_module("muisti_client")
    finally:
        sys.path.remove(str(CLIENTS))


@contextmanager
def threaded(memory: Any) -> Iterator[Runner]:
    """Yield what runs scenarios on a handle for threads, which it closes at the end."""
    with memory:

        def run(scenario: Scenario, space: str) -> None:
            here, course = memory.space(space), Course()
            memory.send(calls.create_space({"name": space}))
            for step in scenario.steps:
                _step(course, step, here)

        yield run


def _step(course: Course, step: Mapping[str, Any], here: Any) -> None:
    if "wait" in step:
        time.sleep(step["wait"])
        return
    try:
        result = attrgetter(step["call"])(here)(
            *course.filled(step.get("args", [])), **course.filled(step.get("options", {}))
        )
        result = [*result] if isinstance(result, Generator) else result
    except Exception as error:  # noqa: BLE001  # compared with the expected one
        _refused(step, error)
    else:
        assert "error" not in step, step
        course.took(step, result)


@contextmanager
def awaited(made: Callable[[], Any]) -> Iterator[Runner]:
    """Yield what runs scenarios on a handle for asyncio, which it makes on its loop, and closes at the end."""
    with asyncio.Runner() as loop:
        memory = loop.run(_entered(made))

        async def work(scenario: Scenario, space: str) -> None:
            here, course = memory.space(space), Course()
            await memory.send(calls.create_space({"name": space}))
            for step in scenario.steps:
                await _awaited_step(course, step, here)

        yield lambda scenario, space: loop.run(work(scenario, space))
        loop.run(memory.aclose())


async def _entered(made: Callable[[], Any]) -> Any:
    return await made().__aenter__()


async def _awaited_step(course: Course, step: Mapping[str, Any], here: Any) -> None:
    if "wait" in step:
        await asyncio.sleep(step["wait"])
        return
    try:
        result = attrgetter(step["call"])(here)(
            *course.filled(step.get("args", [])), **course.filled(step.get("options", {}))
        )
        result = await _whole(result)
    except Exception as error:  # noqa: BLE001  # compared with the expected one
        _refused(step, error)
    else:
        assert "error" not in step, step
        course.took(step, result)


async def _whole(result: Coroutine[Any, Any, Any] | AsyncGenerator[Any, None]) -> Any:
    return [one async for one in result] if isinstance(result, AsyncGenerator) else await result


def _refused(step: Mapping[str, Any], error: Exception) -> None:
    """Check that an error is the expected one, by code and class."""
    if "error" not in step or not hasattr(error, "code"):
        raise error
    assert getattr(error, "code") == step["error"], error  # noqa: B009
    classes = [kind.__name__ for kind in inspect.getmro(type(error))]
    assert step.get("class", "MuistiError") in classes, classes


def target(name: str, url: str, path: Path) -> Any:
    """Return the context that yields the runner of one client; `url` is a server, `path` a new file."""
    match name:
        case "library sync":
            return threaded(muisti.open(path))
        case "library async":
            return awaited(lambda: muisti.open_async(path))
        case "client sync":
            return threaded(muisti.connect(url))
        case "client async":
            return awaited(lambda: muisti.connect_async(url))
        case "thin sync":
            return threaded(thin().connect(url))
        case _:
            return awaited(lambda: thin().connect_async(url))


TARGETS = ("library sync", "library async", "client sync", "client async", "thin sync", "thin async")
