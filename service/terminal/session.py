"""Clients and spaces for commands, from `service.terminal.opening`, which loads on the first call."""

from typing import TYPE_CHECKING, Any

from muisti.core.support.lazy import Lazy

__all__ = [
    "Client", "Reply", "Session", "Stages", "ask", "client", "compile_once", "concluded", "demand", "exit_code",
    "failed_lines", "file_of", "follow", "in_force", "refusals", "server_url", "session", "settings_for",
    "space_choice",
]  # fmt: skip

if TYPE_CHECKING:
    from muisti.service.terminal import callers, configuration, opening, progress
    from muisti.service.terminal.callers import demand
    from muisti.service.terminal.client import Client, Reply
    from muisti.service.terminal.configuration import file_of, in_force, settings_for
    from muisti.service.terminal.opening import Session, ask, client, refusals, server_url, session, space_choice
    from muisti.service.terminal.progress import Stages, compile_once, concluded, exit_code, failed_lines, follow
else:  # a twentieth of a second, of which `--help` needs nothing
    callers = Lazy("muisti.service.terminal.callers")
    configuration = Lazy("muisti.service.terminal.configuration")
    opening = Lazy("muisti.service.terminal.opening")
    progress = Lazy("muisti.service.terminal.progress")
    Client = Reply = Session = Any

    def _late(module: Lazy, name: str) -> Any:
        return lambda *args, **given: getattr(module, name)(*args, **given)

    names = {callers: "demand", configuration: "file_of in_force settings_for"}
    names[opening] = "ask client refusals server_url session space_choice"
    names[progress] = "Stages compile_once concluded exit_code failed_lines follow"
    globals().update((name, _late(module, name)) for module, words in names.items() for name in words.split())
