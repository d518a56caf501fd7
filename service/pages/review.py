"""Review: conflicts that wait for a decision, lint and its fixes, candidates, and names that may be one."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit
from uuid import uuid4

from litestar import Response
from litestar.exceptions import ClientException

from muisti.client import Call, calls
from muisti.service.console.answers import Model, does, done, shows
from muisti.service.console.versions import around, diff
from muisti.service.console.visit import Visit


class Decision(NamedTuple):
    """A possible decision. `key` is pressed for it, `effect` says what it does, `needs` is the scope of a key."""

    name: str
    title: str
    key: str
    effect: str
    needs: str = "write"


class Fix(NamedTuple):
    """One step that mends a finding. `call` does it, `erases` says that nothing brings the memory back."""

    sentence: str
    call: Call
    erases: bool


DECISIONS = (
    Decision(
        "supersede", "Use the new one", "a", "The new memory takes the place of the existing one. This can be undone."
    ),
    Decision("reject", "Keep the existing one", "r", "The new memory is deleted. This can be undone.", "delete"),
    Decision(
        "keep", "Keep both", "b", "Both memories stay as they are. This closes the question and cannot be undone."
    ),
)
KINDS: Mapping[str, str] = {
    "conflict": "They contradict each other",
    "possible_conflict": "They may contradict each other",
    "duplicate": "They say the same",
}
CHECKS: Mapping[str, str] = {
    "secret": "Contains a secret",
    "contradiction": "Contradicts another memory",
    "duplicate": "Repeats another memory",
    "orphaned": "Refers to something deleted",
    "oversized": "Too large to be found well",
    "stale": "Not used for a long time",
    "never_recalled": "Never retrieved",
}
REASONS: Mapping[str, str] = {
    "spelling": "similar spelling",
    "prefix": "one begins with the other",
    "name_part": "one is a part of the other",
    "acronym": "one is short for the other",
}


def disputes(items: Iterable[Mapping[str, Any]]) -> list[Model]:
    """Return open conflicts with the words marked by which both memories differ."""
    found: list[Model] = []
    for one in items:
        pieces = around(diff(one["existing"]["content"], one["new"]["content"]))
        sides = {
            name: {**one[name], "pieces": [piece for piece in pieces if piece.change != other]}
            for name, other in (("existing", "ins"), ("new", "del"))
        }
        found.append({**one, **sides, "title": KINDS[one["kind"]], "alike": alike(one["similarity"])})
    return found


def alike(similarity: float | None) -> str:
    """Return how alike two texts are.

    >>> alike(0.9904), alike(None)
    ('99 % alike', 'similarity not measured')
    """
    return "similarity not measured" if similarity is None else f"{similarity:.0%}".replace("%", " % alike")


def counted(items: Sequence[Any], more: bool) -> str:
    """Return a number of items, with a plus when there are more than were read.

    >>> counted([1, 2], False), counted([1, 2], True)
    ('2', '2+')
    """
    return f"{len(items):,}" + ("+" if more else "")


def fixes(finding: Mapping[str, Any], *, dry_run: bool, request: str) -> list[Fix]:
    """Return the steps that mend a finding of lint. They share a request id, so that one undo takes all back."""
    return [_fix(one, dry_run, request) for one in finding["fix"]]


def _fix(one: Mapping[str, Any], dry_run: bool, request: str) -> Fix:
    parts = urlsplit(one["path"])
    params = dict(parse_qsl(parts.query)) | {"dry_run": "true" if dry_run else "false"}
    call = Call(one["method"], parts.path, params, {"X-Request-Id": request}, one["body"])
    return Fix(_sentence(one["method"], parts.path, params, one["body"]), call, "purge" in params)


def _sentence(method: str, path: str, params: Mapping[str, str], body: Mapping[str, Any] | None) -> str:
    if method == "DELETE":
        return "Erase the memory with all its versions." if "purge" in params else "Delete the memory."
    if method == "PATCH":
        changes = ", ".join(f"{name} to {_value(value)}" for name, value in (body or {}).items())
        return f"Change {changes}."
    if path.endswith("/restore"):
        return "Restore the memory."
    if path.endswith("/supersede"):
        return "Put a new version of the memory in its place."
    return f"Store it in {len((body or {})['memories'])} parts."


def _value(value: Any) -> str:
    if value is None:
        return "nothing"
    text = str(value)
    return text if len(text) <= 80 else f"{text[:79]}…"


def same(findings: Iterable[Mapping[str, Any]], check: str, memory_id: str) -> Mapping[str, Any] | None:
    """Return the finding of a check about a memory; None when it is there no more."""
    return next((one for one in findings if one["check"] == check and one["memory_id"] == memory_id), None)


PAGE = 20
NAMES = 50
DECIDED = {"supersede": "superseded", "reject": "rejected", "keep": "kept_both"}
NAMED = {"merge": "merged", "apart": "kept_apart"}


async def tabs(visit: Visit, space: str, *, lint: str | None = None, names: str | None = None) -> list[Model]:
    """Return the parts of the review. What takes long to count has its number on its own page alone."""
    conflicts = await visit.api.list_conflicts(space, limit=PAGE)
    return parts(counted(conflicts["items"], conflicts["next_cursor"] is not None), lint=lint, names=names)


def parts(waiting: str, *, lint: str | None = None, names: str | None = None) -> list[Model]:
    """Return the parts of the review with the numbers that are known."""
    return [
        {"name": "conflicts", "title": "Conflicts", "path": "review", "number": waiting},
        {"name": "lint", "title": "Lint", "path": "review/lint", "number": lint},
        {"name": "candidates", "title": "Candidates", "path": "review/candidates", "number": None},
        {"name": "names", "title": "Names", "path": "review/names", "number": names},
    ]


@shows("review", "review.html", block="results")
async def show_conflicts(visit: Visit, space: str) -> Model:
    """Show open conflicts side by side, newest first."""
    cursor = visit.asked.get("cursor")
    found = await visit.api.list_conflicts(space, limit=PAGE, cursor=cursor)
    waiting = counted(found["items"], found["next_cursor"] is not None)
    return {
        "tabs": parts(waiting) if cursor is None else await tabs(visit, space),
        "tab": "conflicts",
        "disputes": await asyncio.to_thread(disputes, found["items"]),
        "next_cursor": found["next_cursor"],
        "decisions": [one for one in DECISIONS if visit.may_change("write") and visit.may_change(one.needs)],
    }


@does("review/conflicts/{conflict_id}")
async def decide(visit: Visit, space: str, conflict_id: str) -> Response[None]:
    """Decide a conflict. To keep both changes no memory, so nothing of it can be undone."""
    decision = visit.field("decision")
    if decision not in DECIDED:
        raise ClientException("Choose a decision.")
    made = await visit.send(calls.decide_conflict(space, conflict_id, {"decision": decision}))
    return done(visit, "review", DECIDED[decision], undo=None if decision == "keep" else made.request)


@shows("review/names", "review_names.html", block="results")
async def show_names(visit: Visit, space: str) -> Model:
    """Show pairs of names that look alike."""
    found = await visit.api.list_proposals(space, limit=NAMES)
    return {
        "tabs": await tabs(visit, space, names=f"{found['total']:,}"),
        "tab": "names",
        "pairs": [(one, REASONS[one["reason"]]) for one in found["items"]],
        "more": found["total"] - len(found["items"]),
    }


@does("review/names")
async def decide_names(visit: Visit, space: str) -> Response[None]:
    """Say whether two names are those of one entity."""
    decision, first, second = map(visit.field, ("decision", "first", "second"))
    if decision not in NAMED or not first or not second:
        raise ClientException("Choose whether both names are one.")
    say = calls.merge_entities if decision == "merge" else calls.keep_entities_apart
    made = await visit.send(say(space, first, {"others": [second]}))
    return done(visit, "review/names", NAMED[decision], undo=made.request)


MENDED = "review/lint"
PAIRS = 1_000_000  # memories that a page of lint compares with the whole space, times the memories of that
FEWEST, MOST = 5, 200  # memories of such a page
COMPARING = frozenset({"contradiction", "duplicate"})  # checks that compare


async def _pages(visit: Visit, space: str) -> dict[str, Any]:
    """Return the checks that the URL chooses and how many memories to check: few where each is compared with many."""
    check = visit.asked.get("only", "")
    stored = (await visit.api.get_stats(space))["memories"]
    few = min(max(PAIRS // max(stored, 1), FEWEST), MOST)
    return {"checks": check or None, "limit": few if not check or check in COMPARING else MOST}


def _number(found: Mapping[str, Any]) -> str | None:
    """Return the number of findings so far; None where none was found yet."""
    number = sum(found["found"].values())
    return None if not number and found["next_cursor"] else counted(range(number), bool(found["next_cursor"]))


@shows("review/lint", "review_lint.html", block="results")
async def show_lint(visit: Visit, space: str) -> Model:
    """Show what is wrong with a page of memories, the oldest first."""
    cursor = visit.asked.get("cursor")
    asked = await _pages(visit, space)
    found = await visit.api.lint_space(space, cursor=cursor, **asked)
    return {
        "tabs": await tabs(visit, space, lint=_number(found)),
        "tab": "lint",
        "found": found,
        "findings": [(one, CHECKS[one["check"]]) for one in found["items"]],
        "cursor": cursor,
        "only": asked["checks"],
        "few": asked["limit"],
        "checks": CHECKS,
    }


@shows("review/lint/fix", "review_fix.html")
async def show_fix(visit: Visit, space: str) -> Model:
    """Show what a fix would do: each step as a dry run."""
    finding = await _finding(visit, space)
    steps: list[tuple[str, int]] = []
    if visit.may_change("write") and finding is not None:
        for one in fixes(finding, dry_run=True, request=str(uuid4())):
            steps.append((one.sentence, (await visit.send(one.call)).data["changes"]))
    return {
        "finding": finding,
        "title": "" if finding is None else CHECKS[finding["check"]],
        "steps": steps,
        "erases": finding is not None and _erases(finding),
        "which": _which(visit),
    }


@does("review/lint/fix")
async def mend(visit: Visit, space: str) -> Response[None]:
    """Do the steps of a fix. They are read from lint again, so what a form says decides nothing."""
    finding = await _finding(visit, space)
    if finding is None or not finding["fix"]:
        return done(visit, MENDED, "nothing_to_mend")
    if _erases(finding):
        raise ClientException("Erasing a memory is done on its own page, where the name of the space is asked for.")
    request = str(uuid4())
    for one in fixes(finding, dry_run=False, request=request):
        await visit.send(one.call)
    which = _which(visit)
    return done(visit, MENDED, "mended", undo=request, cursor=which.get("lint"), only=which.get("only"))


async def _finding(visit: Visit, space: str) -> Mapping[str, Any] | None:
    which = _which(visit)
    asked = {**await _pages(visit, space), "checks": which.get("check")}
    found = await visit.api.lint_space(space, cursor=which.get("lint"), **asked)
    return same(found["items"], which.get("check", ""), which.get("memory", ""))


def _which(visit: Visit) -> dict[str, str]:
    return {name: value for name, value in visit.asked.items() if name in ("check", "memory", "lint", "only")}


def _erases(finding: Mapping[str, Any]) -> bool:
    return any(one.erases for one in fixes(finding, dry_run=True, request=""))


SHOWN = 10  # memories whose use is read, too
FIELDS: Mapping[str, type[int] | type[float]] = {"retrievals": int, "days": float}


@shows("review/candidates", "review_candidates.html", block="results")
async def show_candidates(visit: Visit, space: str) -> Model:
    """Show what a promotion and a pruning would do with these limits."""
    given = {name: value for name, value in visit.asked.items() if value}
    model = {"tabs": await tabs(visit, space), "tab": "candidates", "given": given, "promotion": None, "pruning": None}
    if visit.may_change("write"):
        asked = (calls.promote, _limits(given, "promote")), (calls.prune, _limits(given, "prune"))
        replies = await asyncio.gather(*(visit.api.send(call(space, limits, dry_run=True)) for call, limits in asked))
        model["promotion"], model["pruning"] = [await _plan(visit, space, reply.data) for reply in replies]
    return model


@does("review/candidates/{action}")
async def review_candidates(visit: Visit, space: str, action: str) -> Response[None]:
    """Promote or prune with the limits of the form."""
    form = {name: str(value) for name, value in visit.form.items() if value}
    if action == "promote":
        made, said = await visit.send(calls.promote(space, _limits(form, "promote"))), "promoted"
    elif action == "prune":
        made, said = await visit.send(calls.prune(space, _limits(form, "prune"))), "pruned"
    else:
        raise ClientException("Candidates are promoted or pruned.")
    changed = bool(made.data["items"])
    return done(visit, "review/candidates", said if changed else "unchanged", undo=made.request if changed else None)


def _limits(given: Mapping[str, str], action: str) -> dict[str, Any]:
    """Return the limits of an action among `promote_retrievals` and the like; others are those of the server.

    Raises:
        ClientException: one is no number.
    """
    try:
        return {name: read(given[f"{action}_{name}"]) for name, read in FIELDS.items() if given.get(f"{action}_{name}")}
    except ValueError as error:
        raise ClientException("The limits are numbers.") from error


async def _plan(visit: Visit, space: str, reply: Mapping[str, Any]) -> dict[str, Any]:
    """Return a dry run with its first memories and how often each was retrieved."""
    items = reply["answer"]["items"][:SHOWN]
    uses: Any = await asyncio.gather(*(visit.api.get_telemetry(space, one["id"]) for one in items))
    return {
        "number": reply["changes"],
        "more": reply["answer"]["more"],
        "rows": [(one, use["retrieval_count"]) for one, use in zip(items, uses, strict=True)],
    }
