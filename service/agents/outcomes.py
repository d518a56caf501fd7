"""Sentences in which a session says what was decided, tried, failed or rejected, found by their words.

The sentences are candidates for a person to review, so a wrong one costs a look; a list is short on purpose.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from muisti.core.model.choices import Outcome
from muisti.core.support.regex import regex
from muisti.core.text.secrets import find_secret

OUTCOMES_MAX = 12  # of one event
LEAST, MOST = 20, 400  # characters of a sentence
TAIL = 256_000  # bytes at the end of a transcript that are read
DEPTH = 12  # of objects in a line of a transcript

_WORDS: tuple[tuple[Outcome, re.Pattern[str]], ...] = (
    (
        "failed",
        regex(
            r"\b(?:did(?:n't| not) work|does(?:n't| not) work|failed because|fails (?:because|when|with)|"
            r"broke (?:because|the)|turned out (?:not )?to be (?:wrong|too|impossible)|dead end)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "tried",
        regex(
            r"\b(?:I|we)(?:'ve| have)? (?:also )?tried\b|\b(?:reverted|rolled back|went back) to\b", re.IGNORECASE
        ),
    ),
    (
        "rejected",
        regex(
            r"\b(?:(?:I|we)(?:'ve| have)? (?:rejected|ruled out|dismissed|decided (?:against|not to))|"
            r"(?:was|were|is|are) (?:rejected|ruled out) because|let's not (?:use|do|go with))\b",
            re.IGNORECASE,
        ),
    ),
    (
        "decided",
        regex(
            r"\b(?:(?:I|we)(?:'ve| have)? (?:decided|chose|agreed|settled on)|let's (?:use|keep|go with)|"
            r"(?:we|I)(?:'ll| will) (?:use|keep|go with)|decision:|from now on)\b",
            re.IGNORECASE,
        ),
    ),
)  # fmt: skip
_SENTENCE = regex(r"(?<=[.!?])\s+|\n+")
_MARKS = regex(r"^[\s>*#\-\d.)]+|[*`_]{2,}")
_OF_A_PERSON = regex(
    r"\b(?:I (?:prefer|like|always|never|work|use)|(?:my|the user's) (?:name|editor|time zone|hours?)|call me|"
    r"user prefers)\b",
    re.IGNORECASE,
)
# Nobody confirms these texts before they are stored, so a text that may hold a secret is dropped whole.
_MAY_BE_SECRET = regex(
    r"(?<![\w-])(?=[\w-]*?eyJ)[\w-]++\.[\w-]*+\.|AKIA[0-9A-Z]{16}|\bbearer\s|(?:api[_-]?key|secret[_-]?key|password|token)\s*=",
    re.IGNORECASE,
)
_NO_SPEECH = frozenset({"tool_result", "tool_use", "function_call", "function_call_output", "reasoning", "thinking"})


def may_be_secret(text: str) -> bool:
    """Tell whether a text has what looks like a credential, or like the place for one.

    >>> may_be_secret("export DB_PASSWORD=x"), may_be_secret("where is the password kept?")
    (True, False)
    """
    return _MAY_BE_SECRET.search(text) is not None or find_secret(text) is not None


def is_of_a_person(text: str) -> bool:
    """Tell whether a prompt, or what a model remembers of it, says something about the person who writes it.

    >>> [is_of_a_person(one) for one in ("I prefer tea", "User prefers tea", "The user clicks", "Deploy on Fridays")]
    [True, True, False, False]
    """
    return _OF_A_PERSON.search(text) is not None


def outcomes(text: str) -> list[tuple[Outcome, str]]:
    """Return the sentences of a text that state an outcome, each once and with its kind.

    >>> outcomes("Done. We decided to use Valkey for the cache. - The retry didn't work behind the proxy.")
    [('decided', 'We decided to use Valkey for the cache.'), ('failed', "The retry didn't work behind the proxy.")]
    """
    found: dict[str, Outcome] = {}
    for part in _SENTENCE.split(text):
        sentence = _MARKS.sub("", part).strip()
        if not LEAST <= len(sentence) <= MOST or sentence.endswith("?") or may_be_secret(sentence):
            continue
        kind: Outcome | None = next((name for name, words in _WORDS if words.search(sentence)), None)
        if kind is not None:
            found.setdefault(sentence, kind)
    return [(kind, sentence) for sentence, kind in list(found.items())[:OUTCOMES_MAX]]


def transcript(path: Path) -> str:
    """Return what was said at the end of a transcript; empty when it cannot be read."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - TAIL))
            raw = file.read(TAIL)
    except OSError:
        return ""
    return "\n".join(said for line in raw.splitlines() for said in _said_in(line))


def _said_in(line: bytes) -> Iterable[str]:
    try:
        return list(_said(msgspec.json.decode(line), DEPTH))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ()


def _said(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, list):
        for one in value:
            yield from _said(one, depth)
    elif isinstance(value, dict) and depth and value.get("type") not in _NO_SPEECH:
        for name, one in value.items():
            if isinstance(one, str):
                if name in ("text", "content"):
                    yield one
            else:
                yield from _said(one, depth - 1)
