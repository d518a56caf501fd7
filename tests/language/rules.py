"""Rules of plain English, each with what to write instead."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

from tests.language.prose import Block
from tests.language.sentences import plain, sentences, words

LIMIT = 25  # words of a sentence
LONG = "long sentence"
OPENING = "opening"
_OPENINGS = re.compile(r"(?:What|The same)\b")


@dataclass(frozen=True, slots=True)
class Term:
    """A word of our own dialect, and what the field or plain English calls it."""

    name: str
    pattern: re.Pattern[str]
    instead: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A place that breaks a rule."""

    kind: str
    path: PurePath
    line: int
    rule: str
    advice: str
    text: str


def _term(name: str, pattern: str, instead: str) -> Term:
    return Term(name, re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), instead)


TERMS = (
    _term("told", "told", "reported, notified, replied, passed"),
    _term("he, him, his", "he|him|his|himself", "the caller, they"),
    _term("short way, plain way", "(?:short|plain)(?:er|est)? ways?", "fast path, general path"),
    _term("gate", "gates?", "auth middleware, check"),
    _term("envelope", "envelopes?", "request middleware"),
    _term("entrance", "entrances?", "protocol"),
    _term("tides", "tides?", "seq watcher"),
    _term("bell", "bells?", "change notifier"),
    _term("opinions", "opinions?", "feedback counts"),
    _term("births, bury, died", "births?|bur(?:y|ies|ied|ying)|died|dies|die", "inserted, tombstone, ended"),
    _term("lives", "lives", "lifecycle, is in"),
    _term("served", "served", "recent results, answered"),
    _term("shelves", "shel(?:f|ves|ved)", "backup target"),
    _term("rehearse, trial", "rehears(?:e|es|ed|als?|ing)|trials?", "dry run"),
    _term("errand", "errands?", "maintenance task"),
    _term("patience", "patience", "retry, timeout"),
    _term("settling", "settling", "repair of references"),
    _term("planes", "planes", "two-level int8"),
    _term("stands", "(?:stands?|stood|standing)(?! (?:for|alone|in for|instructions?)\\b)", "is, is current, remains"),
    _term("anew", "anew", "again"),
    _term("at once", "at once", "immediately, at the same time, on the event loop"),
    _term("bears", "bears?|bore|borne", "has"),
    _term("affair of", "affairs?", "job of, left to"),
    _term("made of", "made of", "derived from, consists of"),
)
RULES = (LONG, OPENING, *(term.name for term in TERMS))


def findings(kind: str, path: PurePath, block: Block, *, opens_docstring: bool = False) -> Iterator[Finding]:
    """Yield each breach of a rule in a block of prose."""
    text = plain(block.text)

    def found(offset: int, rule: str, advice: str, shown: str) -> Finding:
        line = block.line + text.count("\n", 0, offset)
        return Finding(kind, path, line, rule, advice, " ".join(shown.split()))

    if opens_docstring and _OPENINGS.match(text):
        yield found(0, OPENING, "begin with a verb or a noun", text[:60])
    for offset, sentence in sentences(text):
        count = len(words(sentence))
        if count > LIMIT:
            yield found(offset, LONG, f"{count} words", sentence)
    for term in TERMS:
        for match in term.pattern.finditer(text):
            around = text[max(0, match.start() - 30) : match.end() + 30]
            yield found(match.start(), term.name, f"write: {term.instead}", around)
