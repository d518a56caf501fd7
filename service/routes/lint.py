"""Lint: defects of the memories of a space."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Self, cast, get_args

from litestar import Response
from litestar.params import QueryParameter
from msgspec import Meta, Struct
from msgspec.structs import asdict

from muisti.core.model.choices import CHECKS, Check
from muisti.core.model.errors import InvalidInput
from muisti.core.model.quality import AT_ONCE, AT_ONCE_MAX, Finding, Fix, Limits, Report
from muisti.core.model.values import Draft
from muisti.service.http.parameters import CursorParameter, between, query
from muisti.service.http.request import Request
from muisti.service.http.respond import followed, read
from muisti.service.http.routing import Routes
from muisti.service.schemas import fields
from muisti.service.schemas.copying import Reply
from muisti.service.schemas.fields import doc

CheckName = Annotated[str, doc("Kind of problem.", enum=list(get_args(Check)))]


class FixReply(Struct, frozen=True, kw_only=True):
    """A request that would fix the problem, as a dry run; remove `dry_run=true` from its path to apply it."""

    method: str
    path: Annotated[
        str, Meta(examples=["/v1/spaces/default/memories/0197a3c0-5f4e-7000-8000-0123456789ab?dry_run=true"])
    ]
    body: Annotated[dict[str, Any] | None, doc("JSON, or null for none.")]

    @classmethod
    def of(cls, fix: Fix, space: str) -> "FixReply":
        method, path, body = _STEPS[fix.step](fix)
        joined = "&" if "?" in path else "?"
        return cls(method=method, path=f"/v1/spaces/{space}/{path}{joined}dry_run=true", body=body)


class FindingReply(Reply, frozen=True, kw_only=True):
    """A problem of a memory. `about` is the start of its content, without secrets."""

    check: CheckName
    memory_id: fields.MemoryId
    version: int
    detail: str
    about: str
    others: Annotated[list[str], doc("Ids of other memories in the problem.")]
    fix: Annotated[list[FixReply], doc("Requests that would fix it, in order.")]

    @classmethod
    def of_space(cls, one: Finding, space: str) -> Self:
        return cls.of(one, fix=[FixReply.of(fix, space) for fix in one.fix])


class LintReply(Reply, frozen=True, kw_only=True):
    """Findings of one page; `checked`, `found` and `score` are of all pages up to this one, the last of the space."""

    items: list[FindingReply]
    checked: Annotated[int, doc("Memories that were checked.", ge=0)]
    found: Annotated[dict[str, int], doc("Findings by check.")]
    score: Annotated[float, doc("100 without any problem.", ge=0, le=100)]
    skipped: Annotated[list[str], doc("Checks that were left out, in words.")]
    next_cursor: str | None
    seq: fields.SeqText

    @classmethod
    def of_space(cls, report: Report, space: str) -> Self:
        return cls.of(report, items=[FindingReply.of_space(one, space) for one in report.items])


def checks_of(text: str | None) -> Sequence[Check]:
    """Parse a list of checks with commas between; None means all checks.

    Raises:
        InvalidInput: one is unknown.
    """
    if text is None:
        return CHECKS
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in CHECKS:
            raise InvalidInput.at("$.checks", f"{name[:80]!r} is none of {', '.join(CHECKS)}")
    return cast(list[Check], names)


def _said(draft: Draft) -> dict[str, Any]:
    """Return the fields of a draft that differ from the defaults."""
    return {name: value for name, value in asdict(draft).items() if value != getattr(_BARE, name)}


def _json(values: Mapping[str, object]) -> dict[str, Any]:
    return {name: _plain(value) for name, value in values.items()}


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    return list(cast(tuple[object, ...], value)) if isinstance(value, tuple) else value


_BARE = Draft(content="")
_STEPS: Mapping[str, Any] = {
    "update": lambda fix: ("PATCH", f"memories/{fix.memory_id}", _json(fix.changes)),
    "delete": lambda fix: ("DELETE", f"memories/{fix.memory_id}", None),
    "purge": lambda fix: ("DELETE", f"memories/{fix.memory_id}?purge=true", None),
    "restore": lambda fix: ("POST", f"memories/{fix.memory_id}/restore", {}),
    "supersede": lambda fix: ("POST", f"memories/{fix.memory_id}/supersede", _json(_said(fix.drafts[0]))),
    "add": lambda fix: (
        "POST",
        "memories/batch",
        {"memories": [_json(_said(draft)) for draft in fix.drafts], "on_conflict": "keep"},
    ),
}


routes = Routes("spaces")

ChecksParameter = Annotated[str | None, query("Checks to run, with commas; all, unless it is given.")]
MemoriesParameter = Annotated[int, between("Memories to check.", 1, AT_ONCE_MAX)]
TokensParameter = Annotated[int, QueryParameter(description="Larger memories are oversized.", ge=1, le=1_000_000)]
DaysParameter = Annotated[float, QueryParameter(description="Days without a retrieval.", ge=0, le=36_500)]
USUAL = Limits()


@routes.get("/lint", needs="read")
async def lint_space(
    request: Request,
    checks: ChecksParameter = None,
    oversized_tokens: TokensParameter = USUAL.tokens,
    never_recalled_days: DaysParameter = USUAL.never_recalled_days,
    stale_days: DaysParameter = USUAL.stale_days,
    limit: MemoriesParameter = AT_ONCE,
    cursor: CursorParameter = None,
) -> Response[LintReply]:
    """Report what is wrong with the memories of a space, and how to fix it.

    Lint finds duplicates, contradictions, secrets, broken references, and memories that are too large, never retrieved
    or no longer retrieved. A page checks `limit` memories, the oldest first, and may find nothing. `checked`, `found`
    and `score` are of all pages up to it. Nothing changes: each `fix` is a request, as a dry run.
    """
    limits = Limits(oversized_tokens, never_recalled_days, stale_days)
    ask = request.memories.review.lint
    report = await request.ask(ask, checks=checks_of(checks), limits=limits, limit=limit, cursor=cursor)
    return followed(request, read(LintReply.of_space(report, request.space), report.seq), report.next_cursor)
