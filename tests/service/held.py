"""Everything in a running server that a thread may have to wait for, found by walking its objects."""

import queue
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import CellType, FunctionType, MethodType
from typing import Any, NamedTuple, cast

from muisti.core.support.waiting import Lock

PLAIN = (type(threading.Lock()), type(threading.RLock()), threading.Condition, threading.Semaphore)
OURS = ("muisti.core.", "muisti.service.")


class Place(NamedTuple):
    """A lock or a pool, and the attribute that holds it: `Indexes._lock`."""

    name: str
    found: Any

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep others from it, as a slow reader or a slow holder of the lock does."""
        with ExitStack() as held:
            if isinstance(self.found, Lock):
                held.enter_context(self.found)
            else:
                pool = cast(queue.Queue[Any], self.found)
                taken = [pool.get(timeout=10) for _ in range(pool.qsize())]
                held.callback(lambda: [pool.put(one) for one in reversed(taken)])
            yield


def places(*roots: object) -> list[Place]:
    """Locks and pools that can be reached from `roots`, each once."""
    found: dict[int, Place] = {}
    seen = set[int]()
    waiting = deque[tuple[str, object]](("", root) for root in roots)
    while waiting:
        name, value = waiting.popleft()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, (*PLAIN, Lock, queue.Queue)):
            found[id(value)] = Place(name, value)
        else:
            waiting.extend(_inside(name, value))
    return list(found.values())


def _inside(name: str, value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping):
        yield from ((name, one) for one in [*cast(Mapping[object, object], value).values()])
    elif isinstance(value, list | tuple | set | frozenset | deque):
        yield from ((name, one) for one in [*cast(list[object], value)])
    elif isinstance(value, MethodType):
        yield name, value.__self__
        yield name, value.__func__
    elif isinstance(value, FunctionType):
        yield from ((name, cell) for cell in value.__closure__ or ())
    elif isinstance(value, CellType):
        yield from _content(name, value)
    elif type(value).__module__.startswith(OURS) and not isinstance(value, type):
        for attribute in _attributes(type(value), value):
            inner = getattr(value, attribute, None)
            yield f"{type(value).__name__}.{attribute}", inner


def _content(name: str, cell: CellType) -> Iterator[tuple[str, object]]:
    try:
        yield name, cell.cell_contents
    except ValueError:  # empty as yet
        return


def _attributes(kind: type, value: object) -> list[str]:
    slots = [name for one in kind.__mro__ for name in cast(tuple[str, ...], one.__dict__.get("__slots__", ()))]
    fields = cast(tuple[str, ...], getattr(kind, "__struct_fields__", ()))
    return [name for name in {*getattr(value, "__dict__", {}), *slots, *fields} if not name.startswith("__")]
