"""Queries of searches, and their parsing: words to rank by, and phrases and words that a hit should or must have."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice, pairwise
from typing import Literal, Self, get_args

import msgspec
import numpy as np
from msgspec.structs import replace

from muisti.core.kernels import Codes, Doubles, Ints
from muisti.core.model.choices import INSTRUCTIONS_MAX, Beside, Match, Mode, Preset, SecondQuery, Signal, TagRule
from muisti.core.model.errors import Problem
from muisti.core.model.fields import FIELDS
from muisti.core.model.hits import Evidence, Fusion, Recency
from muisti.core.model.ids import id_bytes
from muisti.core.model.values import NAME_MAX, QUERY_MAX, TAGS_MAX
from muisti.core.query.filter_fields import is_path
from muisti.core.query.filters import Filter
from muisti.core.query.points import AsOf
from muisti.core.text.aliases import others
from muisti.core.text.forms import plain
from muisti.core.text.scripts import unmarked
from muisti.core.text.terms import encode_terms, is_character, query_terms, tokenize

# Options of a search beyond query, filter and fusion. A search without any of them has no `Options` at all

SIGNAL_MAX = 0.5  # share of its score that a memory may lose at most by one signal
NAMING = 20  # texts, the nearest, that may state other names
WINDOW_MAX = 10  # neighbours on each side of a hit
EXPLAIN_MAX = 10  # ids whose rank, or absence, one search explains
GROUPED = ("any_case", "text", "choice", "rank", "id")  # kinds of filter fields whose values form groups
PATHS = "metadata."
APART = ("session", "topic")  # fields of conversations and topics, which no search finds
GROUP_FIELDS = tuple(field.name for field in FIELDS if field.filter in GROUPED and field.name not in APART)

# Hazina's additive composites: the weight of each part of a score, which add up to 1.
PRESETS: Mapping[Preset, Mapping[Signal, float]] = {
    "balanced": {"similarity": 0.5, "tag": 0.3, "recency": 0.1, "position": 0.1},
    "embedding-focused": {"similarity": 0.7, "tag": 0.2, "recency": 0.05, "position": 0.05},
    "tag-focused": {"similarity": 0.3, "tag": 0.5, "recency": 0.1, "position": 0.1},
    "similarity-only": {"similarity": 1.0},
}
WEIGHTED: tuple[Signal, ...] = ("tag", "position", "recency")  # signals that a caller may weigh one by one

Reading = Literal["told", "applied"]


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """Options of a search; the defaults change nothing.

    `similar_to` is the id of the memory that is the query. `group_by` names the field of which each value has one hit.
    `diversity` in [0, 1] is the weight of novelty against relevance. `context_window` is the number of neighbours
    that come beside a hit, on each side. `min_score` is the lowest score of a hit. With `fallback_to_keyword` a space
    that another model embedded is searched by keyword, and is no error.

    `signals` are weights of bounded factors; `preset` names an additive composite in their place. `boost_tags` are tags
    with a score each, and `tag_rule` says how the scores of a memory's tags become one. `intent` asks to read the query
    as a request for a mode and a filter. `rankings` are weights of rankings beside those of the mode.
    With `facts` memories come first that state a fact of the graph which answers.
    `explain_ids` are memories for which the answer says why they are hits or not; they change no hit.
    """

    similar_to: str | None = None
    group_by: str | None = None
    diversity: float = 0.0
    context_window: int = 0
    signals: Mapping[Signal, float] = msgspec.field(default_factory=dict[Signal, float])
    preset: Preset | None = None
    boost_tags: Mapping[str, float] = msgspec.field(default_factory=dict[str, float])
    tag_rule: TagRule = "max"
    min_score: float = 0.0
    fallback_to_keyword: bool = True
    intent: Reading | None = None
    rankings: Mapping[Beside, float] = msgspec.field(default_factory=dict[Beside, float])
    facts: bool = False
    explain_ids: tuple[str, ...] = ()

    @property
    def weighs(self) -> bool:
        """Return whether tags, positions or a composite take part in the score."""
        return bool(self.signals or self.preset)


NOTHING = Options()


class Part(msgspec.Struct, frozen=True):
    """A space that a search names, and its weight: above 0, at most 1."""

    space: str
    weight: float = 1.0


def problems(options: Options, mode: Mode, match: Match, text: str) -> Iterator[Problem]:
    """Yield what is wrong with the options of a search of this mode, match and text."""
    if options.similar_to is not None:
        yield from _likeness(options.similar_to, mode, match, text)
    if options.group_by is not None and not _groups(options.group_by):
        known = ", ".join((*GROUP_FIELDS, f"{PATHS}<path>"))
        yield Problem("$.group_by", f"{options.group_by[:40]!r} forms no groups; what does: {known}")
    if not 0 <= options.diversity <= 1:
        yield Problem("$.diversity", f"{options.diversity} is not between 0 and 1")
    if not 0 <= options.min_score <= 1:
        yield Problem("$.min_score", f"{options.min_score} is not between 0 and 1")
    if not 0 <= options.context_window <= WINDOW_MAX:
        yield Problem("$.context_window", f"{options.context_window} is not between 0 and {WINDOW_MAX}")
    yield from _expected(options.explain_ids)
    if mode == "recent" and (options.weighs or options.diversity):
        yield Problem("$.mode", "recent sorts by age alone: it goes without signals, preset and diversity")
    if options.intent is not None and not text.strip():
        yield Problem("$.query", "must not be empty: an intent is read from its words")
    yield from _signals(options)
    yield from _rankings(options, mode)


def _rankings(options: Options, mode: Mode) -> Iterator[Problem]:
    for name, weight in options.rankings.items():
        if name not in get_args(Beside):
            yield Problem(f"$.rankings.{name}", f"no such ranking; known are {', '.join(get_args(Beside))}")
        elif not 0 <= weight <= 1:
            yield Problem(f"$.rankings.{name}", f"{weight} is not between 0 and 1")
        elif weight and mode in ("metadata", "recent"):
            yield Problem("$.rankings", f"{mode} ranks no text, so no ranking goes beside it")


def _likeness(similar_to: str, mode: Mode, match: Match, text: str) -> Iterator[Problem]:
    if id_bytes(similar_to) is None:
        yield Problem("$.similar_to", f"{similar_to[:80]!r} is no memory id")
    if text.strip():
        yield Problem("$.query", "goes without similar_to: the text of that memory is the query")
    if match != "any":
        yield Problem("$.match", f"{match} goes without similar_to: no memory has all words of another")
    if mode in ("metadata", "recent"):
        yield Problem("$.mode", f"{mode} ranks no text, so nothing is similar in it")


def _expected(ids: tuple[str, ...]) -> Iterator[Problem]:
    if len(ids) > EXPLAIN_MAX:
        yield Problem("$.explain_ids", f"names {len(ids)} memories; at most {EXPLAIN_MAX} are explained")
    for number, one in enumerate(ids[:EXPLAIN_MAX]):
        if id_bytes(one) is None:
            yield Problem(f"$.explain_ids[{number}]", f"{one[:80]!r} is no memory id")


def _groups(field: str) -> bool:
    return field in GROUP_FIELDS or (field.startswith(PATHS) and is_path(field.removeprefix(PATHS)))


def _signals(options: Options) -> Iterator[Problem]:
    for name, weight in options.signals.items():
        if name not in WEIGHTED:
            yield Problem(f"$.signals.{name}", f"no such signal; known are {', '.join(WEIGHTED)}")
        elif not 0 <= weight <= (1.0 if name == "recency" else SIGNAL_MAX):
            most = 1.0 if name == "recency" else SIGNAL_MAX
            yield Problem(f"$.signals.{name}", f"{weight} is not between 0 and {most:g}")
    if options.preset is not None and options.preset not in PRESETS:
        yield Problem("$.preset", f"{str(options.preset)[:40]!r} is none of {', '.join(PRESETS)}")
    if options.preset is not None and options.signals:
        yield Problem("$.preset", "goes without signals: it has weights of its own")
    if options.tag_rule not in get_args(TagRule):
        yield Problem("$.tag_rule", f"{str(options.tag_rule)[:40]!r} is none of {', '.join(get_args(TagRule))}")
    yield from _boosts(options)


def _boosts(options: Options) -> Iterator[Problem]:
    weighed = PRESETS.get(options.preset, {}) if options.preset else options.signals
    if options.boost_tags and not weighed.get("tag"):
        yield Problem("$.boost_tags", "needs a weight of tags: signals.tag, or a preset other than similarity-only")
    if len(options.boost_tags) > TAGS_MAX:
        yield Problem("$.boost_tags", f"has {len(options.boost_tags)} tags; at most {TAGS_MAX} are allowed")
        return
    for tag, score in options.boost_tags.items():
        if not tag.strip() or len(tag) > NAME_MAX or "\0" in tag:
            yield Problem("$.boost_tags", f"{tag[:40]!r} is no tag of 1 to {NAME_MAX} characters")
        if not 0 <= score <= 1:
            yield Problem(f"$.boost_tags.{tag[:40]}", f"{score} is not between 0 and 1")


TRUST_WEIGHT_MAX = 0.5  # share of its score that an untrusted memory may lose at most
REQUEST = 0.5  # weight of words that phrase the request, such as "tell" or "summarise"
FAINT = 0.3  # weight of a word with its accents, beside 1 for that without, and of a single character beside words
REQUEST_TERMS = frozenset(
    term
    for term in tokenize(
        "summarize summarise summary discussion discuss discussed think thought thinks opinion mention mentioned tell "
        "told talk talked talking recommend suggest suggestion please help give provide explain describe conversation "
        "conversations know"
    )
)

_QUOTED = re.compile(r'"([^"]*)"')


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """A search as the caller states it. `alpha` is the weight of the dense side, None for the fusion's own.

    `own` selects all that the caller may read, None for everything. `as_of` is the point of history to search, None for
    now. `reference_time` (microseconds) is the time at which age and expiry are measured, None for the time of that
    point. `time_zone` is the one in which words such as "today" are read, None for UTC. With `min_evidence` there are
    no hits when the evidence is less. `applies` leaves out hits that probably do not answer
    (`core.search.applied.surfaced`); None shows all. With `no_touch` the hits do not count as retrieved.
    `trust_weight` is the share of its score that a memory with a trust of 0 loses. `second_query` is the way to ask the
    second model of a space, None for the usual one. At most `instructions` standing instructions come beside the hits.
    `options` are None for a plain search.
    """

    text: str = ""
    limit: int = 10
    mode: Mode = "hybrid"
    match: Match = "any"
    filter: Filter | None = None
    own: Filter | None = None
    fusion: Fusion = "absolute"
    alpha: float | None = None
    recency: Recency | None = None
    as_of: AsOf | None = None
    reference_time: int | None = None
    time_zone: str | None = None
    min_evidence: Evidence | None = None
    applies: float | None = None
    trust_weight: float = 0.0
    second_query: SecondQuery | None = None
    explain: bool = False
    highlight: bool = False
    no_touch: bool = False
    instructions: int = INSTRUCTIONS_MAX
    options: Options | None = None


def with_other_names(query: Query, texts: Iterable[str]) -> Query:
    """Return the query with the other names of what it names, as the first texts state them; the same without any.

    >>> with_other_names(Query(text="who chose pg?"), ["pg is short for Postgres"]).text
    'who chose pg? Postgres'
    """
    likened = query.options is not None and query.options.similar_to is not None
    names = [] if query.match != "any" or likened else others(query.text, islice(texts, NAMING))
    text = " ".join((query.text, *names))
    return replace(query, text=text) if names and len(text) <= QUERY_MAX else query


class Wanted(msgspec.Struct, frozen=True):
    """The parsed text of a query. `terms` and their weights rank the hits; `required` and `phrases` restrict them.

    Memories with every `quoted` phrase come before the others.

    `codes` and `weights` are those of the terms. `pairs` (n, 2) has the places, among the terms, of distinct words that
    follow each other. `steps` counts these pairs and those of a word with itself.
    """

    text: str
    terms: Mapping[str, float]
    codes: Codes
    weights: Doubles
    pairs: Ints
    steps: int
    required: frozenset[str]
    phrases: tuple[tuple[str, ...], ...]
    quoted: tuple[tuple[str, ...], ...]

    def demanding(self) -> Self:
        """Return the query with its quoted parts as demands, for modes that rank no text."""
        return replace(self, phrases=(*self.phrases, *self.quoted), quoted=())


def parse(text: str, match: Match) -> Wanted:
    """Parse the text of a query: quoted text is a phrase, which a hit should have; `match` says what it must have.

    >>> parse('who said "hello world"', "any").quoted
    (('hello', 'world'),)
    >>> parse('who said "hello world"', "all").phrases
    (('hello', 'world'),)
    >>> sorted(parse("the red house", "all").required)
    ['hous', 'red']
    """
    regular = plain(text)
    unquoted = regular.replace('"', " ")
    quoted = [unquoted] if match == "phrase" else _QUOTED.findall(regular)
    phrases = tuple(phrase for phrase in (tuple(tokenize(part)) for part in quoted) if phrase) if quoted else ()
    words = query_terms(unquoted)
    terms: dict[str, float] = {}
    for word in words:
        terms[word] = terms.get(word, 0.0) + (REQUEST if word in REQUEST_TERMS else 1.0)
    marked: set[str] = set()
    if not text.isascii():
        marked = {term for term in terms if term != unmarked(term)}
        faint = [*marked, *filter(is_character, terms)]
        if len(faint) < len(terms):
            terms |= dict.fromkeys(faint, FAINT)
        words = [word for word in words if word not in marked]
    place = dict(zip(terms, range(len(terms)), strict=True))
    steps = dict.fromkeys(pairwise(map(place.__getitem__, words)))
    pairs = [step for step in steps if step[0] != step[1]]
    return Wanted(
        text=text.strip(),
        terms=terms,
        codes=encode_terms([*terms], 0),
        weights=np.array([*terms.values()], np.float64),
        pairs=np.fromiter(chain.from_iterable(pairs), np.int32, 2 * len(pairs)).reshape(-1, 2),
        steps=len(steps),
        required=frozenset(terms).difference(marked) if match == "all" else frozenset(),
        phrases=() if match == "any" else phrases,
        quoted=phrases if match == "any" else (),
    )
