"""Split text into terms, with one analysis for stored text and for queries.

A text is converted to NFKC and cut into runs. A run gives the terms that find it:

    running Wörter     run, wörter                      case-folded English stems
    getUserName        getusernam, get, user, name      an identifier, then its parts
    QX-991             qx-991, qx, 991                  joined by one of - . / : + # with a digit, then its words
    C# .NET            c#, c, .net, net
    版本3号            版本, 3, 号                      bigrams where a script has no spaces

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
from muisti.core.text.forms import WordTable, ascii_bytes, is_mark, to_form, unstacked
from muisti.core.text.forms import composed as composed
from muisti.core.text.forms import fold as fold
from muisti.core.text.forms import normalise as normalise
from muisti.core.text.forms import outgrows as outgrows
from muisti.core.text.forms import same_text_hash as same_text_hash
from muisti.core.text.forms import uniform as uniform
from muisti.core.text.language import ENGLISH, FIRST, function_words, language_of, speakers, spoken, stem

ANALYZER = "2"  # changes whenever the same text may give other terms

FIELDS: tuple[Field, ...] = ("content", "key", "tags", "category", "author", "reason")  # the place is the field's code

Codes = npt.NDArray[np.uint64]  # one term each: the field in the top 8 bits, the term's hash in the low 56

MEMO = 32_768  # runs, and terms, whose analysis is cached
SHORT = 64  # characters; longer words are neither cached nor stemmed
WORD_MAX = 24  # characters that count as one token

# Han, kana, Thai, Lao, Myanmar and Khmer, without their digits and punctuation.
_UNSPACED = (
    r"\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u1780-\u17d3"
    r"\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\U00020000-\U0003ffff"
)
# Characters within words that `\w` leaves out: accents, vowel signs, soft hyphens and joiners.
_IGNORED = "\u00ad\u200c\u200d"
_MARKS = (
    r"\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    r"\u06d6-\u06ed\u0711\u0730-\u074a\u0898-\u0963\u0971-\u0df3\u0f71-\u0f84\u0f8d-\u0fbc\u1ab0-\u1aff\u1dc0-\u1dff"
    r"\u20d0-\u20ff\ufe20-\ufe2f" + _IGNORED
)
_LETTER = rf"[^\W{_UNSPACED}]"
_WORD = rf"{_LETTER}++(?:[{_MARKS}]++{_LETTER}*+)*+"

_SEGMENTS = re.compile(r"[^/:]+")
_DIGIT = re.compile(r"\d")


class _Patterns(NamedTuple):
    runs: re.Pattern[str]
    words: re.Pattern[str]
    tokens: re.Pattern[str]


# Every repetition is possessive, and no two neighbours share a character: the time is linear in the text.
_ASCII = _Patterns(  # finds the same in ASCII as those for all scripts, twice as fast
    runs=re.compile(r"(?:\w++|(?<![\w.])\.\w++)(?:[-./:+#]\w++)*+(?:\+\+|#)?"),
    words=re.compile(r"\w++"),
    tokens=re.compile(rf"\w{{1,{WORD_MAX}}}+|[^\w\s]"),
)


@cache
def _all_scripts() -> _Patterns:
    """Compile the patterns on first use: `re` takes 20 ms for them."""
    return _Patterns(
        runs=re.compile(rf"(?:{_WORD}|(?<![\w.])\.{_WORD})(?:[-./:+#]{_WORD})*+(?:\+\+|#)?|[{_UNSPACED}]++"),
        words=re.compile(_WORD),
        tokens=re.compile(rf"[{_UNSPACED}]|{_LETTER}(?:{_LETTER}|[{_MARKS}]){{0,{WORD_MAX - 1}}}+|[^\w\s]"),
    )


@cache
def _unspaced() -> re.Pattern[str]:
    return re.compile(rf"[{_UNSPACED}]")


def _patterns(text: str) -> _Patterns:
    return _ASCII if text.isascii() else _all_scripts()


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


def index_codes(text: str, field: int) -> bytes:
    """Return the `term_code` of each of the `index_terms`, 8 bytes each, little endian."""
    codes = _looked_up(text)
    if codes is None:
        runs = _runs(text)
        codes = b"".join(map(_remembered_codes, runs)) + _encoded(_stems(runs))
    return codes if field == 0 else (np.frombuffer(codes, "<u8") | np.uint64(field << 56)).tobytes()


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
    language = language_of(folded)
    empty = function_words(language)
    telling = [run for run, word in zip(runs, folded, strict=True) if word not in empty] or runs
    return [*chain.from_iterable(map(_remembered_terms, telling)), *_native(telling, language, empty)]


def spans(text: str) -> list[Span]:
    """Return the same terms as `tokenize`, each with the characters of `text` that gave it, in order of start.

    Spans overlap: bigrams share a character, and a joined name comes before its words.

    >>> spans("ﬁne QX-9")
    [Span(start=0, stop=3, terms=('fine',)), Span(start=4, stop=8, terms=('qx-9',)), \
Span(start=4, stop=6, terms=('qx',)), Span(start=7, stop=8, terms=('9',))]
    """
    composed = to_form("NFKC", text)
    runs = _patterns(composed).runs.finditer(composed)
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


def token_starts(text: str) -> list[int]:
    """Return where each token starts. Cut at any of them, a text keeps its tokens.

    A token is a word, a punctuation mark or a character of a script without spaces. A longer word than `WORD_MAX`
    is several, so this is about what a language model counts.
    """
    return [token.start() for token in _patterns(text).tokens.finditer(text)]


def count_tokens(text: str) -> int:
    """Return the number of tokens, see `token_starts`.

    >>> count_tokens("It's 版本3!")
    7
    """
    data = ascii_bytes(text)
    return len(_patterns(text).tokens.findall(text)) if data is None else loops.count(data, WORD_MAX)


def count_tokens_between(text: str, borders: Sequence[int]) -> list[int]:
    """Return the `count_tokens` of each stretch between two neighbouring borders, in ascending order.

    >>> count_tokens_between("one two-three", [0, 4, 13])
    [1, 3]
    """
    data = ascii_bytes(text)
    if data is None:
        return [count_tokens(text[start:stop]) for start, stop in pairwise(borders)]
    found = np.empty(max(0, len(borders) - 1), np.int64)
    loops.counts(data, np.array(borders, np.int64), WORD_MAX, found)
    return found.tolist()


def _origins(text: str) -> tuple[list[int], list[int]]:
    """Return for each character of the NFKC form where the characters of `text` that it came from start and stop."""
    text = unstacked(text)
    borders = [0, *(at for at in range(1, len(text)) if not _joins_previous(text[at])), len(text)]
    pieces = [(start, stop, unicodedata.normalize("NFKC", text[start:stop])) for start, stop in pairwise(borders)]
    return [start for start, _, form in pieces for _ in form], [stop for _, stop, form in pieces for _ in form]


def _joins_previous(char: str) -> bool:
    """Tell whether normalising may merge this character with the one before it: a mark or a Hangul jamo may."""
    jamo = "\u1160" <= char <= "\u11ff" or "\u3131" <= char <= "\u318e" or "\uffa0" <= char <= "\uffdc"
    return char >= "\u0300" and (jamo or is_mark(char))


def _runs(text: str) -> list[str]:
    composed = to_form("NFKC", text)
    return _patterns(composed).runs.findall(composed)


def _stems(runs: Sequence[str]) -> list[str]:
    return _native(runs, language_of([run.casefold() for run in runs[:FIRST]]), frozenset())


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
    words = [_folded(run) for run in runs if run.isalpha() and len(run) <= SHORT]
    pairs = [(word, _native_stem(word, language)) for word in words if word not in empty]
    return [native for word, native in pairs if native != _stem(word)]


def _terms(run: str) -> tuple[str, ...]:
    return _remembered_terms(run) if len(run) <= SHORT else _terms_of_run(run)


def _terms_of_run(run: str) -> tuple[str, ...]:
    if is_unspaced(run):
        return tuple(_bigrams(run))
    return _word_terms(run) if run.isalnum() else tuple(term for piece in _pieces(run) for term in piece.terms)


def _pieces(run: str, at: int = 0) -> list[Span]:
    """Return the terms of a run that starts at `at`, with their places."""
    if is_unspaced(run):
        return [Span(place, place + len(bigram), (bigram,)) for place, bigram in enumerate(_bigrams(run), at)]
    if run.isalnum():
        return [Span(at, at + len(run), _terms(run))]
    pattern = _patterns(run).words
    if pattern.fullmatch(run):
        return [Span(at, at + len(run), _word_terms(run))]
    words = [Span(at + word.start(), at + word.end(), _terms(word[0])) for word in pattern.finditer(run)]
    return sorted(_names(run, at) + words, key=lambda piece: (piece.start, -piece.stop))


def is_unspaced(run: str) -> bool:
    """Tell whether a run of letters begins in a script that has no spaces between words."""
    return not run.isascii() and _unspaced().match(run) is not None


def _bigrams(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def _names(run: str, at: int) -> list[Span]:
    """Return the terms that are searched literally: the whole run, and its parts between slashes and colons."""
    whole = Span(at, at + len(run), (_folded(run),))
    segments = [Span(at + part.start(), at + part.end(), (_folded(part[0]),)) for part in _SEGMENTS.finditer(run)]
    return [name for name in dict.fromkeys([whole, *segments]) if _is_name(name.terms[0])]


def _is_name(text: str) -> bool:
    is_word = _patterns(text).words.fullmatch
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
    return unicodedata.normalize("NFKC", word.translate(_WITHOUT_IGNORED).casefold())


def _stem(word: str) -> str:
    return word if len(word) > SHORT else stem(word, ENGLISH)


def _hash(term: str) -> int:
    return int.from_bytes(blake2b(term.encode(), digest_size=8).digest(), "little") & ((1 << 56) - 1)


_WITHOUT_IGNORED = str.maketrans("", "", _IGNORED)
_remembered_terms = Memo(_terms_of_run, MEMO, SHORT).__getitem__
_remembered_codes = Memo(_codes_of_run, MEMO, SHORT).__getitem__
_remembered_hash = Memo(_hash, MEMO, SHORT).__getitem__
_codes_of_words = WordTable(_codes_of_run, MEMO, SHORT, speakers)
_native_stem = memoised(MEMO)(stem)
