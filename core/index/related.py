"""Words of rows that are related to words of a query, where the row lacks the query's own: "film" for "movie"."""

from muisti.core.embedding.related import NONE, related_words
from muisti.core.index.collection import CollectionStatistics
from muisti.core.index.lexical import Matches
from muisti.core.index.snapshot import RowNumbers, Snapshot
from muisti.core.kernels import Doubles
from muisti.core.kernels.related import relate
from muisti.core.query.query import Wanted

WORTH = 0.7  # of a related word, beside 1 of the query's own
MOST = 5  # related words that count for each word of a query: the likest that the visible rows have


def add_related(
    snapshot: Snapshot,
    population: CollectionStatistics,
    wanted: Wanted,
    matches: Matches,
    rows: RowNumbers,
    out: Doubles,
) -> None:
    """Fill `out` with the share of the query's idf that related words add to each of `rows`, ascending."""
    found = related_words().of(wanted.codes) if WORTH and matches.mass and len(wanted.codes) else NONE
    if not len(found.codes):
        out[:] = 0
        return
    whole = population.rows == snapshot.size
    if not whole:  # else counting is costly, so the counts are cached
        found.df[:] = [population.df.get(code, -1) for code in found.codes.tolist()]
    query = (wanted.codes, wanted.weights, matches.mass, matches.idf, found.codes, found.places, found.likeness, WORTH)
    counted = (found.df, population.rows, population.mask, matches.highest, MOST)
    relate(snapshot.table, rows, *query, *counted, *matches.norm.terms, out)
    if not whole:
        population.df.update(zip(found.codes.tolist(), found.df.tolist(), strict=True))
