"""The recogniser of entities: the tagger, capital letters in mid-sentence, rules, and names known elsewhere."""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache, partial
from typing import Protocol

from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.graph.entities.capitals import trimmed, unread
from muisti.core.graph.entities.knowing import Names
from muisti.core.graph.entities.spans import Span, likeliest, spans
from muisti.core.graph.entities.tagger import SHIPPED, Tagger, load
from muisti.core.graph.entities.tokens import Stretch, stretches
from muisti.core.model.graph import Mention
from muisti.core.model.graph_terms import EntityKind
from muisti.core.support.priority import give_way
from muisti.core.text.when.words import LONGEST, named_times

# Rules for what has a form of its own: paths, URLs, versions, tickets, names in code, quoted titles, and times

# Confidence, set by hand.
FORM, QUOTED, TIME = 0.95, 0.9, 0.95

_FILES = (
    "py|pyi|js|mjs|ts|tsx|jsx|json|jsonl|toml|ya?ml|md|rst|txt|sql|rs|go|java|kt|rb|php|c|h|cc|cpp|hpp|cs|sh|html?|css"
    "|scss|csv|tsv|pdf|docx?|xlsx?|pptx?|ini|cfg|conf|env|lock|ipynb|db|sqlite|log|xml|svg|png|jpe?g|gif|zip|gz|whl"
)
_FORMS = re.compile(
    rf"""(?P<url>\b(?:[a-z][a-z0-9+]{{1,9}}://|www\.)[^\s<>"'`|]+)
    |(?P<mail>(?<![\w.+-])[\w.+-]{{1,64}}+@[\w-]++(?:\.[\w-]++)++\b)
    |(?P<path>(?<![\w./~\\@+-])(?:
        (?:~|\.{{1,2}})?(?:/[\w.@+-]+){{2,}}/?|(?:~|\.{{1,2}})/[\w.@+-]+
        |[A-Za-z]:\\[\w.\\-]+
        |(?:[\w.@+-]+/)*[\w.@+-]*\w\.(?:{_FILES})(?![\w/]|\.\w)))
    |(?P<uuid>\b[0-9a-f]{{8}}(?:-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}\b)
    |(?P<version>(?<![\w.])(?:v\d++(?:\.\d++)*+|\d++\.\d++\.\d++(?:\.\d++)*+)(?:[-+](?:rc|alpha|beta|dev|post|pre)[\w.]*+)?+(?!\w))
    |(?P<ticket>\b(?!(?:COVID|UTF|ISO|SHA|MD|RFC|GPT|UTC|GMT|TOP)-)[A-Z][A-Z0-9]{{1,9}}-\d{{1,6}}\b|(?<![\w&/])\#\d{{2,7}}\b)
    |(?P<hash>\b(?=[0-9a-f]{{0,39}}[a-f])(?=[0-9a-f]{{0,39}}\d)[0-9a-f]{{7,40}}\b)
    |(?P<call>(?<![\w.])[A-Za-z_]\w*+(?:\.[A-Za-z_]\w*+)*+\(\))
    |(?P<snake>(?<![\w@\#])\w*?_\w*+)
    |(?P<camel>(?<![\w@\#])[a-z][a-z0-9]++(?:[A-Z][a-z0-9]++)++(?!\w))
    |(?P<option>(?<![\w-])--[a-z][\w-]*\w)""",
    re.VERBOSE,
)
_MAYBE = re.compile(r"[/\\@_#(`]|\d|[a-z][A-Z]|--|\.\w|www")
_TRAILING = ".,;:!?)]}"
_SYMBOLS = frozenset({"call", "snake", "camel", "option"})
_TICKS = re.compile(r"(?<!`)`([^`\n]{1,80})`(?!`)")
_SYMBOL = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]*)*(?:\([^()\s]*\))?")
_QUOTED = re.compile(
    r"""“([^“”\n]{2,80})”|(?<![\w"])"([^"\n]{2,80})"(?!\w)"""
    r"""|(?<![\w'’])['‘]([^'‘’"\n]{2,60})['’](?!\w)"""
)
_SMALL_TEXT = """
a an and as at but by de for from in into is la nor of off on or the to vs with & -
"""
_SMALL = frozenset(_SMALL_TEXT.split())
_WORDS = re.compile(r"[^\s]+")
_ENDS_SENTENCE = (".", ",", ";", ":", "?", "…")


def forms(text: str, start: int, stop: int) -> Iterator[Mention]:
    """Yield the identifiers and symbols of a stretch of text, in order."""
    if not _MAYBE.search(text, start, stop):
        return
    done = start
    for match in _TICKS.finditer(text, start, stop):
        yield from _bare_forms(text, done, match.start())
        yield from _ticked(text, match.start(1), match.end(1))
        done = match.end()
    yield from _bare_forms(text, done, stop)


def _bare_forms(text: str, start: int, stop: int) -> Iterator[Mention]:
    for match in _FORMS.finditer(text, start, stop):
        if match.lastgroup == "snake" and not _named_in_code(match.group()):
            continue
        kind: EntityKind = "symbol" if match.lastgroup in _SYMBOLS else "identifier"
        end = match.end()
        while kind == "identifier" and text[end - 1] in _TRAILING and end > match.start() + 1:
            end -= 1
        yield Mention(match.start(), end, kind, FORM, "rule")


def _named_in_code(word: str) -> bool:
    """Return whether a word with underscores is a name: `snake_case` or `__dunder__`, and no blank to fill in."""
    bare = word.strip("_")
    return any(map(str.isalpha, bare)) and ("_" in bare or word == f"__{bare}__")


def _ticked(text: str, start: int, stop: int) -> Iterator[Mention]:
    """Yield the content of backticks: one identifier or symbol, or nothing when it is a piece of code."""
    whole = _FORMS.fullmatch(text, start, stop)
    if whole and whole.lastgroup not in _SYMBOLS:
        yield Mention(start, stop, "identifier", FORM, "rule")
    elif whole or _SYMBOL.fullmatch(text, start, stop):
        yield Mention(start, stop, "symbol", FORM, "rule")


def titles(text: str, start: int, stop: int) -> Iterator[Mention]:
    """Yield quoted titles: each word but small ones has a capital, and the quote is no sentence.

    A single word at the start of a sentence is a title only when "by" follows, and so is a number anywhere.
    """
    for match in _QUOTED.finditer(text, start, stop):
        first, last = match.span(match.lastindex or 0)
        words = [word.group() for word in _WORDS.finditer(text, first, last)]
        if not 1 <= len(words) <= 9 or not all(map(_titled, words)) or words[-1].endswith(_ENDS_SENTENCE):
            continue
        if not words[0][0].isupper() and not words[0][0].isdigit():
            continue
        if text[match.start() - 1 : match.start()] == "=":  # the value of an attribute
            continue
        opens, is_name = not text[start : match.start()].strip(), any(map(str.isalpha, text[first:last]))
        stands_alone = len(words) > 1 or (not opens and len(words[0]) > 1)
        if (is_name and stands_alone) or text.startswith(" by ", match.end()):
            yield Mention(first, last, "title", QUOTED, "rule")


def _titled(word: str) -> bool:
    bare = word.strip("(),'’")
    return not bare or bare[0].isupper() or bare[0].isdigit() or bare in _SMALL or not bare[0].isalnum()


def times(text: str, start: int, stop: int) -> Iterator[Mention]:
    """Yield the words that name a time, in the first `LONGEST` characters of a stretch."""
    for first, last in named_times(text[start : min(stop, start + LONGEST)]):
        yield Mention(start + first, start + last, "date", TIME, "rule")


RULES = "1"  # raised with each change of what the rules find


class Recogniser(Protocol):
    """Interface of recognisers. Equal identities give equal mentions of equal texts."""

    @property
    def identity(self) -> str: ...

    def read(self, text: str, *, speakers: Collection[str] = (), known: Collection[str] = ()) -> list[Mention]:
        """Return the mentions of a text, in order, without overlaps.

        `speakers` are names of those who speak or are spoken to: each counts, and each word of it, wherever it has a
        capital. `known` are keys (`names.folded`) of entities of the same space: they count where they have a
        capital and the tagger missed them.
        """
        ...


class ShippedRecogniser:
    """The recogniser that ships with Muisti. Pure and thread-safe."""

    def __init__(self, tagger: Tagger) -> None:
        self._tagger = tagger

    @property
    def identity(self) -> str:
        return f"muisti-{self._tagger.identity}-{RULES}"

    def read(self, text: str, *, speakers: Collection[str] = (), known: Collection[str] = ()) -> list[Mention]:
        names = Names(speakers, known)
        every: list[Mention] = []
        for stretch in stretches(text):
            give_way()
            every += self.stretch(text, stretch, names)
        return every

    def stretch(self, text: str, stretch: Stretch, names: "Names") -> list[Mention]:
        """Return the mentions of one stretch, in order, whose words may come from elsewhere."""
        return with_rules(text, stretch, names, self._tagged(text, stretch, names))

    def _tagged(self, text: str, stretch: Stretch, names: "Names") -> Iterator[Mention]:
        words = [text[start:stop] for start, stop in stretch.words]
        path, shares = self._tagger.tag(words)
        found = [*spans(path, shares)]
        found += unread(words, found, shares, stretch.plain)
        found += names.known(words, found, partial(likeliest, shares))
        for span in found:
            first, last = trimmed(words, span.start, span.stop)
            if first < last:
                yield self._mention(stretch.words, Span(first, last, span.kind, span.share, span.source))

    def _mention(self, words: Sequence[tuple[int, int]], span: Span) -> Mention:
        share = self._tagger.calibrated(span.share) if span.source == "recogniser" else span.share
        return Mention(words[span.start][0], words[span.stop - 1][1], span.kind, round(share, 3), span.source)


def with_rules(text: str, stretch: Stretch, names: Names, named: Iterable[Mention]) -> list[Mention]:
    """Return the mentions of one stretch, in order: those of the rules and of speakers, and `named` between them.

    Where they overlap, forms come first, then quoted titles, speakers, `named`, and times.
    """
    start, stop = stretch.words[0][0], stretch.words[-1][1]
    found = [*forms(text, start, stop)]
    found += _apart(titles(text, start, stop), found)
    found += _apart(names.speakers(text, stretch.words), found)
    found += _apart(named, found)
    found += _apart(times(text, start, stop), found)
    return sorted(found, key=lambda one: one.start)


def _apart(new: Iterable[Mention], found: Iterable[Mention]) -> list[Mention]:
    """Return the mentions that overlap none of `found`, which do not overlap each other."""
    places = sorted((one.start, one.stop) for one in found)
    starts = [start for start, _ in places]
    kept: list[Mention] = []
    for one in new:
        at = bisect_left(starts, one.stop)  # those before `at` begin before it ends
        if at == 0 or places[at - 1][1] <= one.start:
            kept.append(one)
    return kept


@cache
def shipped() -> ShippedRecogniser:
    """Load the recogniser that ships with Muisti, once."""
    return ShippedRecogniser(Tagger(load(SHIPPED.read_bytes()), StaticEncoder()))
