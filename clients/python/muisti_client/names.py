"""Requests about one memory that is named by its id, or by its category and key."""

import re
from collections.abc import Callable
from typing import Concatenate, ParamSpec

from . import calls
from ._wire import Call

Name = str | tuple[str, str]  # id of a memory, or its category and key
P = ParamSpec("P")

ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def named(name: str | None, category: str | None = None, key: str | None = None) -> Name:
    """Return what names a memory: an id, or an address `category/key`, split at its first slash.

    Raises:
        ValueError: nothing names one memory, or two things do.

    >>> named("rules/deploys"), named(None, "rules", "ci/deploys")
    (('rules', 'deploys'), ('rules', 'ci/deploys'))
    """
    if name is None:
        if category is None or key is None:
            raise ValueError("name the memory by its id, by 'category/key', or by category= and key=")
        return category, key
    if category is not None or key is not None:
        raise ValueError("name the memory by its id or by category= and key=, not by both")
    if ID.fullmatch(name) or "/" not in name:
        return name
    found, _, rest = name.partition("/")
    return found, rest


def _either(
    by_id: Callable[Concatenate[str, str, P], Call], by_address: Callable[Concatenate[str, str, str, P], Call]
) -> Callable[Concatenate[str, Name, P], Call]:
    """Join the requests of two operations that differ in how they name the memory."""

    def request(space: str, name: Name, *args: P.args, **options: P.kwargs) -> Call:
        if isinstance(name, str):
            return by_id(space, name, *args, **options)
        return by_address(space, *name, *args, **options)

    return request


get = _either(calls.get_memory, calls.get_entry)
update = _either(calls.update_memory, calls.update_entry)
delete = _either(calls.delete_memory, calls.delete_entry)
supersede = _either(calls.supersede_memory, calls.supersede_entry)
restore = _either(calls.restore_memory, calls.restore_entry)
history = _either(calls.get_history, calls.get_entry_history)
telemetry = _either(calls.get_telemetry, calls.get_entry_telemetry)
give_feedback = _either(calls.give_feedback, calls.give_entry_feedback)
