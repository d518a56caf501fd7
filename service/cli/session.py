"""Clients and spaces for commands, from `service.cli.opening`, which loads on the first call."""

from typing import TYPE_CHECKING, Any

from muisti.core.support.lazy import Lazy

__all__ = ["ask", "client", "demand", "refusals", "server_url", "session", "space_choice"]

if TYPE_CHECKING:
    from muisti.service.cli import callers, opening
    from muisti.service.cli.callers import demand
    from muisti.service.cli.opening import ask, client, refusals, server_url, session, space_choice
else:  # a twentieth of a second, of which `--help` needs nothing
    callers = Lazy("muisti.service.cli.callers")
    opening = Lazy("muisti.service.cli.opening")

    def _late(name: str, module: Lazy = opening) -> Any:
        return lambda *args, **given: getattr(module, name)(*args, **given)

    demand = _late("demand", callers)
    ask, client, refusals = map(_late, ("ask", "client", "refusals"))
    server_url, session, space_choice = map(_late, ("server_url", "session", "space_choice"))
