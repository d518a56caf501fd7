"""Whom a question asks about: the speakers that it names, or one of the two sides of a chat.

"What did Caroline say about her dog?" is about Caroline's turns, "What did I say?" about the user's, "What did you
recommend?" about the assistant's. "Can you tell me" asks for nothing of that kind. English only.
"""

import re
from collections.abc import Mapping, Sequence

from core.text import fold

USERS = frozenset({"user", "human", "me", "customer"})
ASSISTANTS = frozenset({"assistant", "ai", "bot", "agent", "model", "system", "chatbot"})

_WORD = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"['’]s\b")
_FIRST = re.compile(r"\b(?:i|me|my|mine|we|our|us|ours|myself)\b")
_SECOND = re.compile(r"\b(?:you|your|yours)\b")
_REQUEST = re.compile(
    r"\b(?:can|could|would|will|might|do|should) you\b(?! (?:recommended|suggested|said|told|mentioned))"
    r"|\byou (?:can|could|would|might|please)\b|\b(?:if|whether) you\b|\b(?:tell|give|show|remind|let|help) me\b"
    r"|\bthank you\b|\bdo you (?:know|remember|recall|think)\b"
)


class Speakers:
    """The speakers of a space, by their folded names; the place of a name is its code."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self._words = [frozenset(_WORD.findall(name)) for name in names]
        self._named: dict[str, list[int]] = {}
        for code, words in enumerate(self._words):
            for word in words:
                self._named.setdefault(word, []).append(code)
        self._users = [code for code, name in enumerate(names) if name in USERS]
        self._assistants = [code for code, name in enumerate(names) if name in ASSISTANTS]

    def asked(self, question: str) -> Mapping[int, float]:
        """How much a question asks about a speaker, in (0, 1], by code.

        A whole name counts 1; a part of it, with a capital letter where the question has any, as much as the part is
        that speaker's alone.

        >>> Speakers(["ann lee", "bob lee", "user"]).asked("What did Ann Lee tell me about Lee?")
        {0: 1.0, 1: 0.5}
        """
        if not self.names:
            return {}
        words = _WORD.findall(_POSSESSIVE.sub(" ", question))
        every = {fold(word) for word in words}
        capital = {fold(word) for word in words if word[0].isupper()} or every
        found: dict[int, float] = {}
        for word in every:
            for code in self._named.get(word, ()):
                if self._words[code] <= every:
                    found[code] = 1.0
                elif word in capital:
                    found[code] = max(found.get(code, 0.0), 1 / len(self._named[word]))
        for code in (*self._users, *self._assistants):
            found.pop(code, None)
        first, second = sides(question) if self._users or self._assistants else (False, False)
        chosen = self._assistants if second else self._users if first else ()
        return dict(sorted({**found, **dict.fromkeys(chosen, 1.0)}.items()))


def sides(question: str) -> tuple[bool, bool]:
    """Whether a question is about what its asker, and what its reader, said or did.

    >>> sides("Can you tell me what I said?"), sides("What did you recommend?")
    ((True, False), (False, True))
    """
    told = _REQUEST.sub(" ", question.casefold().replace("’", "'"))
    return _FIRST.search(told) is not None, _SECOND.search(told) is not None
