"""What was found a moment ago, and by whom: what comes straight back as a new memory is an echo.

In the memory of this process, bounded and best-effort: another process knows nothing of it.
"""

import re
from collections import OrderedDict, deque
from collections.abc import Iterator, Sequence

from core.framing import WORDS_MIN, unframed
from core.text import normalise
from core.times import SECOND_US
from core.values import Memory
from core.waiting import Lock

CALLERS = 256  # in a space each; those who searched longest ago are forgotten
KEPT = 64  # memories of each
TEXT = 4_000  # characters of a memory that are compared; a longer text is no echo
WITHIN_US = 900 * SECOND_US
SHOWN = 10  # memories that are named

_SENTENCES = re.compile(r"""[.!?]+["')\]]*\s+|[。！？\r\n]+""")
_WORDS = re.compile(r"[-+$€£]?\w(?:\S*\w)?%?")


_Waiting = tuple[int, str, str]  # when, which memory, and its text
_Read = tuple[int, str, frozenset[int]]  # the same, and the hashes of its sentences


class _Given:
    """What somebody was given. Texts are read when they are first compared, and then let go."""

    __slots__ = ("_read", "_waiting")

    def __init__(self) -> None:
        self._waiting: deque[_Waiting] = deque(maxlen=KEPT)
        self._read: deque[_Read] = deque(maxlen=KEPT)

    def note(self, memories: Sequence[Memory], now: int) -> None:
        self._waiting.extend([(now, memory.id, memory.content[:TEXT]) for memory in memories])

    def since(self, at: int) -> list[_Read]:
        self._read.extend((then, memory_id, _hashes(text)) for then, memory_id, text in self._waiting)
        self._waiting.clear()
        return [one for one in self._read if one[0] >= at]


class Served:
    """Who was given what of which space, which is named by its epoch. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._given: OrderedDict[tuple[str, str], _Given] = OrderedDict()

    def note(self, actor: str, epoch: str, memories: Sequence[Memory], now: int) -> None:
        """Somebody was given memories; `now` in microseconds."""
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
        """The ids of the memories that a text only repeats, the most repeated first.

        None when it has a sentence that is in none of them. Words that only frame a sentence, such as "note to self",
        and sentences of nothing else take no part.
        """
        with self._lock:
            given = self._given.get((actor, epoch))
            known = [] if given is None else given.since(now - WITHIN_US)
        if not known or len(text) > TEXT:
            return ()
        read = list(_read_sentences(text))
        said = [forms for forms, is_frame in read if not is_frame] or [forms for forms, _ in read]
        common: dict[str, set[int]] = {}
        for _, memory_id, held in known:
            places = {place for place, forms in enumerate(said) if not held.isdisjoint(forms)}
            if places:
                common[memory_id] = places
        if not said or len(set[int]().union(*common.values())) < len(said):
            return ()
        return tuple(sorted(common, key=lambda one: -len(common[one]))[:SHOWN])

    def forget(self, epoch: str) -> None:
        """Nothing of a space was given to anybody."""
        with self._lock:
            for known in [each for each in self._given if each[1] == epoch]:
                del self._given[known]


def _hashes(text: str) -> frozenset[int]:
    return frozenset(one for forms, _ in _read_sentences(text) for one in forms)


def _read_sentences(text: str) -> Iterator[tuple[frozenset[int], bool]]:
    """Yield for each sentence the hashes of it as it is and without its frame, and whether it is only a frame."""
    for sentence in sentences(text):
        inner = unframed(sentence.split(" "))
        forms = {sentence, " ".join(inner)} if len(inner) >= WORDS_MIN else {sentence}
        yield frozenset(map(hash, forms)), not inner


def sentences(text: str) -> Iterator[str]:
    """The sentences and lines of a text as they are compared: without case, width, punctuation and bullets.

    >>> list(sentences('> "Ann likes tea." - since -3 °C!\\n'))
    ['ann likes tea', 'since -3 c']
    """
    for part in _SENTENCES.split(text):
        if sentence := " ".join(_WORDS.findall(normalise(part))):
            yield sentence
