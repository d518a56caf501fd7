"""Split text into terms, with one analysis for stored text and for queries.

A text is converted to NFKC, without invisible characters, and cut into runs. A run gives the terms that find it:

    running Wörter     run, worter                      case-folded English stems, without accents
    getUserName        getusernam, get, user, name      an identifier, then its parts
    QX-991             qx-991, qx, 991                  joined by one of - . / : + # with a digit, then its words
    C# .NET            c#, c, .net, net
    版本3号            版本, 3, 号                      bigrams where a script has no spaces, and of Hangul
    👍🏽                 👍                               an emoji without its skin tone

After the terms of all runs come stems of the text's own language. Apart from these, words with their accents and single
characters of bigrams are indexed as if they were in the field `BESIDE`.

Terms depend on the Unicode tables of the running Python and on the stemmer, so `ANALYZER` is stored beside them.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Sequence
from functools import cache
from hashlib import blake2b
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from muisti.core.kernels import ascii as loops
from muisti.core.model.spaces import Field
from muisti.core.support.memo import Memo, memoised
from muisti.core.text.forms import STACK as STACK
from muisti.core.text.forms import WordTable, ascii_bytes, is_mark, plain, unstacked, visible
from muisti.core.text.forms import composed as composed
from muisti.core.text.forms import fold as fold
from muisti.core.text.forms import normalise as normalise
from muisti.core.text.forms import outgrows as outgrows
from muisti.core.text.forms import same_text_hash as same_text_hash
from muisti.core.text.forms import uniform as uniform
from muisti.core.text.language import (
    ENGLISH,
    FIRST,
    empty_words,
    language_of,
    script_language,
    speakers,
    spoken,
    stem,
)
from muisti.core.text.scripts import ALL_SCRIPTS, TELLING, exact, in_bigrams, patterns, unmarked
from muisti.core.text.scripts import WORD_MAX as WORD_MAX
from muisti.core.text.scripts import count_tokens as count_tokens
from muisti.core.text.scripts import count_tokens_between as count_tokens_between
from muisti.core.text.scripts import is_character as is_character
from muisti.core.text.scripts import is_unspaced as is_unspaced
from muisti.core.text.scripts import token_starts as token_starts

ANALYZER = "3"  # changes whenever the same text may give other terms

FIELDS: tuple[Field, ...] = ("content", "key", "tags", "category", "author", "reason")  # the place is the field's code

BESIDE = len(FIELDS)  # the code of further terms of the content, which count less

Codes = npt.NDArray[np.uint64]  # one term each: the field in the top 8 bits, the term's hash in the low 56

MEMO = 32_768  # runs, and terms, whose analysis is cached
SHORT = 64  # characters; longer words are neither cached nor stemmed
_HAN_OR_HANGUL = "\u3000", "\ud7ff"
_SEGMENTS = re.compile(r"[^/:]+")
_DIGIT = re.compile(r"\d")


class Span(NamedTuple):
    """The stretch `[start, stop)` of a text and the terms that it gives."""

    start: int
    stop: int
    terms: tuple[str, ...]


def index_terms(text: str) -> list[str]:
    """Return the terms by which a text is found: those of `tokenize`, then the stems of its own language.

    >>> index_terms("Der Hund und die Katzen")
    ['der', 'hund', 'und', 'die', 'katzen', 'katz']
    """
    runs = _runs(text)
    return [term for run in runs for term in _terms(run)] + _stems(runs)


def terms_beside(text: str) -> list[str]:
    """Return what else finds a text: its words with their accents, and single characters of bigrams.

    >>> terms_beside("Zoë 桜の木")
    ['zoë', '桜', '木']
    """
    runs = _runs(text)
    return [*_exact(runs), *_characters(runs)]


def index_codes(text: str, field: int) -> bytes:
    """Return the `term_code` of each of the `index_terms` and `terms_beside`, 8 bytes each, little endian.

    The latter have the code of `BESIDE` in the content.
    """
    text = plain(text)
    codes = _looked_up(text)
    if codes is None:
        runs = _runs(text)
        codes = b"".join(map(_remembered_codes, runs)) + _encoded(_stems(runs))
        beside = _encoded([*_exact(runs), *_characters(runs)])
        return _in_field(codes, field) + _in_field(beside, field or BESIDE)
    return _in_field(codes, field)


def tokenize(text: str) -> list[str]:
    """Return the terms of a text, in order. Never raises.

    >>> tokenize("Ticket QX-991: getUserName fails")
    ['ticket', 'qx-991', 'qx', '991', 'getusernam', 'get', 'user', 'name', 'fail']
    """
    return [term for run in _runs(text) for term in _terms(run)]


def query_terms(text: str) -> list[str]:
    """Return the terms of a question without its function words; all terms when nothing else is left.

    >>> query_terms("When did the build fail?"), query_terms("to be"), query_terms("Wo sind die Katzen?")
    (['build', 'fail'], ['to', 'be'], ['katzen', 'katz'])
    """
    runs = _runs(text)
    folded = [*map(str.casefold, runs)]
    language = language_of(folded) if text.isascii() else script_language(folded)
    empty = empty_words(language)
    asked = [run for run, word in zip(runs, folded, strict=True) if word not in empty] or runs
    beside = [] if text.isascii() else [*_exact(asked), *_syllables(asked)]
    return [*chain.from_iterable(map(_remembered_terms, asked)), *_native(asked, language, empty), *beside]


def spans(text: str) -> list[Span]:
    """Return the same terms as `tokenize`, each with the characters of `text` that gave it, in order of start.

    Spans overlap: bigrams share a character, and a joined name comes before its words.

    >>> spans("ﬁne QX-9")
    [Span(start=0, stop=3, terms=('fine',)), Span(start=4, stop=8, terms=('qx-9',)), \
Span(start=4, stop=6, terms=('qx',)), Span(start=7, stop=8, terms=('9',))]
    """
    composed = plain(text)
    runs = patterns(composed).runs.finditer(composed)
    found = [piece for run in runs for piece in _pieces(run[0], run.start()) if piece.terms]
    if composed == text:
        return found
    starts, stops = _origins(text)
    return [Span(starts[start], stops[stop - 1], terms) for start, stop, terms in found]


def term_code(term: str, field: int = 0) -> int:
    """Return the 64 bits under which a term of a field is indexed; `field` is a place in `FIELDS`."""
    return field << 56 | (_remembered_hash(term) if len(term) <= SHORT else _hash(term))


def encode_terms(terms: Sequence[str], field: int) -> Codes:
    """Return the `term_code` of each term."""
    return np.fromiter(map(_remembered_hash, terms), np.uint64, len(terms)) | np.uint64(field << 56)


def _origins(text: str) -> tuple[list[int], list[int]]:
    """Return for each character of the `plain` form where the characters of `text` that it came from start and stop."""
    seen = visible(text)
    bare = unstacked("".join(text[at] for at in seen))
    borders = [0, *(at for at in range(1, len(bare)) if not _joins_previous(bare[at])), len(bare)]
    pieces = [(start, stop, unicodedata.normalize("NFKC", bare[start:stop])) for start, stop in pairwise(borders)]
    return (
        [seen[start] for start, _, form in pieces for _ in form],
        [seen[stop - 1] + 1 for _, stop, form in pieces for _ in form],
    )


def _joins_previous(char: str) -> bool:
    """Tell whether normalising may merge this character with the one before it: a mark or a Hangul jamo may."""
    jamo = "\u1160" <= char <= "\u11ff" or "\u3131" <= char <= "\u318e" or "\uffa0" <= char <= "\uffdc"
    return char >= "\u0300" and (jamo or is_mark(char))


def _runs(text: str) -> list[str]:
    composed = plain(text)
    return patterns(composed).runs.findall(composed)


def _in_field(codes: bytes, field: int) -> bytes:
    return codes if field == 0 else (np.frombuffer(codes, "<u8") | np.uint64(field << 56)).tobytes()


def _stems(runs: Sequence[str]) -> list[str]:
    return _native(runs, script_language([run.casefold() for run in runs[:FIRST]]), frozenset())


def _exact(runs: Sequence[str]) -> list[str]:
    """Return the words that have marks, with them: they rank a text above one without."""
    spelled = (run for run in runs if not (run.isascii() or _HAN_OR_HANGUL[0] <= run[0] <= _HAN_OR_HANGUL[1]))
    return [term for run in spelled for term in _remembered_exact(run)]


def _exact_of_run(run: str) -> tuple[str, ...]:
    words = () if in_bigrams(run) else (exact(word) for word in ALL_SCRIPTS.words.findall(run))
    return tuple(word for word in words if word != unmarked(word))


def _characters(runs: Sequence[str]) -> list[str]:
    """Return the characters of runs in bigrams that are words by themselves, each once."""
    lines = "\n".join(run for run in runs if len(run) > 1 and not run.isascii())
    return [*dict.fromkeys(TELLING.findall(lines))] if lines else []


def _syllables(runs: Sequence[str]) -> list[str]:
    """Return the first syllables of Hangul runs of two, the second of which may be an ending."""
    return [run[0] for run in runs if len(run) == 2 and "\uac00" <= run[0] <= "\ud7a3"]


def _looked_up(text: str) -> bytes | None:
    """Return the `index_codes` of a text in ASCII, in a fraction of the time; None for other texts."""
    data = ascii_bytes(text)
    if data is None:
        return None
    spans = np.empty(len(text) + 2, np.int32)
    count = loops.runs(data, spans)
    found = _codes_of_words.of(text, data, spans[: 2 * count], FIRST)
    if found is None:
        return None
    codes, first = found
    language = spoken(first)
    return codes if language == ENGLISH else codes + b"".join(map(_native_codes(language), _runs(text)))


@cache
def _native_codes(language: str) -> Callable[[str], bytes]:
    """Return the function that gives the codes of a run's stem by the rules of a language, as `_native` does."""
    return Memo(lambda run: _encoded(_native([run], language, frozenset())), MEMO, SHORT).__getitem__


def _codes_of_run(run: str) -> bytes:
    return _encoded(_remembered_terms(run))


def _encoded(terms: Sequence[str]) -> bytes:
    return b"".join([_remembered_hash(term).to_bytes(8, "little") for term in terms])


def _native(runs: Sequence[str], language: str, empty: Collection[str]) -> list[str]:
    """Return stems by the rules of a language other than English, where they differ from the English ones."""
    if language == ENGLISH:
        return []
    words = [exact(run) for run in runs if len(run) <= SHORT and _is_word(run)]
    return [native for word in words if word not in empty for native in _native_stems(word, language)]


def _terms(run: str) -> tuple[str, ...]:
    return _remembered_terms(run) if len(run) <= SHORT else _terms_of_run(run)


def _terms_of_run(run: str) -> tuple[str, ...]:
    if in_bigrams(run):
        return tuple(_bigrams(run))
    return _word_terms(run) if run.isalnum() else tuple(term for piece in _pieces(run) for term in piece.terms)


def _pieces(run: str, at: int = 0) -> list[Span]:
    """Return the terms of a run that starts at `at`, with their places."""
    if in_bigrams(run):
        return [Span(place, place + len(bigram), (bigram,)) for place, bigram in enumerate(_bigrams(run), at)]
    if run.isalnum():
        return [Span(at, at + len(run), _terms(run))]
    pattern = patterns(run).words
    if pattern.fullmatch(run):
        return [Span(at, at + len(run), _word_terms(run))]
    words = [Span(at + word.start(), at + word.end(), _terms(word[0])) for word in pattern.finditer(run)]
    return sorted(_names(run, at) + words, key=lambda piece: (piece.start, -piece.stop))


def _is_word(run: str) -> bool:
    """Tell whether a run consists of letters and their marks."""
    return run.isalpha() or (not run.isascii() and unmarked(exact(run)).isalpha())


def _bigrams(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def _names(run: str, at: int) -> list[Span]:
    """Return the terms that are searched literally: the whole run, and its parts between slashes and colons."""
    whole = Span(at, at + len(run), (_folded(run),))
    segments = [Span(at + part.start(), at + part.end(), (_folded(part[0]),)) for part in _SEGMENTS.finditer(run)]
    return [name for name in dict.fromkeys([whole, *segments]) if _is_name(name.terms[0])]


def _is_name(text: str) -> bool:
    is_word = patterns(text).words.fullmatch
    return text[0] == "." or text[-1] in "+#" or (_DIGIT.search(text) is not None and not is_word(text))


def _word_terms(word: str) -> tuple[str, ...]:
    if word.isascii() and word.islower() and "_" not in word:  # most words, which have no parts and are folded
        return (_stem(word),)
    whole = word.strip("_")
    parts = [part for piece in whole.split("_") for part in _humps(piece)] if whole else []
    smaller = [part for part in parts if len(part) > 1] if len(parts) > 1 else []
    return tuple(_stem(_folded(part)) for part in (whole, *smaller) if part)


def _humps(word: str) -> list[str]:
    """Cut before each capital that starts a part: HTTP|Server, get|User, v2|Parser, but not QX991, APIs."""
    if word.islower() or word[1:].islower() or word.isupper():
        return [word]
    cuts = [at for at in range(1, len(word)) if word[at].isupper() and _starts_hump(word, at)]
    return [word[start:stop] for start, stop in pairwise([0, *cuts, len(word)])]


def _starts_hump(word: str, at: int) -> bool:
    following = word[at + 1 : at + 3]
    return not word[at - 1].isupper() or (following[:1].islower() and following != "s")


def _folded(word: str) -> str:
    if word.isascii():
        return word.lower()
    return unmarked(exact(word))


def _stem(word: str) -> str:
    return word if len(word) > SHORT else stem(word, ENGLISH)


def _hash(term: str) -> int:
    return int.from_bytes(blake2b(term.encode(), digest_size=8).digest(), "little") & ((1 << 56) - 1)


_remembered_terms = Memo(_terms_of_run, MEMO, SHORT).__getitem__
_remembered_codes = Memo(_codes_of_run, MEMO, SHORT).__getitem__
_remembered_hash = Memo(_hash, MEMO, SHORT).__getitem__
_codes_of_words = WordTable(_codes_of_run, MEMO, SHORT, speakers)
_remembered_exact = Memo(_exact_of_run, MEMO, SHORT).__getitem__


@memoised(MEMO)
def _native_stems(word: str, language: str) -> tuple[str, ...]:
    """Return the stems of a word as it is and without its marks, where they differ from the English one."""
    bare = unmarked(word)
    stems = dict.fromkeys((unmarked(stem(word, language)), stem(bare, language)))
    return tuple(native for native in stems if native != _stem(bare))
