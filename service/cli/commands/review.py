"""Commands that review memories: lint, conflicts, feedback, telemetry, promote, prune."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from itertools import islice
from typing import Any, get_args
from urllib.parse import parse_qsl

import click

from muisti.client import Call, calls
from muisti.client import names as by_name
from muisti.core.model.choices import CHECKS, Verdict
from muisti.service.terminal.base import Globals, command
from muisti.service.terminal.calling import Operations, calling
from muisti.service.terminal.memory_names import locate, memory_argument
from muisti.service.terminal.options import choice, dry_run, flag, integer, real
from muisti.service.terminal.output import answer, for_people, talk
from muisti.service.terminal.session import Session, session
from muisti.service.terminal.values import OneOf
from muisti.service.terminal.views import Shown, View, ago, cell, grid, lines, listed, one_line, short_id, stack, tabbed

FINDINGS = 50  # findings in a table
COLOURS = {"secret": "bold red", "contradiction": "red", "duplicate": "yellow", "orphaned": "yellow"}
AT_ONCE = 500


@command(
    "muisti lint",
    "muisti lint --check duplicate --check contradiction",
    "muisti lint --fix secret --dry-run",
    "muisti lint --fix never_recalled",
)
@choice("--check checks", "Look only for this problem; repeat it.", CHECKS, multiple=True)
@integer("--oversized-tokens", "More tokens than this are oversized.  [default: 2048]", 1)
@real("--never-recalled-days", "Age in days from which a memory should have been retrieved.  [default: 30]", 0)
@real("--stale-days", "Days without retrieval or change.  [default: 365]", 0)
@choice("--fix", "Fix the problems that this check finds.", CHECKS)
@flag("--dry-run", "With --fix: try each change, and store nothing.")
def lint(options: Globals, checks: tuple[str, ...], fix: str | None, dry_run: bool, **limits: float | None) -> None:
    """Find problems in the memories of a space.

    Looks for secrets, contradictions, duplicates, and for orphaned, oversized, stale and never recalled memories.
    Prints the check, the ID, the problem, and the command that would fix it, then a score: 100 is without problems.
    """
    if dry_run and fix is None:
        raise click.UsageError("--dry-run belongs to --fix; without it nothing changes anyway")
    wanted = (fix,) if fix else checks
    params: dict[str, Any] = {name: value for name, value in limits.items() if value is not None}
    params |= {"checks": ",".join(wanted)} if wanted else {}
    with session(options, reads=fix is None) as opened:
        if fix is not None:
            _mend(opened, params, dry_run=dry_run)
            return
        reply = opened.whole(_asked(opened, params))
        answer(options, reply, _report, lines("check", "memory_id", "detail", remedy))
        if not for_people(options):
            talk(f"Score {reply.data['score']} of 100, {_counted(reply.data)}.")
        for text in reply.data["skipped"]:
            talk(f"Note: {text}")


def _asked(opened: Session, params: Mapping[str, Any]) -> Callable[[str | None], Call]:
    return lambda cursor: calls.lint_space(opened.space, **{"limit": AT_ONCE, **params, "cursor": cursor})


def _mend(opened: Session, params: Mapping[str, Any], *, dry_run: bool) -> None:
    done = 0
    for reply in opened.pages(_asked(opened, params)):
        for one in reply.data["items"]:
            for each in one["fix"]:
                opened.client.send(_request(each, dry_run=dry_run))
            done += 1
            click.echo(tabbed("would mend" if dry_run else "mended", one["memory_id"], one["detail"]))
    talk(f"{'Would mend' if dry_run else 'Mended'} {done:,}.")


def _request(fix: Mapping[str, Any], *, dry_run: bool) -> Call:
    path, _, query = fix["path"].partition("?")
    return Call(fix["method"], path, {**dict(parse_qsl(query)), "dry_run": str(dry_run).lower()}, {}, fix["body"])


def remedy(one: Mapping[str, Any]) -> str:
    """Return the command that tries the fix of a finding as a dry run."""
    if len(one["fix"]) == 1:
        (fix,) = one["fix"]
        path, _, query = fix["path"].partition("?")
        id_ = path.split("/memories/")[1].partition("/")[0]
        if fix["method"] == "DELETE":
            return f"muisti {'purge' if 'purge' in query else 'delete'} {id_} --dry-run"
        if fix["body"] == {"status": "deprecated"}:
            return f"muisti update {id_} --status deprecated --dry-run"
        if path.endswith("/restore"):
            return f"muisti restore {id_} --dry-run"
    return f"muisti lint --fix {one['check']} --dry-run"


def _counted(data: Mapping[str, Any]) -> str:
    found = ", ".join(f"{number:,} {check}" for check, number in data["found"].items()) or "nothing"
    return f"{data['checked']:,} memories, found: {found}"


def _report(data: Mapping[str, Any]) -> Shown:
    rows = (
        (
            cell(one["check"], COLOURS.get(one["check"], "cyan")),
            short_id({"id": one["memory_id"]}),
            stack(cell(one["about"]), cell(one["detail"], "dim")),
            cell(remedy(one), "dim"),
        )
        for one in islice(data["items"], FINDINGS)
    )
    table = grid(None, "check", "memory", "what is wrong", "to mend it", rows=rows)
    score = data["score"]
    mark = cell(f"{score} of 100", "bold green" if score >= 90 else "bold yellow" if score >= 60 else "bold red")
    rest = len(data["items"]) - FINDINGS
    more = [cell(f"{rest:,} more; --json or --plain shows all.", "dim")] if rest > 0 else []
    return stack(*([table] if data["items"] else []), *more, mark + cell(f"  {_counted(data)}"))


DONE = {"keep": "Kept both.", "supersede": "The new memory superseded {}.", "reject": "Deleted {}."}

conflicts = Operations(
    "conflicts",
    examples=("muisti add 'We deploy on Mondays' --on-conflict review", "muisti conflicts list"),
    help="Resolve memories that duplicate or contradict others.\n\nWith `muisti add --on-conflict review` such a "
    "memory is stored, and the conflict waits here for a decision.",
)


def _differs(one: Mapping[str, Any]) -> str:
    return "; ".join(f"{part['existing'] or '-'} / {part['new'] or '-'}" for part in one["differs"])


def _done(data: Mapping[str, Any]) -> str:
    return DONE[data["decision"]].format(data["existing_id" if data["decision"] == "supersede" else "new_id"])


CONFLICTS = listed(
    {
        "number": "id",
        "kind": "kind",
        "existing": lambda one: one_line(one["existing"]["content"]),
        "new": lambda one: one_line(one["new"]["content"]),
        "differs": _differs,
    },
    ("id", "kind", lambda one: one["existing"]["id"], lambda one: one["new"]["id"], _differs),
    right=("number",),
    none="There are no conflicts. `muisti add TEXT --on-conflict review` stores one for a later decision.",
)
DECIDED = View(lambda data: cell(_done(data)), lines("decision", "existing_id", "new_id"))


conflicts.call(
    "list --limit --cursor",
    calls.list_conflicts,
    CONFLICTS,
    prints="for each conflict its number, its kind (duplicate or conflict), both IDs and the differences",
)
conflicts.call(
    "decide NUMBER=conflict_id DECISION --dry-run",
    calls.decide_conflict,
    DECIDED,
    "muisti conflicts decide 12 supersede",
    "muisti conflicts decide 12 keep",
    help="""Decide a conflict: keep both memories, or one of them.

    NUMBER comes from `muisti conflicts list`. `keep` keeps both memories, `supersede` replaces the existing one by the
    new one, `reject` deletes the new one. Prints the decision and both IDs.
    """,
)


SHOWN = 80  # characters of a memory
USED = ("retrieval_count", "last_retrieved_at", "useful", "not_useful")


@command("muisti feedback 0197a3c0-… useful", "muisti feedback rules/deploy none")
@memory_argument
@click.argument("verdict", type=OneOf(["useful", "not_useful", "none"]))
@dry_run
def feedback(options: Globals, name: tuple[str, ...], verdict: str, dry_run: bool) -> None:
    """Mark a memory as useful or not useful.

    `none` removes your mark. The last mark of each caller counts; together they change the memory's score by a tenth at
    most. Prints how many callers found it useful, and how many did not.
    """
    said = verdict if verdict in get_args(Verdict) else None
    with session(options) as opened:
        found = locate(opened, name)
        reply = opened.client.send(by_name.give_feedback(opened.space, found, {"verdict": said}, dry_run=dry_run))
        answer(options, reply, lambda data: cell(_judged(data)), lines("useful", "not_useful"))


@command("muisti telemetry 0197a3c0-5f4e-7000-8000-0123456789ab", "muisti telemetry rules deploy")
@memory_argument
def telemetry(options: Globals, name: tuple[str, ...]) -> None:
    """Show how often a memory was retrieved, and its feedback.

    Prints the number of retrievals, the time of the last one, and how many callers found it useful or not useful.
    """
    with session(options, reads=True) as opened:
        reply = opened.client.send(by_name.telemetry(opened.space, locate(opened, name)))
        answer(options, reply, lambda data: cell(_used(data)), lines(*USED))


promote = calling(
    "promote --retrievals --dry-run",
    calls.promote,
    View(lambda found: _reviewed(found, "active"), lines("id")),
    "muisti promote --dry-run",
    "muisti promote --retrievals 3",
    help="""Activate candidates that were retrieved often.

    A candidate is a memory that nobody has confirmed; searches skip it unless asked for it. Each run takes up to 500,
    the oldest first. Prints the IDs of the memories.
    """,
    texts={"retrievals": "Least number of retrievals.  [default: 5]"},
    then=lambda _, found: _again("promote", found),
)
prune = calling(
    "prune --retrievals --days --dry-run",
    calls.prune,
    View(lambda found: _reviewed(found, "deprecated"), lines("id")),
    "muisti prune --dry-run",
    "muisti prune --days 30 --retrievals 1",
    help="""Deprecate old candidates that were rarely retrieved.

    Guards and memories of high importance are left alone, and nothing is deleted. Each run takes up to 500, the oldest
    first. Prints the IDs of the memories.
    """,
    texts={"retrievals": "Fewer retrievals than this.  [default: 3]", "days": "Older than X days.  [default: 14]"},
    then=lambda _, found: _again("prune", found),
)


def _again(what: str, found: Mapping[str, Any]) -> None:
    if found.get("more"):
        talk(f"There may be more: muisti {what} again.")


def _used(data: Mapping[str, Any]) -> str:
    last = f", last {ago(data['last_retrieved_at'], datetime.now(UTC))}" if data["last_retrieved_at"] else ""
    count = data["retrieval_count"]
    return f"Retrieved {count:,} time{'' if count == 1 else 's'}{last}. {_judged(data)}"


def _judged(data: Mapping[str, Any]) -> str:
    return f"Useful to {data['useful']}, not useful to {data['not_useful']}."


def _reviewed(found: Mapping[str, Any], status: str) -> Shown:
    lines = [f"{memory['id']} is {status} now: {one_line(memory['content'])[:SHOWN]}" for memory in found["items"]]
    before, after = (", ".join(f"{n} {name}" for name, n in found[when].items()) for when in ("before", "after"))
    return cell("\n".join([*lines, f"Before: {before or 'nothing'}. After: {after or 'nothing'}."]))
