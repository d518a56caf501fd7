"""What a query asks for: words to rank by, phrases and words that a hit must have."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from core.filters import Filter
from core.text import query_terms, tokenize
from core.values import Evidence, Fusion, Match, Mode, Recency

REQUEST = 0.5  # weight of the words with which one asks, not for which
REQUEST_TERMS = frozenset(
    term
    for term in tokenize(
        "summarize summarise summary discussion discuss discussed think thought thinks opinion mention mentioned tell "
        "told talk talked talking recommend suggest suggestion please help give provide explain describe conversation "
        "conversations know"
    )
)

_QUOTED = re.compile(r'"([^"]*)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A search as the caller states it. `alpha` is the weight of the dense side, None for the fusion's own.

    `reference_time` (microseconds) is the time from which age and expiry count, None for now. With `min_evidence` there
    are no hits when the evidence is less.
    """

    text: str = ""
    limit: int = 10
    mode: Mode = "hybrid"
    match: Match = "any"
    filter: Filter | None = None
    fusion: Fusion = "absolute"
    alpha: float | None = None
    recency: Recency | None = None
    reference_time: int | None = None
    min_evidence: Evidence | None = None
    explain: bool = False
    highlight: bool = False


@dataclass(frozen=True, slots=True)
class Wanted:
    """The parsed text: `terms` with their weights rank, `required` and `phrases` restrict the hits.

    `words` are the same terms in their order.
    """

    text: str
    words: tuple[str, ...]
    terms: Mapping[str, float]
    required: frozenset[str]
    phrases: tuple[tuple[str, ...], ...]


def parse(text: str, match: Match) -> Wanted:
    """Read quotes and `match`.

    >>> parse('who said "hello world"', "any").phrases
    (('hello', 'world'),)
    >>> sorted(parse("the red house", "all").required)
    ['hous', 'red']
    """
    plain = text.replace('"', " ")
    quoted = [plain] if match == "phrase" else _QUOTED.findall(text)
    phrases = tuple(phrase for phrase in (tuple(tokenize(part)) for part in quoted) if phrase)
    words = tuple(query_terms(plain))
    terms = {term: times * (REQUEST if term in REQUEST_TERMS else 1.0) for term, times in Counter(words).items()}
    required = frozenset(terms) if match == "all" else frozenset[str]()
    return Wanted(text.strip(), words, terms, required, phrases)
