"""Review: conflicts that wait for a decision, and pairs of names that may be one."""

import asyncio

from litestar import Request, Response, get, post
from litestar.di import NamedDependency
from litestar.exceptions import ClientException
from litestar.params import FromPath

from muisti.client import calls
from muisti.service.console.answers import done, page
from muisti.service.console.mount import ROOT
from muisti.service.console.render import View
from muisti.service.console.reviewing import DECISIONS, REASONS, Tab, counted, disputes
from muisti.service.console.visit import Visit

PATH = f"{ROOT}/spaces/{{space:str}}/review"
PAGE = 20
NAMES = 50
DECIDED = {"supersede": "superseded", "reject": "rejected", "keep": "kept_both"}
NAMED = {"merge": "merged", "apart": "kept_apart"}


async def tabs(visit: Visit, space: str, *, lint: str | None = None, names: str | None = None) -> list[Tab]:
    """Return the parts of the review. What takes long to count has its number on its own page alone."""
    conflicts = await visit.api.list_conflicts(space, limit=PAGE)
    return parts(counted(conflicts["items"], conflicts["next_cursor"] is not None), lint=lint, names=names)


def parts(waiting: str, *, lint: str | None = None, names: str | None = None) -> list[Tab]:
    """Return the parts of the review with the numbers that are known."""
    return [
        Tab("conflicts", "Conflicts", "review", waiting),
        Tab("lint", "Lint", "review/lint", lint),
        Tab("candidates", "Candidates", "review/candidates", None),
        Tab("names", "Names", "review/names", names),
    ]


@get(PATH)
async def show_conflicts(space: FromPath[str], visit: NamedDependency[Visit]) -> Response[str]:
    """Show open conflicts side by side, newest first."""
    cursor = visit.request.query_params.get("cursor")
    found = await visit.api.list_conflicts(space, limit=PAGE, cursor=cursor)
    waiting = counted(found["items"], found["next_cursor"] is not None)
    model = {
        "tabs": parts(waiting) if cursor is None else await tabs(visit, space),
        "tab": "conflicts",
        "disputes": await asyncio.to_thread(disputes, found["items"]),
        "next_cursor": found["next_cursor"],
        "decisions": [one for one in DECISIONS if visit.may_change("write") and visit.may_change(one.needs)],
    }
    return page(visit, View("review.html", model, block="results"))


@post(f"{PATH}/conflicts/{{conflict_id:str}}")
async def decide(
    request: Request, space: FromPath[str], conflict_id: FromPath[str], visit: NamedDependency[Visit]
) -> Response[None]:
    """Decide a conflict. To keep both changes no memory, so nothing of it can be undone."""
    decision = str((await request.form()).get("decision", ""))
    if decision not in DECIDED:
        raise ClientException("Choose one of the decisions.")
    made = await visit.send(calls.decide_conflict(space, conflict_id, {"decision": decision}))
    return done(visit, "review", DECIDED[decision], undo=None if decision == "keep" else made.request)


@get(f"{PATH}/names")
async def show_names(space: FromPath[str], visit: NamedDependency[Visit]) -> Response[str]:
    """Show pairs of names that look alike."""
    found = await visit.api.list_proposals(space, limit=NAMES)
    model = {
        "tabs": await tabs(visit, space, names=f"{found['total']:,}"),
        "tab": "names",
        "pairs": [(one, REASONS[one["reason"]]) for one in found["items"]],
        "more": found["total"] - len(found["items"]),
    }
    return page(visit, View("review_names.html", model, block="results"))


@post(f"{PATH}/names")
async def decide_names(request: Request, space: FromPath[str], visit: NamedDependency[Visit]) -> Response[None]:
    """Say whether two names are those of one entity."""
    form = {name: str(value) for name, value in (await request.form()).items()}
    decision, first, second = (form.get(name, "") for name in ("decision", "first", "second"))
    if decision not in NAMED or not first or not second:
        raise ClientException("Choose whether both names are one.")
    say = calls.merge_entities if decision == "merge" else calls.keep_entities_apart
    made = await visit.send(say(space, first, {"others": [second]}))
    return done(visit, "review/names", NAMED[decision], undo=made.request)


ROUTES = (show_conflicts, decide, show_names, decide_names)
