"""The recogniser of entities: the tagger, capital letters in mid-sentence, rules, and names known elsewhere.

Names that a model elsewhere reports, without their places, are found in the text here, and never believed. A name
counts wherever a sentence has it exactly as it was reported. A name that no sentence has is dropped.
"""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache, partial
from typing import NamedTuple, Protocol

from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.graph.entities.spans import Names, Stretch, likeliest, spans, stretches, trimmed, unread
from muisti.core.graph.entities.tagger import SHIPPED, Tagger, load
from muisti.core.graph.model import Mention
from muisti.core.model.choices import NAME_CHARACTERS, EntityKind
from muisti.core.support.regex import regex
from muisti.core.support.waiting import give_way
from muisti.core.text.terms import is_unspaced
from muisti.core.text.when.time_spans import LONGEST, named_times

# Confidence, set by hand.
FORM, QUOTED, TIME = 0.95, 0.9, 0.95

_FILES = (
    "py|pyi|js|mjs|ts|tsx|jsx|json|jsonl|toml|ya?ml|md|rst|txt|sql|rs|go|java|kt|rb|php|c|h|cc|cpp|hpp|cs|sh|html?|css"
    "|scss|csv|tsv|pdf|docx?|xlsx?|pptx?|ini|cfg|conf|env|lock|ipynb|db|sqlite|log|xml|svg|png|jpe?g|gif|zip|gz|whl"
)
_FORMS = regex(
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
_MAYBE = regex(r"[/\\@_#(`]|\d|[a-z][A-Z]|--|\.\w|www")
_TRAILING = ".,;:!?)]}"
_SYMBOLS = frozenset({"call", "snake", "camel", "option"})
_TICKS = regex(r"(?<!`)`([^`\n]{1,80})`(?!`)")
_SYMBOL = regex(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]*)*(?:\([^()\s]*\))?")
_QUOTED = regex(
    r"""“([^“”\n]{2,80})”|(?<![\w"])"([^"\n]{2,80})"(?!\w)"""
    r"""|(?<![\w'’])['‘]([^'‘’"\n]{2,60})['’](?!\w)"""
)
_TECHNOLOGIES = regex(
    r"(?<![\w./@#-])(?:Python|JavaScript|TypeScript|Kotlin|Clojure|Node\.js|Next\.js|Vue\.js|Deno|PostgreSQL|Postgres|MySQL"
    r"|MariaDB|SQLite|MongoDB|Redis|Memcached|DynamoDB|Elasticsearch|OpenSearch|ClickHouse|CockroachDB|Neo4j|BigQuery"
    r"|RabbitMQ|Django|FastAPI|Laravel|Symfony|jQuery|GraphQL|gRPC|Docker|Kubernetes|Podman|Terraform|Ansible|GitHub|GitLab"
    r"|Bitbucket|Grafana|Nginx|NGINX|Heroku|Vercel|Netlify|Linux|Ubuntu|Debian|macOS|Webpack|NumPy|PyTorch|TensorFlow"
    r"|LangChain|OpenTelemetry)(?![\w@-]|\.\w)"
)
_SMALL_TEXT = """
a an and as at but by de for from in into is la nor of off on or the to vs with & -
"""
_SMALL = frozenset(_SMALL_TEXT.split())
_WORDS = regex(r"[^\s]+")
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
        if match.lastgroup == "path" and _TECHNOLOGIES.fullmatch(match.group()):  # "Node.js" is no file
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


def technologies(text: str, start: int, stop: int, named: Sequence[Mention]) -> Iterator[Mention]:
    """Yield names of languages, databases, frameworks and tools that hardly mean anything else, as usually written.

    One within a longer name that is `named` counts as a part of that.
    """
    for match in _TECHNOLOGIES.finditer(text, start, stop):
        first, last = match.span()
        longer = (one for one in named if one.start <= first and last <= one.stop)
        if not any(one.stop - one.start > last - first for one in longer):
            yield Mention(first, last, "product", FORM, "rule")


def times(text: str, start: int, stop: int) -> Iterator[Mention]:
    """Yield the words that name a time, in the first `LONGEST` characters of a stretch."""
    for first, last in named_times(text[start : min(stop, start + LONGEST)]):
        yield Mention(start + first, start + last, "date", TIME, "rule")


RULES = "2"  # raised with each change of what the rules find


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
                share = self._tagger.calibrated(span.share) if span.source == "recogniser" else span.share
                start, stop = stretch.words[first][0], stretch.words[last - 1][1]
                yield Mention(start, stop, span.kind, round(share, 3), span.source)


def with_rules(text: str, stretch: Stretch, names: Names, named: Iterable[Mention]) -> list[Mention]:
    """Return the mentions of one stretch, in order: those of the rules and of speakers, and `named` between them.

    Where they overlap, forms come first, then quoted titles, speakers, technologies, `named`, and times.
    """
    start, stop = stretch.words[0][0], stretch.words[-1][1]
    found = [*forms(text, start, stop)]
    found += _apart(titles(text, start, stop), found)
    found += _apart(names.speakers(text, stretch.words), found)
    named = [*named]
    found += _apart(technologies(text, start, stop, named), found)
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


CONFIDENCE = 0.65  # set by hand: models tell none that is comparable
WINDOW = 6_000  # characters of a text that are asked about at a time
GAP = 20  # characters between sentences that are asked about together: more are code


class Reported(NamedTuple):
    """A name as a model has written it, with its kind."""

    name: str
    kind: EntityKind


class Asked(Protocol):
    """Interface of models elsewhere that are asked for names. Equal identities are asked in the same way."""

    @property
    def identity(self) -> str: ...

    def ask(self, texts: Sequence[str]) -> Sequence[Sequence[Reported] | None]:
        """Return the names in each text; None for a text about which there was no good answer."""
        ...

    def close(self) -> None: ...


def windows(text: str) -> list[tuple[int, int]]:
    """Return the start and stop of the parts of a text that are asked about: whole sentences, and no code blocks."""
    found: list[tuple[int, int]] = []
    for part in stretches(text):
        start, stop = part.words[0][0], part.words[-1][1]
        if stop - start > WINDOW:
            continue
        if found and stop - found[-1][0] <= WINDOW and start - found[-1][1] <= GAP:
            found[-1] = found[-1][0], stop
        else:
            found.append((start, stop))
    return found


def mentions(text: str, reported: Sequence[Reported], speakers: Collection[str]) -> tuple[list[Mention], int]:
    """Return the mentions of a text, in order, without overlaps, and how many of the names reported are not in it.

    The rules of the shipped recogniser come first: identifiers, symbols, quoted titles, speakers; words for times last.
    """
    placed, dropped = _placed(text, reported)
    names, found = Names(speakers, ()), list[Mention]()
    at = 0
    for part in stretches(text):
        start, stop = part.words[0][0], part.words[-1][1]
        while at < len(placed) and placed[at].start < start:
            at += 1
        own: list[Mention] = []
        while at < len(placed) and placed[at].start < stop:
            if placed[at].stop <= stop:
                own.append(placed[at])
            at += 1
        found += with_rules(text, part, names, own)
    return found, dropped


def _placed(text: str, reported: Sequence[Reported]) -> tuple[list[Mention], int]:
    """Return where a text has names, in order, the longest at each place; and how many it has not."""
    kinds: dict[str, EntityKind] = {}
    dropped = 0
    for name, kind in reported:
        bare = name.strip()
        if 0 < len(bare) <= NAME_CHARACTERS and any(map(str.isalnum, bare)) and next(_places(text, bare), None):
            kinds.setdefault(bare, kind)
        else:
            dropped += 1
    found: list[Mention] = []
    taken = bytearray(len(text))
    for name in sorted(kinds, key=lambda one: (-len(one), one)):
        for start, stop in _places(text, name):
            if not any(taken[start:stop]):
                taken[start:stop] = b"\1" * (stop - start)
                found.append(Mention(start, stop, kinds[name], CONFIDENCE, "endpoint"))
    return sorted(found, key=lambda one: one.start), dropped


def _places(text: str, name: str) -> Iterator[tuple[int, int]]:
    """Yield where a text has a name as whole words. Scripts without spaces have no such borders."""
    before = "" if is_unspaced(name[0]) or not name[0].isalnum() else r"(?<!\w)"
    after = "" if is_unspaced(name[-1]) or not name[-1].isalnum() else r"(?!\w)"
    return (match.span() for match in re.finditer(before + re.escape(name) + after, text))
