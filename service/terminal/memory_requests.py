"""Requests about one memory that is named by its id, or by its category and key."""

from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec

from muisti.client import Call, calls
from muisti.service.terminal.client import Client

Name = str | tuple[str, str]  # id of a memory, or its category and key
P = ParamSpec("P")


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


def etag(client: Client, space: str, name: Name, version: int | None) -> str | None:
    """Return the ETag of a version. For an address, the id is requested first, because ETags contain ids."""
    if version is None:
        return None
    one: Any = name if isinstance(name, str) else client.send(history(space, name)).data["items"][0]["memory"]["id"]
    return f'"{one}.{version}"'
