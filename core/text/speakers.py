"""Find out whom a question is about: the speakers that it names, or one of the two sides of a chat.

"What did Caroline say about her dog?" is about Caroline's turns, "What did I say?" about the user's, and "What did you
recommend?" about the assistant's. "Can you tell me" is about neither side. English only.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from muisti.core.support.regex import regex
from muisti.core.text.scripts import unmarked
from muisti.core.text.terms import fold

USERS = frozenset({"user", "human", "me", "customer"})
ASSISTANTS = frozenset(
    {"assistant", "ai", "bot", "agent", "model", "system", "chatbot", "tool", "function", "developer"}
)
_SIDES = USERS | ASSISTANTS

_WORD = regex(r"[^\W_]+")
_POSSESSIVE = regex(r"['’]s\b")
_FIRST = regex(r"\b(?:i|me|my|mine|we|our|us|ours|myself)\b")
_SECOND = regex(r"\b(?:you|your|yours)\b")
_SUMMARY = regex(r"\bsummar", re.IGNORECASE)
_REQUEST = regex(
    r"\b(?:can|could|would|will|might|do|should) you\b(?! (?:recommended|suggested|said|told|mentioned))"
    r"|\byou (?:can|could|would|might|please)\b|\b(?:if|whether) you\b|\b(?:tell|give|show|remind|let|help) me\b"
    r"|\bthank you\b|\bdo you (?:know|remember|recall|think)\b"
)


NAMED = 0.4  # score gain of a memory whose speaker is named
SIDE = 0.3  # score gain of a memory from the side of a chat that is asked about


def is_side(speaker: str) -> bool:
    """Return whether a speaker is only a side of a chat, such as "user" or "AI", which names nobody.

    >>> is_side("Assistant"), is_side("Ann")
    (True, False)
    """
    return fold(speaker) in _SIDES


class Speakers:
    """Speakers of a space by their folded names. The index of a name is its code."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self._words = [frozenset(_WORD.findall(unmarked(name))) for name in names]
        self._named: dict[str, list[int]] = {}
        for code, words in enumerate(self._words):
            for word in words:
                self._named.setdefault(word, []).append(code)
        self._users = [code for code, name in enumerate(names) if name in USERS]
        self._assistants = [code for code, name in enumerate(names) if name in ASSISTANTS]

    def asked(self, question: str, speaks: Callable[[int], bool] = lambda _: True) -> Mapping[int, float]:
        """Return the score gain of each speaker's memories for a question, by the speaker's code.

        A full name gains `NAMED`. A part of a name gains less when several speakers share it. It needs a capital letter
        if the question has any. A summary is about both sides of a chat. `speaks` returns whether the speaker of a code
        is present.

        >>> Speakers(["ann lee", "bob lee", "user"]).asked("What did Ann Lee tell me about Lee?")
        {0: 0.4, 1: 0.2}
        >>> Speakers(["zoë", "bob"]).asked("What did Zoe say?")
        {0: 0.4}
        """
        if not self.names:
            return {}
        words = _WORD.findall(_POSSESSIVE.sub(" ", question))
        every = {unmarked(fold(word)) for word in words}
        capital = {unmarked(fold(word)) for word in words if word[0].isupper()} or every
        found: dict[int, float] = {}
        for word in every:
            named = [code for code in self._named.get(word, ()) if speaks(code)]
            for code in named:
                if self._words[code] <= every:
                    found[code] = NAMED
                elif word in capital:
                    found[code] = max(found.get(code, 0.0), NAMED / len(named))
        for code in (*self._users, *self._assistants):
            found.pop(code, None)
        first, second = sides(question) if self._users or self._assistants else (False, False)
        chosen = self._assistants if second else self._users if first else ()
        if _SUMMARY.search(question):
            chosen = ()
        return dict(sorted({**found, **dict.fromkeys(chosen, SIDE)}.items()))


def sides(question: str) -> tuple[bool, bool]:
    """Return whether a question is about what its asker, and what its reader, said or did.

    >>> sides("Can you tell me what I said?"), sides("What did you recommend?")
    ((True, False), (False, True))
    """
    told = _REQUEST.sub(" ", question.casefold().replace("’", "'"))
    return _FIRST.search(told) is not None, _SECOND.search(told) is not None
