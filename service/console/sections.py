"""The sections of the console: the navigation is drawn from this table."""

from typing import NamedTuple


class Section(NamedTuple):
    """`path` is below that of the space; empty for the page of the space itself. `needs` is the scope of a key."""

    name: str
    title: str
    path: str
    needs: str = "read"


OF_SPACE = (
    Section("space", "Overview", ""),
    Section("ask", "Ask", "ask"),
    Section("memories", "Memories", "memories"),
    Section("conversations", "Conversations", "conversations"),
    Section("documents", "Documents", "documents"),
    Section("graph", "Graph", "graph"),
    Section("review", "Review", "review"),
    Section("time", "Time", "time"),
    Section("live", "Live", "live"),
    Section("quality", "Quality", "quality"),
    Section("imports", "Imports and exports", "imports"),
    Section("tasks", "Tasks", "tasks", "key"),
    Section("webhooks", "Webhooks", "webhooks", "admin"),
)
OF_SERVER = (
    Section("keys", "Keys", "keys", "key"),
    Section("connect", "Connect an agent", "connect", "key"),
)
