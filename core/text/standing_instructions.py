"""Find standing instructions: sentences that say how to act from now on, such as "Always use SI units when I ask about
physics". English only.

The scope clause says to what an instruction applies: here "physics". An instruction without one applies to everything.
A sentence is taken for an instruction only when it has a mark of one, gives an order, and has no other subject.
"Whenever I ask him, he says no" is none. An assistant's advice and a question are none either.
"""

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from muisti.core.model.messages import Message, messages
from muisti.core.model.values import Json
from muisti.core.support.regex import regex
from muisti.core.text.sentences import Piece, pieces
from muisti.core.text.speakers import ASSISTANTS, USERS
from muisti.core.text.terms import fold

READ = 2_000  # characters of a text that are read
TRUST_MIN = 50  # percent; anybody may write a web page, and its text must not choose to be an instruction
LINE = 200  # characters of the longest lone sentence that needs no other mark than its first word

# Words and phrases, in lower case, of which each recognised instruction has one; an index finds by them what to read.
MARKS: tuple[str, ...] = (
    "always",
    "never",
    "whenever",
    "i ask",
    "i request",
    "i mention",
    "i discuss",
    "i talk",
    "from now on",
    "going forward",
)

# What an agent can be asked to do.
_LISTED = """
add address adhere answer apply ask assume avoid back be begin call check choose cite clarify combine commit compare
confirm consider convert create default deliver describe display do double-check end ensure exclude explain express
focus follow format generate give greet guide highlight ignore include indicate keep leave limit link list maintain
make mark mention name note offer omit order output pick point prefer present prioritise prioritize propose provide
put quote read recommend refer remember remind reply report respect respond return run say send show sign skip speak
specify spell start state stick structure suggest summarise summarize tailor take tell test treat try update use
verify warn work write
"""
_VERBS = frozenset(_LISTED.split())
_LEAD = regex(
    r"(?i)(?:[-*•>]|user:|(?:please|also|and|but|so|ok|okay|hey|hi|oh|btw|by the way|note|remember|reminder|important"
    r"|rule|instruction|just)\b[,:!.]?)\s+"
)
_LEADS = 4  # of these before a sentence, at most
_ORDER = regex(
    r"(?i)(?:please|(?:always|never)(?! (?:an?|been|fun|glad|good|great|happy|nice|so|the)\b)|do not|don['’]t|make sure"
    r"|be sure|remember to|you (?:should|must|need to|have to|are to|will|can)"
    r"|(?:i|we)(?:['’]d| would)? (?:want|like|need|expect|prefer) (?:you|it if you))\b"
)
_WORD = regex(r"(?:only )?([a-z-]+)\b(?! up\b)", re.IGNORECASE)
_ASKED = regex(
    r"(?i)\b(?:when(?:ever)?|if|(?:each|every|any) ?time(?: that)?) i (?:ask|request|mention|discuss|talk)\b"
    r"(?: you)?(?: (?:questions? )?(?:about|for|to|on|regarding|how to|how|what|which|why|where|whether))?\s*"
)
_FROM_NOW_ON = regex(r"(?i)(?:from now on|going forward)\b,?\s*")
_ALWAYS = regex(r"(?i)(?:always|never) ")
_WISHES = regex(
    r"(?i)\b(?:(?:i|we)(?:['’]d| would)? (?:want|like|need|expect|prefer) you to|please,?) (?:always|never) "
)
_DUTIES = regex(r"(?i)(?:remember to|make sure (?:to|you)|be sure to) (?:always|never) ")
_CLAUSE = regex(  # of time or condition, in a sentence that is known to be an instruction
    r"(?i)\b(?:when(?:ever)?|while|if|before|after|unless|(?:each|every|any) ?time(?: that)?)\s+"
    r"(?:(?:you(?: are|['’]re)?|i(?: am|['’]m)?|we(?: are|['’]re)?)\s+)?"
)
_BEFORE = frozenset({"", "and", "also", "so", "please", "from now on", "going forward", "remember"})
_COMMA = regex(r"[,;:]\s*(?:then )?")
_STOP = regex(r"[,;](?=\s)|\s[-–—]\s")

Span = tuple[int, int]


class Standing(Struct, frozen=True):
    """A standing instruction in a text: its sentence, and its scope clause, None where it applies to everything."""

    sentence: Piece
    scope: Piece | None


def standing(text: str, *, author: str | None = None) -> Standing | None:
    """Return the first standing instruction of a text, None when it has none.

    >>> text = "Hello! Always use SI units when I ask about physics."
    >>> found = standing(text)
    >>> text[found.scope.start : found.scope.stop]
    'physics'
    >>> standing("Whenever I ask him, he says no.") is None
    True
    """
    text = text[:READ]
    if not has_mark(text) or (author is not None and fold(author) in ASSISTANTS):
        return None
    sentences = [piece for piece in pieces(text) if not piece.code]
    for piece in sentences:
        words = text[piece.start : piece.stop]
        if not has_mark(words) or words.endswith(("?", "？")):
            continue
        asked = _asked(words)
        if asked is not None:
            return Standing(piece, _within(piece, asked))
        if _is_general(words, lone=len(sentences) == 1 and len(text) <= LINE):
            return Standing(piece, _within(piece, _clause(words)))
    return None


def recognised(content: str, *, kind: str, trust: int, author: str | None) -> Standing | None:
    """Return the instruction in the content of a memory; None in a chunk of a document, and where trust is low."""
    return standing(content, author=author) if kind != "chunk" and trust >= TRUST_MIN else None


def asked_of(kind: str, content: str, author: str | None, structure: Mapping[str, Json]) -> Message:
    """Return the message of a turn that may give orders: the reply when it is a user's, else the first.

    >>> asked_of("exchange", "Who?\\n\\nAnn.", "user", {"reply_at": 6}).text
    'Who?'
    """
    first, *replies = messages(kind, content, author, structure)
    if not replies:
        return first
    return next((one for one in replies if one.speaker is not None and fold(one.speaker) in USERS), first)


def has_mark(text: str) -> bool:
    """Return whether a text has one of the `MARKS`, without which it has no standing instruction.

    >>> has_mark("When I ask about physics, use SI units."), has_mark("Use SI units.")
    (True, False)
    """
    return any(map(text.lower().__contains__, MARKS))


def scope_of(text: str) -> Piece | None:
    """Return the scope clause of a text that is known to be an instruction; None when it names no scope.

    >>> scope_of("Run the linter before pushing to main.")
    Piece(start=22, stop=37, code=False)
    """
    found = standing(text)
    if found is not None:
        return found.scope
    for piece in pieces(text[:READ]):
        clause = None if piece.code else _clause(text[piece.start : piece.stop])
        if clause is not None:
            return _within(piece, clause)
    return None


def _asked(words: str) -> Span | None:
    """Return the scope of an instruction about what "I ask", in the sentence; None when it is no instruction."""
    found = _ASKED.search(words)
    if found is None:
        return None
    if found.start() and any(at < found.start() and _orders(words, at) for at in _beginnings(words)):
        stop = _STOP.search(words, found.end())
        return _trimmed(words, found.end(), len(words) if stop is None else stop.start())
    if words[: found.start()].strip(" ,").lower() in _BEFORE:
        for comma in _COMMA.finditer(words, found.end()):
            if _orders(words, comma.end()):
                return _trimmed(words, found.end(), comma.start())
    return None


def _is_general(words: str, *, lone: bool) -> bool:
    """Return whether a sentence is an order for all time; a `lone` one needs no other mark than its first word."""
    for at in _beginnings(words):
        from_now_on = _FROM_NOW_ON.match(words, at)
        if from_now_on is not None and _orders(words, from_now_on.end()):
            return True
        duty = _DUTIES.match(words, at) or (_ALWAYS.match(words, at) if lone else None)
        if duty is not None and _is_verb(words, duty.end()):
            return True
        if _orders(words, at) and words.rstrip(".!").lower().endswith(("from now on", "going forward")):
            return True
    wish = _WISHES.search(words)
    return wish is not None and _is_verb(words, wish.end())


def _beginnings(words: str) -> Iterator[int]:
    """Yield the places where the sentence may begin, behind none, one or more words that lead to it."""
    at = 0
    yield at
    for _ in range(_LEADS):
        lead = _LEAD.match(words, at)
        if lead is None:
            return
        at = lead.end()
        yield at


def _orders(words: str, at: int) -> bool:
    return _ORDER.match(words, at) is not None or _is_verb(words, at)


def _is_verb(words: str, at: int) -> bool:
    word = _WORD.match(words, at)
    return word is not None and word[1].lower() in _VERBS


def _clause(words: str) -> Span | None:
    found = _ASKED.search(words) or _CLAUSE.search(words)
    if found is None:
        return None
    stop = _STOP.search(words, found.end())
    return _trimmed(words, found.end(), len(words) if stop is None else stop.start())


def _trimmed(words: str, start: int, stop: int) -> Span | None:
    stop = start + len(words[start:stop].rstrip(" .!;,:\"'”’)*\n"))
    return (start, stop) if stop > start else None


def _within(piece: Piece, span: Span | None) -> Piece | None:
    return None if span is None else Piece(piece.start + span[0], piece.start + span[1])
