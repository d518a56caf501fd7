"""The sections of the console: the navigation is drawn from this table."""

from typing import NamedTuple


class Section(NamedTuple):
    """`path` is below that of the space; empty for the page of the space itself. `needs` is the scope of a key.

    `past`: its pages can show what was at another time; the others say that they cannot.
    """

    name: str
    title: str
    path: str
    needs: str = "read"
    past: bool = True


OF_SPACE = (
    Section("space", "Overview", ""),
    Section("ask", "Ask", "ask"),
    Section("memories", "Memories", "memories"),
    Section("conversations", "Conversations", "conversations"),
    Section("documents", "Documents", "documents"),
    Section("graph", "Graph", "graph"),
    Section("review", "Review", "review", past=False),
    Section("time", "Time", "time", past=False),
    Section("live", "Live", "live", past=False),
    Section("quality", "Quality", "quality", past=False),
    Section("imports", "Imports and exports", "imports", past=False),
    Section("tasks", "Tasks", "tasks", "key", past=False),
    Section("webhooks", "Webhooks", "webhooks", "admin", past=False),
)
OF_SERVER = (
    Section("keys", "Keys", "keys", "key"),
    Section("connect", "Connect an agent", "connect", "key"),
)
PRESENT_ONLY = frozenset({*(one.name for one in OF_SPACE if not one.past), *(one.name for one in OF_SERVER)})
