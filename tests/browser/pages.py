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
