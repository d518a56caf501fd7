"""Summaries of conversations without a language model, kept up to date piece by piece.

A topic is summarised from its exchanges. A conversation is summarised from the summaries of its topics, and from the
exchanges that have no topic yet. A session is summarised from the summaries of its conversations. A summary is a
memory that is derived from those whose sentences it has, so that it is erased with them. One that is stale ends, and
another takes its place.
"""

import hashlib
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TypeVar, cast

import msgspec

from muisti.core.conversations.sql import topics
from muisti.core.conversations.topics import Conversation, spans_of
from muisti.core.identity.caller import Caller
from muisti.core.model.choices import SourceClass
from muisti.core.model.errors import InvalidInput, NotFound, PlaceTaken, SensitiveContent, StoreUnavailable
from muisti.core.model.messages import messages_of
from muisti.core.model.places import TURN_MAX
from muisti.core.model.values import SOURCES_MAX, TRUST, Draft, Memory
from muisti.core.read.reading import find_space, read
from muisti.core.store.database import Database, Rows
from muisti.core.store.sql import hierarchy, version_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.support.waiting import Overtaken
from muisti.core.text.discourse.summarise import Rarity, Turn, summarise
from muisti.core.text.terms import count_tokens, tokenize
from muisti.core.write.calls import Call
from muisti.core.write.object_writer import Keeper, Plan

# Lengths of summaries, counted as `Memory.tokens` is.
LENGTHS: Mapping[str, int] = {"exchange": 60, "topic": 100, "conversation": 300, "session": 500}
READ = 1_000  # exchanges that one summary is made from
TRIES = 8  # to make summaries that others make too
TOPICS = 8  # topics that are found between two summaries of their conversation

_NAMED = re.compile(r"([^:\n]{1,200}): (.+)", re.DOTALL)

T = TypeVar("T")
Write = Callable[[str, int], str]
"""Writes a summary of a text within a number of tokens, such as by a language model. Raises `WriteFailed`."""


class WriteFailed(Exception):
    """A summary could not be written; it consists of sentences instead."""


class Stored(msgspec.Struct, frozen=True):
    """A summary. `stale`: what it is about has changed since it was made."""

    memory: Memory
    stale: bool


class _About(msgspec.Struct, frozen=True, kw_only=True):
    """Subject of a summary. `basis` is a digest of all that it is made from, `up_to` the last turn of that."""

    of: str
    basis: str
    conversation: str | None = None
    topic: str | None = None
    session: str | None = None
    turn: int | None = None
    up_to: int | None = None

    def describes(self, summary: Memory) -> bool:
        names = ("conversation", "topic", "session", "turn")
        return summary.structure.get("of") == self.of and all(getattr(summary, n) == getattr(self, n) for n in names)

    def is_fresh(self, summary: Memory) -> bool:
        """Return whether nothing has changed since a summary was made.

        One that was imported has no digest. It holds until a later turn belongs to what it is about.
        """
        basis, up_to = summary.structure.get("basis"), summary.structure.get("up_to")
        return self.describes(summary) and (up_to == self.up_to if basis is None else basis == self.basis)


class _Known(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation as summaries see it: its summaries, what each topic is about, and the turns without a topic."""

    space: SpaceRow
    summaries: Sequence[Memory]
    topics: Mapping[str, tuple[_About, Memory]]
    rest: tuple[int, int] | None
    whole: _About  # with the turns that have no topic
    decided: _About  # without them

    def of(self, about: _About) -> Memory | None:
        return next((one for one in self.summaries if about.describes(one)), None)


class Summaries:
    """Makes and reads summaries. Thread-safe. All methods raise `NotFound` when there is no such space."""

    def __init__(self, database: Database, keeper: Keeper) -> None:
        self._database, self._keeper = database, keeper

    def of_conversation(self, conversation: Conversation, call: Call) -> list[Stored]:
        """Return the summaries of a conversation: those of topics in the order of their turns, that of all last."""
        known = self._known(conversation, call)
        abouts = [*(about for about, _ in known.topics.values()), known.whole, known.decided]
        found = [Stored(one, not any(about.is_fresh(one) for about in abouts)) for one in known.summaries]
        return sorted(found, key=lambda one: (one.memory.topic is None, _up_to(one.memory)))

    def topics_came(self, conversation: Conversation, found: Sequence[Memory], call: Call) -> None:
        """Summarise topics that were just found, and now and then the conversation.

        Until then the summary of the conversation lacks the last topics, and is stale.
        """
        space = find_space(self._database.primary, conversation.space)
        of = conversation.category, conversation.name
        asked = [topics.hashes(space, *of, call.now, (spans_of(one)[0][0], spans_of(one)[-1][1])) for one in found]
        for topic, rows in zip(found, self._database.primary.read(asked), strict=True):
            about = _of_topic(topic, _turns_said(rows))
            if about is not None:
                sources = self._exchanges(space, conversation, spans_of(topic), call)
                self._replace(space, about, None, sources, call, None)
        if any(int((topic.topic or "t0")[1:]) % TOPICS == 1 for topic in found):
            self.refresh(conversation, call, rest=False)

    def refresh(
        self, conversation: Conversation, call: Call, write: Write | None = None, *, rest: bool = True
    ) -> list[Memory]:
        """Make the summaries of a conversation that are missing or stale, and return the new ones.

        `rest`: turns that have no topic yet count. `write` writes summaries; where it is None or fails, they consist
        of sentences.
        """
        made: list[Memory] = []
        _unovertaken(lambda: self._refresh(conversation, call, write, made, rest=rest))
        return made

    def _refresh(
        self, conversation: Conversation, call: Call, write: Write | None, made: list[Memory], *, rest: bool
    ) -> None:
        known = self._known(conversation, call)
        of_topics: list[Memory] = []
        for about, topic in known.topics.values():
            held = known.of(about)
            if held is None or not about.is_fresh(held):
                sources = self._exchanges(known.space, conversation, spans_of(topic), call)
                held = self._replace(known.space, about, held, sources, call, write)
                made += [] if held is None else [held]
            of_topics += [] if held is None else [held]
        about = known.whole if rest else known.decided
        held = known.of(about)
        if held is None or not about.is_fresh(held):
            tail = self._exchanges(known.space, conversation, [known.rest], call) if rest and known.rest else []
            whole = self._replace(known.space, about, held, [*of_topics, *tail], call, write)
            made += [] if whole is None else [whole]

    def exchange(self, conversation: Conversation, turn: int, call: Call) -> Memory:
        """Return the summary of an exchange, made now where it is missing or stale; a short one is its own summary.

        Raises:
            NotFound: there is no such exchange.
        """
        return _unovertaken(lambda: self._exchange(conversation, turn, call))

    def _exchange(self, conversation: Conversation, turn: int, call: Call) -> Memory:
        known = self._known(conversation, call)
        said = self._exchanges(known.space, conversation, [(turn, turn)], call)
        if not said:
            raise NotFound("exchange", f"{conversation.name}/{turn}")
        if said[0].tokens <= LENGTHS["exchange"]:
            return said[0]
        basis = _digest([said[0].content])
        about = _About(of="exchange", basis=basis, conversation=conversation.name, turn=turn, up_to=turn)
        held = known.of(about)
        if held is not None and about.is_fresh(held):
            return held
        return self._replace(known.space, about, held, said, call, None) or said[0]

    def session(
        self, space: str, name: str, category: str | None, call: Call, write: Write | None = None
    ) -> Memory | None:
        """Return the summary of a session, made now where it is missing or stale; None when nothing is summarised.

        Raises:
            NotFound: there is no such session.
        """
        return _unovertaken(lambda: self._session(space, name, category, call, write))

    def _session(self, space: str, name: str, category: str | None, call: Call, write: Write | None) -> Memory | None:
        found, (rows, summaries) = read(
            self._database.primary, space, lambda row: topics.of_session(row, category, name, call.now)
        )
        objects, sources = _memories(rows, space), _memories(summaries, space)
        if not any(one.kind == "session" for one in objects):
            raise NotFound("session", name)
        about = _About(of="session", basis=_digest([one.content for one in sources]), session=name)
        held = next((one for one in objects if about.describes(one)), None)
        if held is not None and about.is_fresh(held):
            return held
        return self._replace(found, about, held, sources, call, write)

    def _known(self, conversation: Conversation, call: Call) -> _Known:
        of = conversation.category, conversation.name
        space, (rows, hashes) = read(
            self._database.primary,
            conversation.space,
            lambda row: [
                hierarchy.objects(row, *of, call.now, "conversation", "topic", "summary"),
                topics.hashes(row, *of, call.now),
            ],
        )
        objects = _memories(rows, conversation.space)
        if not any(one.kind == "conversation" for one in objects):
            raise NotFound("conversation", conversation.name)
        return _known(space, conversation.name, objects, _turns_said(hashes))

    def _exchanges(
        self, space: SpaceRow, conversation: Conversation, spans: Iterable[tuple[int, int]], call: Call
    ) -> list[Memory]:
        of = conversation.category, conversation.name
        asked = [hierarchy.exchanges(space, *of, span, call.now, READ) for span in spans]
        return [one for rows in self._database.primary.read(asked) for one in _memories(rows, space.space.name)]

    def _replace(
        self,
        space: SpaceRow,
        about: _About,
        held: Memory | None,
        sources: Sequence[Memory],
        call: Call,
        write: Write | None,
    ) -> Memory | None:
        """Put a new summary in the place of the one that is held; None when there is nothing to say."""
        draft = _draft(about, sources, call.caller, write)
        ends = [] if held is None else [held]
        if draft is None:
            return None
        try:
            return self._keeper.commit(space, Plan(ends=ends, comes=[draft]), call).memories[0]
        except SensitiveContent:  # the policy of the space has changed since the sources were taken
            return None
        except InvalidInput as refused:
            if all(problem.path.endswith(".derived_from") for problem in refused.problems):
                raise Overtaken from refused  # a source was erased meanwhile
            raise


def _unovertaken(make: Callable[[], T]) -> T:
    """Return what is made when nobody else makes the same summary meanwhile.

    Raises:
        StoreUnavailable: others always do.
    """
    for _ in range(TRIES):
        with suppress(Overtaken, PlaceTaken):
            return make()
    raise StoreUnavailable("others summarise the same all the time; try again")


def _known(space: SpaceRow, name: str, objects: Sequence[Memory], said: Sequence[tuple[int, bytes]]) -> _Known:
    """Digest what each topic says, and what no topic covers."""
    found: dict[str, tuple[_About, Memory]] = {}
    ordered = sorted(
        (one for one in objects if one.kind == "topic" and spans_of(one)), key=lambda one: spans_of(one)[0]
    )
    for topic in ordered:
        about = _of_topic(topic, said)
        if about is not None:
            found[topic.topic or ""] = about, topic
    end = max((spans_of(topic)[-1][1] for topic in ordered), default=-1)
    rest = [one for one in said if one[0] > end]
    bases = [about.basis for about, _ in found.values()]
    last = max((about.up_to or 0 for about, _ in found.values()), default=None)
    decided = _About(of="conversation", basis=_digest(bases), conversation=name, up_to=last)
    whole = decided
    if rest:
        whole = _About(of="conversation", basis=_digest([*bases, *rest]), conversation=name, up_to=rest[-1][0])
    return _Known(
        space=space,
        summaries=[one for one in objects if one.kind == "summary"],
        topics=found,
        rest=(end + 1, TURN_MAX) if rest else None,
        whole=whole,
        decided=decided,
    )


def _of_topic(topic: Memory, said: Sequence[tuple[int, bytes]]) -> _About | None:
    """Return what a topic's summary is about; None when nothing is said within the topic."""
    spans = spans_of(topic)
    within = [one for one in said if any(first <= one[0] <= last for first, last in spans)]
    if not within:
        return None
    return _About(
        of="topic", basis=_digest(within), conversation=topic.conversation, topic=topic.topic, up_to=within[-1][0]
    )


def _turns_said(rows: Rows) -> list[tuple[int, bytes]]:
    """Return the turns of `topics.hashes` with the hashes of their texts."""
    return [(cast(int, turn), cast(bytes, text)) for turn, text, _ in rows]


def _draft(about: _About, sources: Sequence[Memory], caller: Caller, write: Write | None) -> Draft | None:
    """Return the draft of a summary of memories; None when they say nothing."""
    turns = [turn for place, source in enumerate(sources) for turn in _turns(place, source)]
    lines = summarise(turns, LENGTHS[about.of], count_tokens, _rarity(turns))[:SOURCES_MAX]
    if not lines:
        return None
    text, method = "\n".join(line.text for line in lines), "extractive"
    used = sorted({line.number for line in lines})
    if write is not None:
        every = sorted({turn.number for turn in turns})
        given = every if len(every) <= SOURCES_MAX else used
        try:
            text, method, used = write(_said(turns, given), LENGTHS[about.of]), "abstractive", given
        except WriteFailed:
            method = "extractive"
    chosen = [sources[place] for place in used]
    classes: list[SourceClass | None] = [*(one.source_class for one in chosen), caller.source_class]
    return Draft(
        content=text,
        kind="summary",
        category=sources[0].category,
        conversation=about.conversation,
        topic=about.topic,
        session=about.session,
        turn=about.turn,
        source_class=min((one for one in classes if one is not None), key=TRUST.__getitem__),
        derived_from=tuple(one.id for one in chosen),
        event_at=chosen[-1].event_at,
        structure={"of": about.of, "up_to": about.up_to, "method": method, "basis": about.basis},
    )


def _turns(place: int, source: Memory) -> list[Turn]:
    """Return what a memory says as turns: both messages of an exchange, each line of a summary."""
    if source.kind == "summary":
        named = [(line, _NAMED.fullmatch(line)) for line in source.content.split("\n")]
        return [Turn(place, match[1], match[2]) if match else Turn(place, "", line) for line, match in named]
    return [Turn(place, one.speaker or "", one.text) for one in messages_of(source)]


def _said(turns: Sequence[Turn], places: Sequence[int]) -> str:
    chosen = frozenset(places)
    return "\n".join(f"{turn.author}: {turn.text}".removeprefix(": ") for turn in turns if turn.number in chosen)


def _rarity(turns: Sequence[Turn]) -> Rarity:
    uses = Counter(term for turn in turns for term in set(tokenize(turn.text)))
    return lambda term: math.log((len(turns) + 1) / (uses[term] + 0.5))


def _digest(parts: Iterable[object]) -> str:
    return hashlib.sha256("\n".join(map(repr, parts)).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _up_to(summary: Memory) -> int:
    turn = summary.structure.get("up_to")
    return turn if isinstance(turn, int) else -1


def _memories(rows: Rows, space: str) -> list[Memory]:
    return [version_rows.memory(row, space) for row in rows]
