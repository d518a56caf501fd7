"""The intent of a query, by rules: which mode and which filter its words ask for. English and `field:value`.

"documents tagged auth from last week" asks for memories with a tag and of a time, and for no ranking by text. Whatever
the rules do not read stays in the text to rank by, so a query without such words is a plain hybrid search. Times become
a filter only where nothing is left to rank by; else they stay in the text, and ranking favours them (core/text/when).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, tzinfo
from typing import Literal

from muisti.core.model.choices import Type
from muisti.core.model.errors import InvalidInput
from muisti.core.model.hits import Intent
from muisti.core.model.times import from_us
from muisti.core.model.values import Json
from muisti.core.query.filters import Filter, parse
from muisti.core.support.regex import regex
from muisti.core.text.when.time_spans import LONGEST, TimeSpan, time_spans

Condition = dict[str, Json]  # a filter as JSON

_WORD = r"[^\s,;:\"?!()]*[^\s,;:\"?!().]"
_ITEM = rf'(?:"[^"]+"|{_WORD})'
_NO_NAME = (
    r"(?!(?:and|or|not|the|a|an|from|in|on|at|of|since|until|before|after|during|between|by|about|with|without|that|"
    r"which|who|whose|where|written|created|added|stored|last|this|today|yesterday|is|are|was|were)\b)"
)
_NAME = rf"{_NO_NAME}{_ITEM}"
_NAMES = rf"{_NAME}(?:\s*,\s*(?:and\s+|or\s+)?{_NAME}|\s+(?:and|or)\s+(?:tag\s+)?{_NAME})*"
_ID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
_SIMILAR = regex(rf"\b(?:more\s+)?(?:similar\s+to|like)\s+(?:the\s+)?(?:memory\s+|id\s+|#)?({_ID})\b", re.IGNORECASE)
_PEOPLE = "".join(f"(?<!{one} )" for one in ("who", "they", "he", "she", "we", "you", "i"))  # "she tagged along"
_TAGS = regex(
    rf"{_PEOPLE}\b(?:(?:that\s+(?:is|are)\s+)?(?:tagged|labell?ed)\s+(?:as\s+|with\s+)?|"
    rf"with\s+(?:the\s+)?(?:tags?|labels?)\s+)({_NAMES})|(?<!\S)tags?:({_ITEM}(?:,{_ITEM})*)|"
    rf"(?<!\S)#([^\W\d_][\w./-]*)",
    re.IGNORECASE,
)
_FIELD = regex(
    rf"(?<!\S)(category|author|type|kind|status|importance|source|key|session|conversation|topic|"
    rf"metadata\.[\w.]+|mime):({_ITEM})",
    re.IGNORECASE,
)
_NAMED = {
    "category": regex(rf"\bin\s+(?:the\s+)?category\s+({_NAME})", re.IGNORECASE),
    "author": regex(rf"\b(?:written|added|stored|noted|authored)\s+by\s+({_NAME})", re.IGNORECASE),
}
_QUOTED = regex(r'"[^"]+"')
_EXACT = regex(
    r"\b(?:exact(?:ly)?(?:\s+match(?:es)?(?:\s+for)?)?|verbatim|literally|containing\s+the\s+words?|containing)\b",
    re.IGNORECASE,
)
_MEANT = regex(
    r"\b(?:conceptually|semantically|in\s+meaning|in\s+the\s+(?:sense|spirit)\s+of|(?:the\s+)?(?:concept|idea)\s+of|"
    r"something\s+like|similar\s+in\s+meaning\s+to)\b",
    re.IGNORECASE,
)
_CODE = regex(r"(?=\S*[\d_./\\-])(?=\S*[^\W_])\S*(?:\d|[_/\\]|\w\.\w)\S*|[A-Z]+[a-z]+[A-Z]\w*|[A-Z]{2,}\d*")
_LETTERS = regex(r"[^\W_]+(?:['’_-][^\W_]+)*")
_FILLER = frozenset(
    _LETTERS.findall(
        "a all and any are by chunks chunk created do document documents entries entry every everything file files "
        "find for from get give have i in is it item items latest list me memories memory most my newest note notes of "
        "on only our please recent recently record records search show stored that the their there things to updated "
        "was we were what which with written added you"
    )
)
_RECENT = frozenset({"newest", "latest", "recent", "recently"})
_TYPES: Mapping[str, Type] = {
    f"{name}{end}": name for name in ("fact", "preference", "procedure", "guard", "observation") for end in ("", "s")
}


def narrowed(intent: Intent) -> Filter | None:
    """Return the filter of an intent in its parsed form."""
    return None if intent.filter is None else parse({**intent.filter})


class _Rest:
    """The text of a query that no rule has taken yet, and the conditions and phrases of the rules so far."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.conditions: list[Condition] = []
        self.told: list[str] = []

    def take(self, found: re.Match[str], condition: Condition, told: str) -> None:
        """Take what a pattern found as a condition, unless no filter can have it."""
        try:
            parse(condition)
        except InvalidInput:
            return
        self.text = self.text.replace(found[0], " ", 1)
        self.conditions.append(condition)
        self.told.append(told)


def read(query: str, now: int, zone: tzinfo = UTC) -> Intent:
    """Return the intent of a query; `now` (microseconds) is the time that its time words refer to, in `zone`.

    >>> read("documents tagged auth", 0).sentence
    'Asks for memories with the tag "auth", by importance and age, without ranking by text.'
    >>> read("why did we change the release day?", 0).kind
    'hybrid'
    """
    if len(query) > LONGEST:  # a document, no request
        return Intent(
            kind="hybrid", mode="hybrid", text=query, sentence="Asks for memories, ranked by words and meaning."
        )
    similar = _SIMILAR.search(query)
    rest = _Rest(query if similar is None else query.replace(similar[0], " ", 1))
    tagged = _read_tags(rest)
    _read_fields(rest)
    words = _words(rest.text)
    spans = () if similar is not None else time_spans(rest.text, now, zone)
    bare = _words(_without(rest.text, spans))
    if set(bare) <= _FILLER | _TYPES.keys():
        return _listed(rest, spans, bare, words, tagged, similar)
    return _ranked(rest, similar)


def _read_tags(rest: _Rest) -> bool:
    """Take the tags that the text names; return whether there are any."""
    before = len(rest.conditions)
    for found in list(_TAGS.finditer(rest.text)):
        names = next(filter(None, found.groups()))
        tags: list[Json] = [
            _bare(name) for name in re.findall(_ITEM, re.sub(r"\b(?:and|or|tag)\s", ", ", names)) if _bare(name)
        ]
        every = " and " in f" {names} " and " or " not in f" {names} "
        named = (" and " if every else " or ").join(f'"{tag}"' for tag in tags)
        rest.take(found, {"tags": {"all" if every else "any": tags}}, f"with the tag {named}")
    return len(rest.conditions) > before


def _read_fields(rest: _Rest) -> None:
    for found in list(_FIELD.finditer(rest.text)):
        field = found[1].lower()
        name = "metadata.mime" if field == "mime" else field
        rest.take(found, {name: _bare(found[2])}, f"whose {field} is {_bare(found[2])}")
    for name, pattern in _NAMED.items():
        for found in list(pattern.finditer(rest.text)):
            if not set(_words(rest.text)).isdisjoint(_FILLER - {"by", "in", "written", "added", "stored"}):
                rest.take(found, {name: _bare(found[1])}, f"whose {name} is {_bare(found[1])}")


def _listed(
    rest: _Rest,
    spans: Sequence[TimeSpan],
    bare: Sequence[str],
    words: Sequence[str],
    tagged: bool,
    similar: re.Match[str] | None,
) -> Intent:
    """Return the intent of a query of which no words are left to rank by."""
    by_tags = tagged and len(rest.conditions) == 1 and not spans
    for kind in dict.fromkeys(_TYPES[word] for word in bare if word in _TYPES):
        rest.conditions.append({"type": kind})
        rest.told.append(f"of the type {kind}")
        by_tags = False
    if spans:
        within: list[Json] = [part for span in spans for part in _within(span)]
        rest.conditions.append({"or": within})
        rest.told.append(" or ".join(span.text.strip() for span in spans))
    if similar is not None:
        return _similar(rest, similar)
    newest = not _RECENT.isdisjoint(words)
    if not rest.conditions and not newest:
        return Intent(kind="hybrid", mode="hybrid", text=rest.text.strip(), sentence=_plainly(rest, "hybrid"))
    order = "newest first" if newest else "by importance and age"
    about = " ".join(["memories", *rest.told])
    return Intent(
        kind="tags" if by_tags else "metadata",
        mode="recent" if newest else "metadata",
        text="",
        filter=_all(rest.conditions),
        sentence=f"Asks for {about}, {order}, without ranking by text.",
    )


def _ranked(rest: _Rest, similar: re.Match[str] | None) -> Intent:
    """Return the intent of a query of which words are left to rank by."""
    if similar is not None:
        return _similar(rest, similar)
    text, kind = " ".join(rest.text.split()), _kind(rest.text)
    if kind in ("keyword", "semantic"):
        text = " ".join((_EXACT if kind == "keyword" else _MEANT).sub(" ", text).split()) or text
    return Intent(
        kind=kind,
        mode=kind,
        text=text,
        filter=_all(rest.conditions),
        sentence=_plainly(rest, kind),
    )


def _similar(rest: _Rest, similar: re.Match[str]) -> Intent:
    about = " ".join(["memories", *rest.told])
    return Intent(
        kind="similar-to",
        mode="hybrid",
        text="",
        filter=_all(rest.conditions),
        similar_to=similar[1].lower(),
        sentence=f"Asks for {about}, similar to the memory {similar[1].lower()}.",
    )


def _kind(text: str) -> Literal["keyword", "semantic", "hybrid"]:
    if _MEANT.search(text):
        return "semantic"
    words = [word.strip(".,;:?!()") for word in _QUOTED.sub(" ", text).split()]
    quoted = bool(_QUOTED.search(text)) and set(map(str.lower, words)) <= _FILLER
    coded = 1 <= len(words) <= 2 and all(_CODE.fullmatch(word) for word in words)
    return "keyword" if quoted or coded or _EXACT.search(text) else "hybrid"


def _plainly(rest: _Rest, kind: Literal["keyword", "semantic", "hybrid"]) -> str:
    ranked = {"keyword": "their words", "semantic": "their meaning", "hybrid": "words and meaning"}[kind]
    about = " ".join(["memories", *rest.told])
    return f"Asks for {about}, ranked by {ranked}."


def _within(span: TimeSpan) -> Iterator[Condition]:
    """Yield conditions of which one is true of each memory of a time: when it happened, or was stored."""
    ends = {"gte": span.start, "lt": span.stop}
    between: dict[str, Json] = {name: from_us(at).isoformat() for name, at in ends.items() if at is not None}
    yield {"event_at": between}
    yield {"event_at": {"exists": False}, "created_at": between}


def _without(text: str, spans: Sequence[TimeSpan]) -> str:
    for span in spans:
        text = text.replace(span.text, " ", 1)
    return text


def _bare(name: str) -> str:
    return name.strip(" \"'")


def _all(conditions: Sequence[Condition]) -> Condition | None:
    if not conditions:
        return None
    every: list[Json] = [*conditions]
    return conditions[0] if len(conditions) == 1 else {"and": every}


def _words(text: str) -> list[str]:
    return _LETTERS.findall(text.lower())
