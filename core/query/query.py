"""Queries of searches, and their parsing: words to rank by, and phrases and words that a hit should or must have."""

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Self

import msgspec
import numpy as np
from msgspec.structs import replace

from muisti.core.kernels import Codes, Doubles, Ints
from muisti.core.model.hits import Evidence, Fusion, Match, Mode, Recency
from muisti.core.model.terms import INSTRUCTIONS_MAX, SecondQuery
from muisti.core.query.filters import Filter
from muisti.core.query.options import Options
from muisti.core.query.points import AsOf
from muisti.core.text.terms import encode_terms, query_terms, tokenize

TRUST_WEIGHT_MAX = 0.5  # share of its score that an untrusted memory may lose at most
REQUEST = 0.5  # weight of words that phrase the request, such as "tell" or "summarise"
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
    point. With `min_evidence` there are no hits when the evidence is less. With `no_touch` the hits do not count as
    retrieved. `trust_weight` is the share of its score that a memory with a trust of 0 loses. `second_query` is the way
    to ask the second model of a space, None for the usual one. At most `instructions` standing instructions come beside
    the hits. `options` are None for a plain search.
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
    min_evidence: Evidence | None = None
    trust_weight: float = 0.0
    second_query: SecondQuery | None = None
    explain: bool = False
    highlight: bool = False
    no_touch: bool = False
    instructions: int = INSTRUCTIONS_MAX
    options: Options | None = None


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
    plain = text.replace('"', " ")
    quoted = [plain] if match == "phrase" else _QUOTED.findall(text)
    phrases = tuple(phrase for phrase in (tuple(tokenize(part)) for part in quoted) if phrase)
    words = query_terms(plain)
    terms: dict[str, float] = {}
    for word in words:
        terms[word] = terms.get(word, 0.0) + (REQUEST if word in REQUEST_TERMS else 1.0)
    place = {term: at for at, term in enumerate(terms)}
    steps = dict.fromkeys(pairwise([place[word] for word in words]))
    return Wanted(
        text=text.strip(),
        terms=terms,
        codes=encode_terms([*terms], 0),
        weights=np.array([*terms.values()], np.float64),
        pairs=np.array([step for step in steps if step[0] != step[1]], np.int32).reshape(-1, 2),
        steps=len(steps),
        required=frozenset(terms) if match == "all" else frozenset(),
        phrases=() if match == "any" else phrases,
        quoted=phrases if match == "any" else (),
    )
