"""Find standing instructions: sentences that say how to act from now on, such as "Always use SI units when I ask about
physics". English only.

The scope clause says to what an instruction applies: here "physics". An instruction without one applies to everything.
A sentence is taken for an instruction only when it has a mark of one and gives an order, and when nobody else is its
subject: "Whenever I ask him, he says no" is none. An assistant's advice and a question are none either.
"""

import re

from msgspec import Struct

from muisti.core.text.sentences import Piece, pieces
from muisti.core.text.speakers import ASSISTANTS
from muisti.core.text.terms import fold

READ = 2_000  # characters of a text that are read
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

_LEAD = (
    r"(?:[-*•>]\s*)?(?:user:\s*)?(?:(?:please|also|and|but|so|ok|okay|hey|hi|oh|btw|by the way|note|remember|reminder"
    r"|important|rule|instruction|one more thing|just)\b[,:!.]?\s+){0,3}"
)
_VERB = (  # of what an agent can be asked to do
    r"(?:add|address|adhere|answer|apply|ask|assume|avoid|back|be|begin|call|check|choose|cite|clarify|combine|commit"
    r"|compare|confirm|consider|convert|create|default|deliver|describe|display|do|double-check|end|ensure|exclude"
    r"|explain|express|focus|follow|format|generate|give|greet|guide|highlight|ignore|include|indicate|keep|leave|limit"
    r"|link|list|maintain|make|mark|mention|name|note|offer|omit|order|output|pick|point|prefer|present|prioriti[sz]e"
    r"|propose|provide|put|quote|read|recommend|refer|remember|remind|reply|report|respect|respond|return|run|say|send"
    r"|show|sign|skip|speak|specify|spell|start|state|stick|structure|suggest|summari[sz]e|tailor|take|tell|test|treat"
    r"|try|update|use|verify|warn|work|write)"
)
_ORDER = (
    rf"(?:please\b|always\b|never\b|(?:do not|don['’]t)\b|make sure\b|be sure\b|remember to\b|only {_VERB}\b"
    r"|you (?:should|must|need to|have to|are to|will|can)\b|(?:i|we)(?:['’]d| would)? (?:want|like|need|expect|prefer)"
    rf" (?:you|it if you)\b|{_VERB}\b)"
)
_ASKED = re.compile(
    r"(?i)\b(?:when(?:ever)?|if|(?:each|every|any) ?time(?: that)?) i (?:ask|request|mention|discuss|talk)\b"
    r"(?: you)?(?: (?:questions? )?(?:about|for|to|on|regarding|how to|how|what|which|why|where|whether))?\s*"
)
_FROM_NOW_ON = r"(?:from now on|going forward)"
_BEGINS = re.compile(rf"(?i)^{_LEAD}{_ORDER}")
_FOLLOWS = re.compile(rf"(?i)[,;:]\s*(?:then )?(?={_ORDER})")
_UNSCOPED = re.compile(
    rf"(?i)^{_LEAD}{_FROM_NOW_ON}[,:]?\s+{_ORDER}|^{_LEAD}{_ORDER}[^,;]*,? {_FROM_NOW_ON}\W*$"
    r"|\b(?:i|we)(?:['’]d| would)? (?:want|like|need|expect|prefer) you to (?:always|never)\b"
    rf"|^{_LEAD}(?:remember to|make sure (?:to|you)|be sure to|you (?:should|must|need to|are to))\s+(?:always|never) {_VERB}\b"
    rf"|\bplease,? (?:always|never) {_VERB}\b"
)
_LONE = re.compile(rf"(?i)^{_LEAD}(?:always|never) {_VERB}\b")
_CLAUSE = re.compile(  # of time or condition, in a sentence that is known to be an instruction
    r"(?i)\b(?:when(?:ever)?|while|if|before|after|unless|(?:each|every|any) ?time(?: that)?)\s+"
    r"(?:(?:you(?: are|['’]re)?|i(?: am|['’]m)?|we(?: are|['’]re)?)\s+)?"
)
_STOP = re.compile(r"[,;](?=\s)|\s[-–—]\s")


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
    if author is not None and fold(author) in ASSISTANTS:
        return None
    text = text[:READ]
    if not has_mark(text):
        return None
    sentences = [piece for piece in pieces(text) if not piece.code]
    for piece in sentences:
        words = text[piece.start : piece.stop]
        if words.endswith(("?", "？")):
            continue
        asked = _asked(words)
        if asked is not None:
            return Standing(piece, _within(piece, asked))
        lone = len(sentences) == 1 and len(text) <= LINE and _LONE.match(words)
        if lone or _UNSCOPED.search(words):
            return Standing(piece, _within(piece, _clause(words)))
    return None


def has_mark(text: str) -> bool:
    """Return whether a text has one of the `MARKS`, without which it has no standing instruction.

    >>> has_mark("When I ask about physics, use SI units."), has_mark("Use SI units.")
    (True, False)
    """
    lowered = text.lower()
    return any(mark in lowered for mark in MARKS)


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


def _asked(words: str) -> tuple[int, int] | None:
    """Return the scope of an instruction about what "I ask", in the sentence; None when it is no instruction."""
    found = _ASKED.search(words)
    if found is None:
        return None
    if _BEGINS.match(words) and not _BEGINS.match(words[found.start() :]):
        stop = _STOP.search(words, found.end())
        return _trimmed(words, found.end(), len(words) if stop is None else stop.start())
    if words[: found.start()].strip(" ,").lower() in _BEFORE:
        follows = _FOLLOWS.search(words, found.end())
        if follows is not None:
            return _trimmed(words, found.end(), follows.start())
    return None


_BEFORE = frozenset({"", "and", "also", "so", "please", "from now on", "going forward", "remember", "in future"})


def _clause(words: str) -> tuple[int, int] | None:
    found = _ASKED.search(words) or _CLAUSE.search(words)
    if found is None:
        return None
    stop = _STOP.search(words, found.end())
    return _trimmed(words, found.end(), len(words) if stop is None else stop.start())


def _trimmed(words: str, start: int, stop: int) -> tuple[int, int] | None:
    stop = start + len(words[start:stop].rstrip(" .!;,:\"'”’)*\n"))
    return (start, stop) if stop > start else None


def _within(piece: Piece, span: tuple[int, int] | None) -> Piece | None:
    return None if span is None else Piece(piece.start + span[0], piece.start + span[1])
