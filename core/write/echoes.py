"""Remember what each caller has just found. A new memory that only repeats it is an echo.

The memory of this process holds it, bounded and best-effort; other processes do not know it.
"""

from collections import Counter, OrderedDict, deque
from collections.abc import Iterator, Sequence
from typing import cast

import msgspec
from msgspec.structs import replace

from muisti.core.model.collisions import Echo
from muisti.core.model.ids import id_text
from muisti.core.model.outcomes import Flag
from muisti.core.model.spaces import Policy
from muisti.core.model.times import SECOND_US
from muisti.core.model.values import SOURCES_MAX, Draft, Memory
from muisti.core.store.database import Database
from muisti.core.store.sql import memories
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.support.memo import holds_texts
from muisti.core.support.regex import regex
from muisti.core.support.waiting import Lock
from muisti.core.text.sentences import WORDS_MIN, unframed
from muisti.core.text.terms import uniform
from muisti.core.write.calls import Call
from muisti.core.write.prepare import canonical

CALLERS = 256  # in all spaces; the callers who searched longest ago are dropped
KEPT = 64  # memories of each caller
TEXT = 4_000  # characters of a memory that are compared; a longer text is no echo
WITHIN_US = 900 * SECOND_US
SHOWN = 10  # memories that are named

# Possessive, and a run is matched only from its beginning: the time is linear in the text.
_SENTENCES = regex(r"""[.!?。！？\r\n](?:(?<=[.!?])(?<![.!?].)[.!?]*+["')\]]*+\s++|(?<=[。！？\r\n])[。！？\r\n]*+)""")
_WORDS = regex(r"[-+$€£]?\w(?:\S*\w)?%?")


_Waiting = tuple[int, str, str]  # time, id and text of a memory
_Read = tuple[int, str, frozenset[int]]  # time, id and the hashes of its sentences


class _Given:
    """Memories that a caller was given. Texts are hashed when they are first compared, and then dropped."""

    __slots__ = ("_read", "_waiting")

    def __init__(self) -> None:
        self._waiting: deque[_Waiting] = deque(maxlen=KEPT)
        self._read: deque[_Read] = deque(maxlen=KEPT)

    def note(self, memories: Sequence[Memory], now: int) -> None:
        self._waiting.extend([(now, memory.id, memory.content[:TEXT]) for memory in memories])

    def since(self, at: int) -> list[_Read]:
        if self._waiting:
            self._read.extend((then, memory_id, _hashes(text)) for then, memory_id, text in self._waiting)
            self._waiting.clear()
        while self._read and self._read[0][0] < at:
            self._read.popleft()
        return list(self._read)


class RecentResults:
    """Recent results by caller and space. The epoch identifies a space. Instances are thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._given: OrderedDict[tuple[str, str], _Given] = OrderedDict()
        holds_texts(self, "forget")

    def note(self, actor: str, epoch: str, memories: Sequence[Memory], now: int) -> None:
        """Remember that a caller was given memories. `now` is in microseconds."""
        if not memories:
            return
        with self._lock:
            given = self._given.get((actor, epoch))
            if given is None:
                given = self._given[actor, epoch] = _Given()
            given.note(memories, now)
            self._given.move_to_end((actor, epoch))
            if len(self._given) > CALLERS:
                self._given.popitem(last=False)

    def echoed(self, actor: str, epoch: str, text: str, now: int) -> tuple[str, ...]:
        """Return the ids of the memories that a text only repeats, the most repeated first.

        Return none when a sentence of the text is in no memory. Words that only introduce a sentence ("note to self"),
        and sentences that consist of such words, are ignored.
        """
        with self._lock:
            given = self._given.get((actor, epoch))
            known = [] if given is None else given.since(now - WITHIN_US)
        if not known or len(text) > TEXT:
            return ()
        said: list[list[str]] = []  # the memories that have each sentence
        frames: list[list[str]] = []
        for sentence in sentences(text):
            forms, is_frame = _forms(sentence)
            having = [memory_id for _, memory_id, held in known if not held.isdisjoint(forms)]
            if not having and not is_frame:
                return ()  # most texts return here, at their first sentence
            (frames if is_frame else said).append(having)
        repeated = said or frames
        if not all(repeated):
            return ()
        counts = Counter(memory_id for having in repeated for memory_id in dict.fromkeys(having))
        return tuple(memory_id for memory_id, _ in counts.most_common(SHOWN))

    def forget(self) -> None:
        """Forget all results."""
        with self._lock:
            self._given.clear()


class EchoCheck(msgspec.Struct, frozen=True):
    """Check drafts for echoes. `default` is the policy of spaces without their own."""

    database: Database
    recent_results: RecentResults
    default: Policy

    def marked(self, space: SpaceRow, draft: Draft, call: Call, path: str) -> tuple[Draft, tuple[Flag, ...]]:
        """Return the draft to store. An echo is derived from the memories that it repeats.

        `path` locates the draft in the request. A draft that names one of these memories in `derived_from` is no echo.

        Raises:
            Echo: the policy refuses echoes.
        """
        echoes = space.space.policy.over(self.default).echoes
        if echoes is None or echoes == "allow":
            return draft, ()
        ids = self.recent_results.echoed(call.caller.actor, space.space.epoch, draft.content, call.now)
        if not ids or not set(ids).isdisjoint(canonical(draft.derived_from)):
            return draft, ()
        if echoes == "refuse":
            raise Echo(ids, path)
        sources = (*draft.derived_from, *self._living(space, ids, call))[:SOURCES_MAX]
        return replace(draft, derived_from=sources), (Flag(code="echo", path=f"{path}.content", ids=ids),)

    def asks_nothing(self, space: SpaceRow) -> bool:
        """Return whether the space allows echoes, so that no check is needed."""
        return space.space.policy.over(self.default).echoes in (None, "allow")

    def _living(self, space: SpaceRow, ids: tuple[str, ...], call: Call) -> list[str]:
        """Return the memories that are still current. A deleted memory may be repeated but cannot be a source."""
        (rows,) = self.database.read([memories.trusts(space, ids, living=True)])
        found = {id_text(cast(bytes, row[0])) for row in rows if call.caller.shows(row[2])}
        return [one for one in ids if one in found]


def _hashes(text: str) -> frozenset[int]:
    return frozenset(one for sentence in sentences(text) for one in _forms(sentence)[0])


def _forms(sentence: str) -> tuple[frozenset[int], bool]:
    """Return the hashes of a sentence with and without an introduction, and whether it is only an introduction."""
    inner = unframed(sentence.split(" "))
    forms = {sentence, " ".join(inner)} if len(inner) >= WORDS_MIN else {sentence}
    return frozenset(map(hash, forms)), not inner


def sentences(text: str) -> Iterator[str]:
    """Return the sentences and lines of a text as they are compared: without case, width, punctuation and bullets.

    >>> list(sentences('> "Ann likes tea." - since -3 °C!\\n'))
    ['ann likes tea', 'since -3 c']
    """
    return filter(None, map(_compared, _SENTENCES.split(text)))


def _compared(sentence: str) -> str:
    return " ".join(_WORDS.findall(uniform(sentence)))
