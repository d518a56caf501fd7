"""Groups of MCP tools. A client is offered the tools of some groups, because each tool takes room in its context."""

from typing import Literal, get_args

from muisti.service.settings.forms import Rule, names_in, text

Group = Literal["memory", "conversations", "documents", "code", "graph", "admin", "chatgpt", "review"]
GROUPS: tuple[Group, ...] = get_args(Group)
ALL = "all"
USUAL = "memory"  # groups of a client that asks for none


def groups_in(listed: str) -> frozenset[Group]:
    """Read a list of groups such as memory,code; `all` is every group.

    >>> sorted(groups_in("memory, code"))
    ['code', 'memory']

    Raises:
        ValueError: the list is empty, or one of its names is no group.
    """
    names = names_in(listed)
    if not names or not {*names} <= {*GROUPS, ALL}:
        raise ValueError
    return frozenset(group for group in GROUPS if group in names or ALL in names)


def in_order(groups: frozenset[Group]) -> str:
    """Return groups as a list such as memory,code, as settings and URLs have them."""
    return ",".join(group for group in GROUPS if group in groups)


def _read(value: object) -> str:
    return in_order(groups_in(text(value)))


TOOL_GROUPS = Rule(
    "Groups of MCP tools that clients are offered; a client may ask for others by /mcp?tools=a,b.",
    f"a list of {', '.join(GROUPS)}, or {ALL}",
    _read,
)
