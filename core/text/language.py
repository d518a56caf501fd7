"""Detect the language of a text by its function words, and stem words by the rules of that language.

A text is in another language than English if it has at least two function words of that language. It must also have
fewer English ones. Shorter questions stay undecided; they are treated as English.
"""

from collections.abc import Callable, Sequence
from functools import cache
from threading import Lock
from typing import Any, cast

import Stemmer
import stop_words  # pyright: ignore[reportMissingTypeStubs]  # annotated, without the marker

from muisti.core.kernels import Longs
from muisti.core.kernels import ascii as loops
from muisti.core.support.regex import regex
from muisti.core.text.scripts import unmarked

_LATIN = regex("[A-Za-zªº\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02af\u1e00-\u1eff]")


def mostly_latin(text: str) -> bool:
    """Return whether at least half of the letters of a text are of the Latin script; true also without any letters.

    >>> mostly_latin("Où est la gare?"), mostly_latin("北京的地铁站在哪里 (metro)"), mostly_latin("2 + 2")
    (True, False, True)
    """
    return 2 * len(_LATIN.findall(text)) >= sum(map(str.isalpha, text))


ENGLISH = "english"
# Languages with both a list of function words and a Snowball stemmer.
LANGUAGES = (
    ENGLISH, "arabic", "catalan", "czech", "danish", "dutch", "finnish", "french", "german", "greek", "hindi",
    "hungarian", "indonesian", "italian", "norwegian", "persian", "polish", "portuguese", "romanian", "russian",
    "spanish", "swedish", "turkish",
)  # fmt: skip
# Their tags, by ISO 639.
_TAGS = (
    "en", "ar", "ca", "cs", "da", "nl", "fi", "fr", "de", "el", "hi", "hu", "id", "it", "no", "fa", "pl", "pt", "ro",
    "ru", "es", "sv", "tr",
)  # fmt: skip
TAGS: dict[str, str] = dict(zip(LANGUAGES, _TAGS, strict=True))
# The languages of scripts that say more than English would, even where they are those of others.
_SCRIPTS = {
    "arabic": regex("[\u0600-\u06ff]"),
    "greek": regex("[\u0370-\u03ff\u1f00-\u1fff]"),
    "hindi": regex("[\u0900-\u0963]"),
    "russian": regex("[\u0400-\u04ff]"),
}
ENOUGH = 2  # function words
FIRST = 64  # words that decide
CLEARLY = 3  # a text is English when one word of three is a function word of it
TOLD = 8  # one word of so many is a function word in a text that is said to be English

# English, with what an apostrophe leaves. Not among them: "may" is a month, "not" is a meaning.
# fmt: off
QUESTION_WORDS = frozenset({
    "a", "an", "the", "and", "or", "but", "if", "of", "in", "on", "at", "to", "for", "from", "by", "with", "about",
    "as", "is", "are", "was", "were", "be", "been", "being", "am", "do", "does", "did", "has", "have", "had", "can",
    "could", "will", "would", "shall", "should", "i", "me", "my", "we", "us", "our", "you", "your", "he", "him", "his",
    "she", "her", "it", "its", "they", "them", "their", "this", "that", "these", "those", "there", "what", "when",
    "where", "which", "who", "whom", "whose", "why", "how", "s", "t", "d", "ll", "re", "ve", "m",
})
# fmt: on

# A Stemmer keeps its word in one buffer, so threads must take turns.
_TURN = Lock()


def language_of(words: Sequence[str]) -> str:
    """Return the language whose function words occur most among the first words, case-folded; English when unclear.

    A word that several languages share counts for each by its share.

    >>> language_of("wo ist der schlüssel für die werkstatt".split()), language_of("die hard".split())
    ('german', 'english')
    """
    words = words[:FIRST]
    english = function_words(ENGLISH)
    if CLEARLY * sum(map(english.__contains__, words)) >= len(words):  # most texts, and quick
        return ENGLISH
    spoken = _speakers()
    votes, weights = [0] * len(LANGUAGES), [0.0] * len(LANGUAGES)
    for word in words:
        speakers = spoken.get(word, ())
        for language in speakers:
            votes[language] += 1
            weights[language] += 1 / len(speakers)
    best = weights.index(max(weights))  # English is first, and so wins a tie
    return LANGUAGES[best] if votes[best] >= ENOUGH else ENGLISH


def script_language(words: Sequence[str]) -> str:
    """Return the `language_of` words, or the usual language of their script where they do not tell theirs.

    >>> script_language(["ключи", "лежат", "дома"]), script_language(["die", "hard"])
    ('russian', 'english')
    """
    found = language_of(words)
    if found != ENGLISH or all(map(str.isascii, words)):
        return found
    letters = "".join(words[:FIRST])
    shares = [(len(pattern.findall(letters)), language) for language, pattern in _SCRIPTS.items()]
    most, language = max(shares)
    return language if 2 * most > len(letters) else ENGLISH


def told(words: Sequence[str]) -> str | None:
    """Return the tag of the language of a text by its first words, case-folded; None when they do not tell it.

    >>> told("wo ist der schlüssel für die werkstatt".split()), told("lorem ipsum dolor".split())
    ('de', None)
    """
    words = words[:FIRST]
    found = language_of(words)
    own = sum(map(function_words(ENGLISH).__contains__, words))
    if found == ENGLISH and (own < ENOUGH or TOLD * own < len(words)):
        return None
    return TAGS[found]


def speakers(word: str) -> int:
    """Return the languages of a word in ASCII for `spoken`: a bit each; below 0 when it is clearly English."""
    word = word.lower()
    bits = sum(1 << place for place in _speakers().get(word, ()))
    return bits - (1 << 62) if word in QUESTION_WORDS else bits


def spoken(words: Longs) -> str:
    """Return the `language_of` words, of which there are `FIRST` at most, by the `speakers` of each."""
    return LANGUAGES[loops.language(words, len(LANGUAGES), CLEARLY, ENOUGH)]


def stem(word: str, language: str) -> str:
    """Return the common stem of a word's forms, by Snowball's rules.

    >>> stem("running", "english"), stem("häuser", "german")
    ('run', 'haus')
    """
    stemmer = _stemmer(language)
    with _TURN:
        return stemmer(word)


@cache
def function_words(language: str) -> frozenset[str]:
    """Return the words that say nothing about the subject of a question."""
    if language == ENGLISH:
        return QUESTION_WORDS
    return frozenset(word.casefold() for word in stop_words.get_stop_words(language))


@cache
def empty_words(language: str) -> frozenset[str]:
    """Return the function words of a language, and how they look without accents."""
    words = function_words(language)
    return words if language == ENGLISH else words.union(map(unmarked, words))


@cache
def _speakers() -> dict[str, tuple[int, ...]]:
    """Return the languages of each function word.

    The English list is long and has many loanwords, so it is ignored for a word of two other languages.
    """
    spoken: dict[str, tuple[int, ...]] = {}
    for number, language in enumerate(LANGUAGES[1:], start=1):
        for word in function_words(language):
            spoken[word] = (*spoken.get(word, ()), number)
    for word in QUESTION_WORDS.union(word.casefold() for word in stop_words.get_stop_words(ENGLISH)):
        others = spoken.get(word, ())
        if word in QUESTION_WORDS or len(others) < 2:
            spoken[word] = (0, *others)
    return spoken


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    made = cast(Any, Stemmer).Stemmer(language, 0)  # its own cache is off, because callers cache stems
    return made.stemWord
