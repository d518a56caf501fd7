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
    Page("ask", f"{S}/ask?q=when+do+we+deploy", "Evidence:", ".hits li"),
    Page("ask-two", f"{S}/ask?q=refund&compare=on&b.mode=keyword&limit=4&b.limit=4", "Setting B", ".column + .column"),
    Page("ask-context", f"{S}/ask/context?q=when+do+we+deploy&budget=300", "of 300 tokens", ".context"),
    Page("playground", f"{S}/ask/playground?q=when+do+we+deploy&b.mode=keyword", "What an agent gets", ".ranked"),
    Page("live", f"{S}/live", "Changes appear here"),
    Page("quality", f"{S}/quality", "When do we deploy?"),
    Page("receipts", f"{S}/quality/receipts", "When do we deploy?"),
    Page("receipt", f"{S}/quality/receipts/{{receipt}}", "same answer"),
    Page("memories", f"{S}/memories", "We deploy on Wednesdays after lunch."),
    Page("memories-of-ann", f"{S}/memories?author=Ann", "More filters"),
    Page("map", f"{S}/memories/map", "close together"),
    Page("memory-new", f"{S}/memories/new", "Add a memory"),
    Page("memory", f"{S}/memories/{{memory}}", "Where it comes from"),
    Page("memory-edit", f"{S}/memories/{{memory}}/edit", "More fields"),
    Page("memory-purge", f"{S}/memories/{{memory}}/purge", "2 versions would go"),
    Page("erase", f"{S}/erase?author=Ann", "would go"),
    Page("conversations", f"{S}/conversations", "Last turn"),
    Page("conversation", f"{S}/conversations/{{conversation}}", "Who decides when we cancel?"),
    Page("documents", f"{S}/documents", "storms.md"),
    Page("document", f"{S}/documents/{{document}}", "Who decides"),
    Page("document-new", f"{S}/documents/new", "Add documents"),
    Page("keys", "/console/keys", "key"),
    Page("imports", f"{S}/imports", "Download this space"),
    Page("settings", f"{S}/settings", "Embedding models", "#models ~ div table"),
    Page("webhooks", f"{S}/webhooks", "Create a webhook"),
    Page("tasks", f"{S}/tasks", "import"),
    Page("task", f"{S}/tasks/{{task}}", "Task: import"),
    Page("graph", f"{S}/graph", "Groups", ".canvas svg"),
    Page("entity", f"{S}/graph/{{entity}}", "Facts, oldest first", ".canvas svg"),
    Page("space", S, "What the team of the ferries has learnt"),
    Page("review", f"{S}/review", "The kiosk in Nagu"),
    Page("review-lint", f"{S}/review/lint", "Score"),
    Page("review-candidates", f"{S}/review/candidates", "Would become active"),
    Page("review-names", f"{S}/review/names", "look alike"),
    Page("time", f"{S}/time", "before-the-storm"),
    Page("time-diff", f"{S}/time/diff?since=before-the-storm", "changed"),
    Page("time-rollback", f"{S}/time/rollback?to=before-the-storm", "What would happen"),
)
# Pages without a session, on a server with keys.
OPEN_PAGES = (Page("sign-in", "/console/sign-in", "Sign in"),)
