"""The review of candidates and conflicts as an app inside a client: one page, shown by a tool, that calls another.

The extension is `io.modelcontextprotocol/ui`. Its clients are offered these tools unasked. The page is
`service/static/review.html` with the colours of the console. It loads nothing, and its Content-Security-Policy names
its script and style by their hashes.
"""

import re
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Literal

from msgspec import UNSET

from muisti.core.model.errors import InvalidInput
from muisti.core.model.outcomes import OpenConflict
from muisti.core.model.values import Memory
from muisti.core.query import filters
from muisti.service.auth.access import check
from muisti.service.schemas.requests import PatchBody
from muisti.service.tools.arguments import InSpace
from muisti.service.tools.catalog import tool
from muisti.service.tools.rendering import NAMED, NOTICE, counted, plain, quoted, shown
from muisti.service.tools.session import Call, Json, Outcome

UI = "io.modelcontextprotocol/ui"
URI, MEDIA = "ui://muisti/review", "text/html;profile=mcp-app"
META: Json = {"ui": {"csp": {}, "prefersBorder": True}}

PAGE = 20  # candidates, and conflicts
CONTENT = 2_000  # characters of a content that are shown
_ABOUT = ("id", "version", "type", "category", "key", "tags", "author", "source", "updated_at")
_ROOT = re.compile(r":root \{\n([^{}]*)\}")

Verdict = Literal["accept", "reject", "keep"]
OF_CONFLICTS: Mapping[Verdict, Literal["supersede", "reject", "keep"]] = {
    "accept": "supersede",
    "reject": "reject",
    "keep": "keep",
}


class Decide(InSpace, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A decision about a candidate as it was shown, in this version, or about a conflict."""

    decision: Verdict
    candidate: str | None = None
    if_version: int | None = None
    conflict: str | None = None


@tool("read", "app", "staged", group="review")
async def review(call: Call, _: InSpace) -> Outcome:
    """Show the person the candidates and conflicts that wait for their decision."""
    waiting = filters.parse({"status": "candidate"})
    candidates = await call.ask(call.memories.read.list, filter=waiting, sort="-updated_at", limit=PAGE)
    conflicts = await call.ask(call.memories.review.conflicts, limit=PAGE)
    found: Json = {
        "space": call.space,
        "candidates": [_shown(one) for one in candidates.items],
        "conflicts": [_conflict(one) for one in conflicts.items],
        "more": candidates.next_cursor is not None or conflicts.next_cursor is not None,
        "may": [scope for scope in ("write", "delete") if call.access.may(scope)],
    }
    many = f"{counted(len(candidates.items), 'candidate', 'candidates')}, "
    many += counted(len(conflicts.items), "conflict", "conflicts")
    lines = [quoted(one) for one in found["candidates"]]
    lines += [f"{one['kind']}:\n{quoted(one['existing'])}\n{quoted(one['new'])}" for one in found["conflicts"]]
    return Outcome({**found, "notice": NOTICE}, "\n\n".join([f"{many} wait for the person. {NOTICE}", *lines]))


@tool("write", "destructive", "click", "staged", group="review")
async def decide(call: Call, given: Decide) -> Outcome:
    """Decide about a candidate or a conflict, as the person has clicked."""
    if given.decision == "reject":
        check(call.access, "delete", call.space)
    if given.conflict is not None:
        await call.ask(call.memories.review.decide, given.conflict, OF_CONFLICTS[given.decision])
    elif given.candidate is None or given.if_version is None or given.decision == "keep":
        raise InvalidInput.at("$.candidate", "name a conflict, or a candidate with its version to accept or reject")
    elif given.decision == "reject":
        await call.ask(call.memories.write.delete, given.candidate, if_match=given.if_version)
    else:
        changes = PatchBody(status="active").changes()
        await call.ask(call.memories.write.update, given.candidate, changes, if_match=given.if_version)
    return Outcome({"decision": given.decision}, f"Done: {given.decision}.")


def _shown(memory: Memory) -> Json:
    whole = {**shown(memory, full=True), "author": memory.author, "source": memory.source}
    about = {name: plain(whole[name]) for name in _ABOUT if whole.get(name) not in (None, (), UNSET)}
    cut = memory.content if len(memory.content) <= CONTENT else f"{memory.content[: CONTENT - 1]}…"
    return {**about, "content": cut}


def _conflict(one: OpenConflict) -> Json:
    return {
        "id": str(one.id),
        "kind": one.kind,
        "existing": _shown(one.existing),
        "new": _shown(one.new),
        "differs": [{"existing": part.existing, "new": part.new} for part in one.differs[:NAMED]],
    }


@cache
def page() -> str:
    """Return the HTML of the app."""
    package = files("muisti.service")
    colours = _ROOT.findall(package.joinpath("console", "static", "console.css").read_text("utf-8"))
    light, dark = (re.sub(r"\s*--(?:pico|side)[^;]*;", "", one) for one in colours[:2])
    themes = f":root{{{light}}}\n:root[data-theme=dark]{{{dark}}}\n"
    themes += f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}"
    html = package.joinpath("static", "review.html").read_text("utf-8").replace("/* colours */", themes)
    style, script = (_hash(html, name) for name in ("style", "script"))
    policy = f"default-src 'none'; style-src {style}; script-src {script}; base-uri 'none'; form-action 'none'"
    return html.replace("$policy", policy)


def _hash(html: str, name: str) -> str:
    """Return the hash of the only inline element of a name, as a policy has it."""
    inner = html.split(f"<{name}>", 1)[1].split(f"</{name}>", 1)[0]
    return f"'sha256-{b64encode(sha256(inner.encode()).digest()).decode()}'"
