"""The weight of meaning: more for code, which shares fewer words with questions, and with a second model."""

from collections import Counter

from muisti.core.code.grammars import language_of
from muisti.core.code.headers import is_code
from muisti.core.index.columns import MISSING_CODE, Keywords
from muisti.core.index.snapshot import RowNumbers, Snapshot
from muisti.core.index.space_index import SpaceIndex
from muisti.core.query.filters import fields_of
from muisti.core.query.query import Query
from muisti.core.search.fuse import alpha_of

ALPHA = 5 / 9  # weight of the cosine; of prose it is 3 / 7
WITH_SECOND = 0.55  # weight of the cosine of two models, unless most rows are turns of dialogues
MOSTLY = 0.9  # share of code in what was found, from which a search is one for code
_CHOOSING = frozenset(("kind", "document", "language"))  # fields by which a filter can choose code


def alpha_for(index: SpaceIndex, snapshot: Snapshot, query: Query, rows: RowNumbers, second: bool) -> float:
    """Return the weight of the cosine for the default fusion of a query that has found `rows`.

    With a `second` model the cosine says more, but in dialogues the words of neighbouring turns say as much.

    Only a search whose filter chooses documents can be one for code, so no other one looks at paths.
    """
    if query.alpha is None and query.filter is not None and _CHOOSING & {*fields_of(query.filter)} and len(rows):
        column = index.column(snapshot, "document")
        assert isinstance(column, Keywords)
        known = Counter[int](column.view(snapshot.size)[rows].tolist())
        paths = column.dictionary.values
        found = sum(n for code, n in known.items() if code != MISSING_CODE and _is_source(paths[code]))
        if found >= MOSTLY * len(rows):
            return ALPHA
    if second and query.alpha is None and not snapshot.rows.dialogues.prevail:
        return WITH_SECOND
    return alpha_of("absolute", query.alpha)


def _is_source(path: object) -> bool:
    language = language_of(path) if isinstance(path, str) else None
    return language is not None and is_code(language)
