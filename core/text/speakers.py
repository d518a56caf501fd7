"""Speakers and other names: whom a question is about, and the names that texts state for one another.

"What did Caroline say about her dog?" is about Caroline's turns, "What did I say?" about the user's, and "What did you
recommend?" about the assistant's. "Can you tell me" is about neither side. English only.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from muisti.core.support.memo import Memo
from muisti.core.text.scripts import unmarked
from muisti.core.text.terms import fold

USERS = frozenset({"user", "human", "me", "customer"})
ASSISTANTS = frozenset(
    {"assistant", "ai", "bot", "agent", "model", "system", "chatbot", "tool", "function", "developer"}
)
_SIDES = USERS | ASSISTANTS

_WORD = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"['’]s\b")
_FIRST = re.compile(r"\b(?:i|me|my|mine|we|our|us|ours|myself)\b")
_SECOND = re.compile(r"\b(?:you|your|yours)\b")
_SUMMARY = re.compile(r"\bsummar", re.IGNORECASE)
_REQUEST = re.compile(
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


# Find other names that texts state: "pg is short for Postgres", "k8s means Kubernetes", "JavaScript (JS)"


READ = 300  # characters of a text that are read
MEMO = 10_000  # texts whose names are remembered
LONGEST = 1_000  # characters of such a text
SHORTEST = 2  # characters of a name
WORDS = 4  # of a name, at most
DEFINITION = 80  # characters of a text that says nothing but that two names are the same
_NAME = r"[\w+#](?:[\w+#.&-]*[\w+#])?"
_BETWEEN = re.compile(
    r" (?P<stated>(?:is|was) (?:short|an? (?:abbreviation|acronym|alias)|another (?:name|word)|our (?:name|word)) "
    r"(?:for|of)|stands for|aka|a\.k\.a\.|is also (?:called|known as)) | (?:means|=) | \(",
    re.IGNORECASE,
)
_MARKS = (
    *("(", " = ", " means ", "short", "abbreviation", "acronym", "alias", "another", "our name", "our word"),
    *("stands", "aka", "a.k.a.", "also"),
)  # of which what _BETWEEN finds has one
_LEFT = re.compile(rf"{_NAME}(?: {_NAME}){{0,{WORDS - 1}}}$")
_RIGHT = re.compile(rf"(?:the )?({_NAME}(?: {_NAME}){{0,{WORDS - 1}}})\s*(?:[.,;:!)]|$)")
_WORDS = re.compile(_NAME)
_MEANING = re.compile(r"\b(?:means?|meaning|stands? for|short for|abbreviation|acronym|alias|called)\b", re.IGNORECASE)


def stated(text: str) -> Iterator[tuple[str, str]]:
    """Yield the pairs of names that a text says to be the same.

    >>> [*stated("Here pg is short for Postgres, and we write JavaScript (JS). Silence means consent.")]
    [('pg', 'Postgres'), ('JavaScript', 'JS')]
    """
    text = text[:READ]
    lower = text.lower()
    if not any(map(lower.__contains__, _MARKS)):  # most texts: the pattern takes ten times as long
        return
    for found in _BETWEEN.finditer(text):
        left, right = _LEFT.search(text[max(0, found.start() - 80) : found.start()]), _RIGHT.match(text, found.end())
        if left is None or right is None:
            continue
        words, other = left[0].split(" "), right[1]
        if found["stated"]:
            yield words[-1], other
            continue
        names = [" ".join(words[-number:]) for number in range(1, len(words) + 1)]
        same = [one for one in names if _abbreviates(one, other) or _abbreviates(other, one)]
        yield from ((one, other) for one in same[-1:])


def others(query: str, texts: Iterable[str]) -> list[str]:
    """Return the other names of what a query names, by these texts, without those that it has already.

    >>> others("Is billing on pg?", ["pg is short for Postgres", "Postgres means PostgreSQL"])
    ['Postgres']
    """
    words, found = "", dict[str, None]()
    for text in texts:
        for names in _NAMES[text]:
            words = words or _words(query)
            for one, other in (names, names[::-1]):
                if len(one) >= SHORTEST and f" {fold(one)} " in words and f" {fold(other)} " not in words:
                    found[other] = None
    return [*found]


def defining(query: str, texts: Sequence[str]) -> list[bool]:
    """Return a flag for each text that only says that two names of a query are the same.

    None is flagged where the query asks what a name means, or no other text has one of the names.

    >>> defining("Is billing on pg? Postgres", ["pg is short for Postgres.", "Billing uses Postgres."])
    [True, False]
    >>> defining("What is pg short for? Postgres", ["pg is short for Postgres.", "Billing uses Postgres."])
    [False, False]
    """
    asked, found = _words(query), [False] * len(texts)
    if _MEANING.search(query):
        return found
    names = set[str]()
    for place, text in enumerate(texts):
        if len(text) <= DEFINITION and "(" not in text:
            pairs = [pair for pair in _NAMES[text] if all(f" {fold(one)} " in asked for one in pair)]
            found[place] = bool(pairs)
            names.update(fold(one) for pair in pairs for one in pair)
    if not names:
        return found
    rest = [_words(text) for text, defines in zip(texts, found, strict=True) if not defines]
    return found if any(f" {name} " in text for text in rest for name in names) else [False] * len(texts)


def _words(text: str) -> str:
    return f" {' '.join(_WORDS.findall(fold(text)))} "


def _abbreviates(short: str, long: str) -> bool:
    """Return whether the letters of one name occur in this order in a longer one, from its first."""
    letters, rest = [one for one in fold(short) if one.isalpha()], iter(fold(long))
    if len(short) < SHORTEST or len(short) > len(long) // 2 + 1 or not letters or fold(long)[:1] != letters[0]:
        return False
    return all(letter in rest for letter in letters)


_NAMES = Memo(lambda text: tuple(stated(text)), MEMO, LONGEST)
