"""Every page of the console: its name, its path, and what must be on it."""

from typing import NamedTuple

S = "/console/spaces/harbour"


class Page(NamedTuple):
    """`path` may name ids of `Served.ids`. `shows` is a text of the page. `settle` is a selector to wait for."""

    name: str
    path: str
    shows: str
    settle: str = "main h1"


PAGES = (
    Page("home", "/", "harbour"),
    Page("connect", "/console/connect", "claude-code"),
    Page("live", f"{S}/live", "Changes appear here"),
    Page("quality", f"{S}/quality", "When do we deploy?"),
    Page("receipts", f"{S}/quality/receipts", "When do we deploy?"),
    Page("receipt", f"{S}/quality/receipts/{{receipt}}", "same answer"),
    Page("keys", "/console/keys", "key"),
    Page("imports", f"{S}/imports", "Download this space"),
    Page("webhooks", f"{S}/webhooks", "Make a webhook"),
    Page("tasks", f"{S}/tasks", "import"),
    Page("task", f"{S}/tasks/{{task}}", "Task: import"),
    Page("graph", f"{S}/graph", "What belongs together"),
    Page("entity", f"{S}/graph/{{entity}}", "Facts in the order of time"),
    Page("space", S, "What the team of the ferries has learnt"),
)
# Pages without a session, on a server with keys.
OPEN_PAGES = (Page("sign-in", "/console/sign-in", "Sign in"),)
