"""The working memory of a conversation: what callers keep, and the turns that are worth their tokens now.

Nothing is promoted or lost: a turn is searchable when it is stored, and eviction leaves it out of the working memory
only. What is pinned is never evicted. Then come entries by priority, and turns by value: importance, recency, and
coherence with the latest turns.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from msgspec.structs import replace

from muisti.core.conversations.model import BUDGET_MAX, KEPT_MAX, PRIORITY_MAX, TEXT_MAX, Entry, Held, Working
from muisti.core.conversations.sql import topics
from muisti.core.conversations.topics import Conversation, dimensions_of, vectors_of
from muisti.core.model.errors import InvalidInput, NotFound, Problem, QuotaExceeded
from muisti.core.model.messages import messages_of
from muisti.core.model.outcomes import Quota
from muisti.core.model.times import to_us
from muisti.core.model.values import NAME_MAX, Draft, Memory, Seq
from muisti.core.read.reading import find, read
from muisti.core.store.database import Database, Refusal, Refused
from muisti.core.store.sql import hierarchy, quotas, version_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.text.discourse.segmentation import Vectors
from muisti.core.text.discourse.signals import importance, joint, novelty, signals
from muisti.core.text.terms import tokenize
from muisti.core.write.calls import Call
from muisti.core.write.intake import Intake

TURNS = 200  # latest turns that may be held
LATEST = 5  # turns that coherence is measured against
HALF_LIFE = 24 * 3_600 * 1_000_000  # microseconds after which a turn's recency is halved
SHARES = {"importance": 0.35, "recency": 0.45, "coherence": 0.2}

Count = Callable[[str], int]


class WorkingMemory:
    """Thread-safe. All methods raise `NotFound` when there is no such space or conversation."""

    def __init__(self, database: Database, intake: Intake, quota: Quota) -> None:
        """`quota` is that of spaces without one."""
        self._database, self._intake, self._quota = database, intake, quota

    def keep(self, conversation: Conversation, entry: Entry, count: Count, budget: int, call: Call) -> Entry:
        """Keep an entry at its key, in place of what is there.

        Raises:
            InvalidInput: the entry cannot be accepted, or all that is pinned would not fit the budget.
            NotFound: it names a memory that is not there.
            SensitiveContent: its text has what the space refuses.
            QuotaExceeded: the space would hold more bytes than its quota.
        """
        _check(entry)
        space, holder, held = self._entries(conversation, call)
        if entry.memory_id is not None:
            find(self._database.primary, space, entry.memory_id, call.caller, call.now)
        if entry.content is not None:
            draft = Draft(content=entry.content, category=conversation.category)
            entry = replace(entry, content=self._intake.new(space, draft, call, echoes=False).draft.content)
        self._intake.name(space, entry.key, call, "$.key")
        others = [one for one in held if one.key != entry.key]
        if len(others) >= KEPT_MAX:
            raise InvalidInput.at("$.key", f"{KEPT_MAX} entries are kept; release one first")
        pinned = [one for one in (*others, entry) if one.pinned]
        needed = sum(one.tokens for one in self._held(space, pinned, count, call))
        if needed > budget:
            raise InvalidInput.at("$.pinned", f"what is pinned would take {needed:,} tokens of {budget:,}")
        before = next((one for one in held if one.key == entry.key), None)
        grows = before is None or len(entry.content or "") > len(before.content or "")
        limits = [quotas.refuse_kept(space, self._quota)] if grows else []
        change = self._database.primary.rehearse if call.dry_run else self._database.primary.write
        try:
            change([topics.put_entry(space, holder, entry, call.now), *limits])
        except Refused as refused:
            if refused.code == Refusal.QUOTA_EXCEEDED:
                raise QuotaExceeded(space.space.name, None) from refused
            raise
        return entry

    def release(self, conversation: Conversation, key: str, call: Call) -> None:
        """Release what is at a key. Raises `NotFound` when nothing is."""
        _, holder, held = self._entries(conversation, call)
        if all(one.key != key for one in held):
            raise NotFound("working memory", f"{conversation.name}/{key}")
        if not call.dry_run:
            self._database.primary.write([topics.release_entries(holder, key)])

    def show(self, conversation: Conversation, encoding: str, count: Count, budget: int, call: Call) -> Working:
        """Return what the working memory holds within a budget, and what it has evicted.

        Raises:
            InvalidInput: the budget cannot be accepted.
        """
        if not 1 <= budget <= BUDGET_MAX:
            raise InvalidInput.at("$.token_budget", f"{budget:,} is not between 1 and {BUDGET_MAX:,}")
        space, _, entries = self._entries(conversation, call)
        kept = self._held(space, entries, count, call)
        gone = [one for one in kept if one.reason is not None]
        turns = self._turns(space, conversation, count, call, {one.memory_id for one in kept})
        order = sorted(
            (one for one in kept if one.reason is None), key=lambda one: (not one.pinned, -(one.priority or 0))
        )
        held, evicted = _chosen([*order, *sorted(turns, key=lambda one: -(one.value or 0.0))], count, budget)
        text = _text(held)
        return Working(
            token_budget=budget,
            encoding=encoding,
            text=text,
            tokens=count(text),
            reserved=_reserved(held),
            held=tuple(held),
            evicted=(*gone, *evicted),
            seq=Seq(space.space.epoch, space.space.seq),
        )

    def _entries(self, conversation: Conversation, call: Call) -> tuple[SpaceRow, Memory, list[Entry]]:
        of = conversation.category, conversation.name
        space, (rows,) = read(
            self._database.primary,
            conversation.space,
            lambda row: [hierarchy.objects(row, *of, call.now, "conversation")],
        )
        if not rows:
            raise NotFound("conversation", conversation.name)
        holder = version_rows.memory(rows[0], conversation.space)
        (kept,) = self._database.primary.read([topics.entries(holder, call.now)])
        return space, holder, [topics.entry(row) for row in kept]

    def _held(self, space: SpaceRow, entries: Sequence[Entry], count: Count, call: Call) -> list[Held]:
        """Return entries with their texts and tokens; a memory that is not there any more has the reason `gone`."""
        found: list[Held] = []
        for entry in entries:
            held = Held(
                source=entry.source,
                tokens=entry.tokens or 0,
                key=entry.key,
                memory_id=entry.memory_id,
                text=entry.content or "",
                pinned=entry.pinned,
                priority=entry.priority,
                expires_at=entry.expires_at,
            )
            if entry.memory_id is not None:
                try:
                    _, memory = find(self._database.primary, space, entry.memory_id, call.caller, call.now)
                    held = replace(held, text=_said(memory), turn=memory.turn)
                except NotFound:
                    held = replace(held, reason="gone")
            found.append(replace(held, tokens=count(held.text + "\n")) if held.text else held)
        return found

    def _turns(
        self, space: SpaceRow, conversation: Conversation, count: Count, call: Call, without: set[str | None]
    ) -> list[Held]:
        of = conversation.category, conversation.name
        (rows,) = self._database.primary.read([topics.recent(space, *of, call.now, TURNS)])
        memories = [version_rows.memory(row, conversation.space) for row in reversed(rows)]
        if not memories:
            return []
        (said,) = self._database.primary.read([topics.said(space, *of, (memories[0].turn or 0) - 1, call.now)])
        by_turn = {one.turn: one for one in topics.read_said(said)}
        known = [(memory, by_turn[memory.turn]) for memory in memories if memory.turn in by_turn]
        vectors = np.array(vectors_of([one for _, one in known], dimensions_of(space)), np.float32)
        turns = _valued([memory for memory, _ in known], vectors, count, call.now)
        return [one for one in turns if one.memory_id not in without]


def _valued(memories: Sequence[Memory], vectors: Vectors, count: Count, now: int) -> list[Held]:
    """Return turns with their values, and what makes these."""
    terms = [set(tokenize(memory.content)) for memory in memories]
    uses = Counter(term for some in terms for term in some)
    subject = vectors[-LATEST:].sum(axis=0)
    length = float(np.linalg.norm(subject))
    found: list[Held] = []
    for place, memory in enumerate(memories):
        at = to_us(memory.event_at or memory.created_at)
        mass = sum(math.log((len(memories) + 1) / (uses[term] + 0.5)) for term in terms[place])
        said = joint(signals(one.text, author=one.speaker, reference=at) for one in messages_of(memory))
        weight = importance(said, novelty=novelty(vectors[place], vectors[:place]), mass=mass)
        strength = {
            "importance": weight.value,
            "recency": 0.5 ** (max(0, now - at) / HALF_LIFE),
            "coherence": max(0.0, float(vectors[place] @ subject) / length) if length else 0.0,
        }
        parts = {name: round(share * strength[name], 4) for name, share in SHARES.items()}
        text = _said(memory)
        found.append(
            Held(
                source="turn",
                tokens=count(text + "\n"),
                memory_id=memory.id,
                turn=memory.turn,
                text=text,
                value=round(math.fsum(parts.values()), 4),
                parts=parts,
                acts=said.acts,
                importance=weight.parts,
            )
        )
    return found


def _chosen(order: Sequence[Held], count: Count, budget: int) -> tuple[list[Held], list[Held]]:
    """Take what fits, in order; the text as a whole is counted, since tokens may not add up."""
    held: list[Held] = []
    evicted: list[Held] = []
    left = budget
    for one in order:
        if one.tokens <= left:
            held.append(one)
            left -= one.tokens
        else:
            evicted.append(replace(one, reason="budget"))
    while held and count(_text(held)) + _reserved(held) > budget:
        evicted.append(replace(held.pop(), reason="budget"))
    return sorted(held, key=_place), evicted


def _text(held: Sequence[Held]) -> str:
    return "".join(f"{one.text}\n" for one in sorted(held, key=_place) if one.text)


def _place(one: Held) -> tuple[int, int]:
    """Return the place of something in the text: what callers keep first, then the turns."""
    return (0, 0) if one.source != "turn" else (1, one.turn or 0)


def _reserved(held: Sequence[Held]) -> int:
    return sum(one.tokens for one in held if one.source == "reserved")


def _said(memory: Memory) -> str:
    """Return a memory as a line for each of its messages, with the speaker."""
    lines = [(one.speaker, " ".join(one.text.split())) for one in messages_of(memory)]
    return "\n".join(f"{speaker}: {text}" if speaker else text for speaker, text in lines)


def _check(entry: Entry) -> None:
    problems: list[Problem] = []
    if not entry.key.strip() or len(entry.key) > NAME_MAX:
        problems.append(Problem("$.key", f"must have 1 to {NAME_MAX} characters that are not all blank"))
    if sum(value is not None for value in (entry.memory_id, entry.content, entry.tokens)) != 1:
        problems.append(Problem("$", "give one of `memory_id`, `content` and `tokens`"))
    if entry.content is not None and len(entry.content) > TEXT_MAX:
        problems.append(
            Problem("$.content", f"has {len(entry.content):,} characters; at most {TEXT_MAX:,} are allowed")
        )
    if entry.tokens is not None and not 1 <= entry.tokens <= BUDGET_MAX:
        problems.append(Problem("$.tokens", f"{entry.tokens:,} is not between 1 and {BUDGET_MAX:,}"))
    if not 0 <= entry.priority <= PRIORITY_MAX:
        problems.append(Problem("$.priority", f"{entry.priority} is not between 0 and {PRIORITY_MAX}"))
    if problems:
        raise InvalidInput(problems)
