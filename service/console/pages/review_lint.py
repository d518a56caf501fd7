"""Review: findings of lint, what each fix would do, and the fix itself."""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.exceptions import ClientException
from litestar.params import FromPath

from muisti.service.console.answers import done, page
from muisti.service.console.pages.review import PATH, tabs
from muisti.service.console.render import View
from muisti.service.console.reviewing import CHECKS, counted, fixes, same
from muisti.service.console.visit import Visit

MENDED = "review/lint"


@get(f"{PATH}/lint")
async def show_lint(space: FromPath[str], visit: NamedDependency[Visit]) -> Response[str]:
    """Show what is wrong with a page of memories, the oldest first."""
    cursor = visit.request.query_params.get("cursor")
    found = await visit.api.lint_space(space, cursor=cursor)
    model = {
        "tabs": await tabs(visit, space, lint=counted(range(sum(found["found"].values())), bool(found["next_cursor"]))),
        "tab": "lint",
        "found": found,
        "findings": [(one, CHECKS[one["check"]]) for one in found["items"]],
        "cursor": cursor,
    }
    return page(visit, View("review_lint.html", model, block="results"))


@get(f"{PATH}/lint/fix")
async def show_fix(space: FromPath[str], visit: NamedDependency[Visit]) -> Response[str]:
    """Show what a fix would do: each step as a dry run."""
    finding = await _finding(visit, space)
    steps: list[tuple[str, int]] = []
    if visit.may_change("write") and finding is not None:
        for one in fixes(finding, dry_run=True, request=str(uuid4())):
            steps.append((one.sentence, (await visit.send(one.call)).data["changes"]))
    model = {
        "finding": finding,
        "title": "" if finding is None else CHECKS[finding["check"]],
        "steps": steps,
        "erases": finding is not None and _erases(finding),
        "which": _which(visit),
    }
    return page(visit, View("review_fix.html", model))


@post(f"{PATH}/lint/fix")
async def mend(space: FromPath[str], visit: NamedDependency[Visit]) -> Response[None]:
    """Do the steps of a fix. They are read from lint again, so what a form says decides nothing."""
    finding = await _finding(visit, space)
    if finding is None or not finding["fix"]:
        return done(visit, MENDED, "nothing_to_mend")
    if _erases(finding):
        raise ClientException("Erasing a memory is done on its own page, where the name of the space is asked for.")
    request = str(uuid4())
    for one in fixes(finding, dry_run=False, request=request):
        await visit.send(one.call)
    return done(visit, MENDED, "mended", undo=request, cursor=_which(visit).get("cursor"))


async def _finding(visit: Visit, space: str) -> Mapping[str, Any] | None:
    which = _which(visit)
    found = await visit.api.lint_space(space, checks=which.get("check"), cursor=which.get("lint"))
    return same(found["items"], which.get("check", ""), which.get("memory", ""))


def _which(visit: Visit) -> dict[str, str]:
    return {name: value for name, value in visit.request.query_params.items() if name in ("check", "memory", "lint")}


def _erases(finding: Mapping[str, Any]) -> bool:
    return any(one.erases for one in fixes(finding, dry_run=True, request=""))


ROUTES = (show_lint, show_fix, mend)
