"""Lint: find faults of the memories of a space, page by page, and propose a fix for each.

A page covers some memories, oldest first. Its cursor contains the counts so far. So the last page reports on the whole
space, whatever its size, and nothing is stored between pages.
"""

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import cast

import msgspec

from muisti.core.embedding.models import Models
from muisti.core.identity.caller import Caller
from muisti.core.index.cache import Indexes
from muisti.core.model.choices import CHECKS, Check
from muisti.core.model.decoding import decoder
from muisti.core.model.errors import InvalidInput
from muisti.core.model.ids import id_text
from muisti.core.model.messages import by_message
from muisti.core.model.outcomes import Likeness
from muisti.core.model.quality import AT_ONCE, AT_ONCE_MAX, Finding, Fix, Limits, Report
from muisti.core.model.times import DAY_US, to_us
from muisti.core.model.values import Draft, Memory
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database, Row
from muisti.core.store.sql import quality, version_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.text.recognise import personal_in
from muisti.core.text.secrets import secrets_in
from muisti.core.text.sentences import split
from muisti.core.write.conflicts.check import Checker
from muisti.core.write.prepare import draft_of
from muisti.core.write.screening import Screener, redacted

ABOUT = 100  # characters of a memory shown in a finding
# Share of a memory's score that each finding costs. Only the most expensive finding of a memory counts.
WEIGHTS: Mapping[Check, float] = {
    "secret": 1.0,
    "contradiction": 0.5,
    "duplicate": 0.5,
    "orphaned": 0.5,
    "oversized": 0.25,
    "stale": 0.25,
    "never_recalled": 0.1,
}
_BEGIN = (-(2**63), b"")


class _Tally(msgspec.Struct, array_like=True):
    """Position of a page's end, and the counts up to there. `lost` is in hundredths of a memory."""

    epoch: str
    created_at: int
    memory_id: str
    checked: int
    lost: int
    found: dict[Check, int]

    @property
    def score(self) -> float:
        return round(100.0 - self.lost / self.checked, 1) if self.checked else 100.0


class _Seen(msgspec.Struct, frozen=True):
    """A current memory with data that the checks need."""

    memory: Memory
    retrievals: int
    retrieved_at: int | None
    twin: str | None
    lost_parent: bool
    lost_before: bool
    lost_after: bool
    lost_source: str | None
    vector: bytes | None

    @property
    def is_active(self) -> bool:
        return self.memory.status == "active"

    @property
    def may_fade(self) -> bool:
        """Return whether the memory may be deprecated for lack of use: it is no guard and not of high importance."""
        return self.is_active and self.memory.type != "guard" and self.memory.importance in ("low", "medium")


class Linter:
    """Linter of all spaces. Instances are thread-safe. `models` embed the texts."""

    def __init__(self, database: Database, indexes: Indexes, models: Models, screener: Screener) -> None:
        self._database = database
        self._indexes = indexes
        self._models = models
        self._checker = Checker(database, indexes, models)
        self._screener = screener

    def lint(
        self,
        name: str,
        caller: Caller,
        now: int,
        *,
        checks: Sequence[Check] = CHECKS,
        limits: Limits | None = None,
        limit: int = AT_ONCE,
        cursor: str | None = None,
    ) -> Report:
        """Check the next `limit` memories. `now` is in microseconds.

        Raises:
            InvalidInput: the limit is out of range, or the cursor does not belong to this space.
        """
        if not 1 <= limit <= AT_ONCE_MAX:
            raise InvalidInput.at("$.limit", f"{limit} is not between 1 and {AT_ONCE_MAX:,}")
        space = find_space(self._database, name)
        tally = _Tally(space.space.epoch, 0, "", 0, 0, {}) if cursor is None else _read(cursor, space)
        after = _BEGIN if cursor is None else (tally.created_at, bytes.fromhex(tally.memory_id))
        (rows,) = self._database.read([quality.lint_page(space, caller.category, now, after, limit + 1)])
        seen = [_seen(row, name) for row in rows[:limit]]
        alike, skipped = self._alike(space, seen, caller, checks, now)
        looking = _Looking(space, self._screener, limits or Limits(), now)
        items: list[Finding] = []
        for one, found in zip(seen, alike, strict=True):
            own = [finding for finding in looking.at(one, found) if finding.check in checks]
            items += own
            tally.lost += round(100 * max((WEIGHTS[finding.check] for finding in own), default=0.0))
            for finding in own:
                tally.found[finding.check] = tally.found.get(finding.check, 0) + 1
        tally.checked += len(seen)
        return Report(
            items=tuple(items),
            checked=tally.checked,
            found=tally.found,
            score=tally.score,
            skipped=skipped,
            next_cursor=_cursor(tally, seen[-1].memory) if len(rows) > limit else None,
            seq=space.seq,
        )

    def _alike(
        self, space: SpaceRow, seen: Sequence[_Seen], caller: Caller, checks: Sequence[Check], now: int
    ) -> tuple[Sequence[tuple[Likeness, ...]], tuple[str, ...]]:
        """Return the older memories that each memory resembles or contradicts, and the checks that were skipped."""
        nothing: list[tuple[Likeness, ...]] = [() for _ in seen]
        if not {"duplicate", "contradiction"} & set(checks):
            return nothing, ()
        if self._models.default is None:
            return nothing, ("embeddings are off: contradictions, and duplicates in other words, were not checked",)
        if space.space.generation is None or self._models.inline(space.space.generation) is None:
            missing = (
                "the model of this space is not on this server, or behind an endpoint"
                if space.space.generation
                else "no memory of this space is embedded"
            )
            return nothing, (f"{missing}: contradictions, and duplicates in other words, were not checked",)
        _, snapshot = self._indexes.fresh(space.space.name, 0)
        compared = [(one.memory, one.vector if one.is_active and one.twin is None else None) for one in seen]
        found = self._checker.among_older(space, snapshot, compared, now)
        return [caller.shown(each) for each in found], ()


class _Looking(msgspec.Struct, frozen=True):
    """Checks of single memories."""

    space: SpaceRow
    screener: Screener
    limits: Limits
    now: int

    def at(self, one: _Seen, alike: Sequence[Likeness]) -> Iterator[Finding]:
        """Yield the findings about a memory."""
        yield from self._secrets(one)
        yield from _orphans(one)
        if one.memory.status == "superseded":
            return
        yield from _likenesses(one, alike)
        if one.is_active and one.memory.tokens > self.limits.tokens:
            yield _oversized(one.memory, self.limits.tokens)
        yield from self._unused(one)

    def _secrets(self, one: _Seen) -> Iterator[Finding]:
        memory = one.memory
        policy = self.space.space.policy.over(self.screener.default)
        finds = [secrets_in, *([personal_in] if policy.personal_data != "allow" else [])]
        draft = draft_of(memory)
        changes, kinds, named = redacted(draft, finds)
        if not kinds and not named:
            return
        about = str(changes.get("content", memory.content))
        fix = Fix("purge", memory.id) if named else Fix("update", memory.id, by_message(draft, changes))
        where = " in its category, key or the names in its metadata, which only erasing removes" if named else ""
        said = ", ".join(sorted({*kinds, *named}))
        yield Finding(
            "secret", memory.id, memory.version, f"holds what looks like a secret: {said}{where}", _about(about), (fix,)
        )

    def _unused(self, one: _Seen) -> Iterator[Finding]:
        if not one.may_fade:
            return
        memory = one.memory
        fix = (Fix("update", memory.id, {"status": "deprecated"}),)
        about, used = _about(memory.content), one.retrieved_at or 0
        if not one.retrievals:
            age = self._days(to_us(memory.created_at))
            if age >= self.limits.never_recalled_days:
                detail = f"{age:.0f} days old and never retrieved"
                yield Finding("never_recalled", memory.id, memory.version, detail, about, fix)
        elif (idle := self._days(max(used, to_us(memory.updated_at)))) >= self.limits.stale_days:
            detail = f"not retrieved or changed for {idle:.0f} days"
            yield Finding("stale", memory.id, memory.version, detail, about, fix)

    def _days(self, since: int) -> float:
        return (self.now - since) / DAY_US


def _orphans(one: _Seen) -> Iterator[Finding]:
    memory = one.memory

    def found(detail: str, other: str | None, fix: Fix) -> Finding:
        others = () if other is None else (other,)
        return Finding("orphaned", memory.id, memory.version, detail, _about(memory.content), (fix,), others)

    if one.lost_parent:
        yield found("its parent is gone", memory.parent_id, Fix("update", memory.id, {"parent_id": None}))
    if one.lost_source is not None:
        yield found("a memory that it is derived from was erased", one.lost_source, Fix("purge", memory.id))
    if one.lost_after:
        yield found(
            "the memory that superseded it was erased, so no search finds either",
            memory.superseded_by,
            Fix("restore", memory.id),
        )
    elif one.lost_before and memory.superseded_by is None:
        fix = Fix("supersede", memory.id, drafts=(draft_of(memory),))
        yield found("the memory that it superseded was erased", memory.supersedes, fix)


def _likenesses(one: _Seen, alike: Sequence[Likeness]) -> Iterator[Finding]:
    memory, about = one.memory, _about(one.memory.content)
    if one.twin is not None and one.memory.status == "active":
        fix = (Fix("delete", memory.id),)
        yield Finding("duplicate", memory.id, memory.version, f"says the same as {one.twin}", about, fix, (one.twin,))
    for other in alike:
        if other.kind == "duplicate":
            fix = (Fix("delete", memory.id),)
            detail = f"says nearly the same as {other.id}: {_about(other.content)}"
            yield Finding("duplicate", memory.id, memory.version, detail, about, fix, (other.id,))
        elif other.kind in ("conflict", "possible_conflict"):
            fix = (Fix("update", other.id, {"status": "deprecated"}),)  # of the older memory, because facts change
            verb = "contradicts" if other.kind == "conflict" else "may contradict"
            detail = f"{verb} {other.id}: {_about(other.content)}"
            yield Finding("contradiction", memory.id, memory.version, detail, about, fix, (other.id,))


def _oversized(memory: Memory, most: int) -> Finding:
    """Return the finding that a memory is too long. The fix stores its parts as memories derived from it."""
    whole = draft_of(memory)
    parts = [
        Draft(
            content=part,
            category=whole.category,
            type=whole.type,
            importance=whole.importance,
            author=whole.author,
            source=whole.source,
            tags=whole.tags,
            event_at=whole.event_at,
            valid_from=whole.valid_from,
            valid_to=whole.valid_to,
            expires_at=whole.expires_at,
            source_class=whole.source_class,
            derived_from=(memory.id,),
        )
        for part in _parts(memory.content)
    ]
    fix = (Fix("add", memory.id, drafts=parts), Fix("update", memory.id, {"status": "deprecated"}))
    detail = f"has {memory.tokens:,} tokens, more than {most:,}: a hit shows only a part of it"
    return Finding("oversized", memory.id, memory.version, detail, _about(memory.content), fix)


def _parts(content: str) -> list[str]:
    """Return the content in parts of one passage each, cut where passages are cut, without overlap.

    >>> _parts("Short.")
    ['Short.']
    """
    starts = [0, *(passage.stop for passage in split(content))]
    return [part for first, last in pairwise(starts) if (part := content[first:last].strip())]


def _about(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= ABOUT else f"{line[: ABOUT - 1]}…"


def _seen(row: Row, space: str) -> _Seen:
    count, last, twin, parent, before, after, source, vector = cast(
        tuple[int | None, int | None, bytes | None, int, int, int, str | None, bytes | None], row[version_rows.WIDTH :]
    )
    return _Seen(
        memory=version_rows.memory(row, space),
        retrievals=count or 0,
        retrieved_at=last,
        twin=None if twin is None else id_text(twin),
        lost_parent=bool(parent),
        lost_before=bool(before),
        lost_after=bool(after),
        lost_source=source,
        vector=vector,
    )


def _cursor(tally: _Tally, last: Memory) -> str:
    tally.created_at, tally.memory_id = to_us(last.created_at), last.id.replace("-", "")
    return base64.urlsafe_b64encode(msgspec.json.encode(tally)).decode()


def _read(cursor: str, space: SpaceRow) -> _Tally:
    try:
        tally = decoder(_Tally).decode(base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True))
        bytes.fromhex(tally.memory_id)
    except (binascii.Error, ValueError, msgspec.MsgspecError):
        tally = None
    if tally is None or tally.epoch != space.space.epoch or abs(tally.created_at) >= 1 << 63:
        raise InvalidInput.at("$.cursor", f"{cursor[:80]!r} is no cursor; take next_cursor of the page before")
    return tally
