"""Ask the model of a space and its shadow the same questions."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, median
from time import perf_counter

import msgspec

from muisti.core.model.errors import InvalidInput
from muisti.core.model.generations import K_MAX, QUERIES_MAX, Comparison, Judged, Measured
from muisti.core.operations.quality.probes import Probes, recall_of
from muisti.core.query.gain import ndcg
from muisti.core.query.query import Query
from muisti.core.search.searcher import Searcher
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.write.validate import check_query


class _Asked(msgspec.Struct, frozen=True):
    """Answers of one model: the ids of the first memories by question, and milliseconds by question."""

    found: Mapping[str, Sequence[str]]
    ms: Sequence[float]


def check(judged: Judged) -> None:
    """Raise `InvalidInput` unless the questions can be asked."""
    if not 1 <= judged.k <= K_MAX:
        raise InvalidInput.at("$.k", f"{judged.k} is not between 1 and {K_MAX}")
    if len(judged.queries) + len(judged.qrels) > QUERIES_MAX:
        raise InvalidInput.at("$.queries", f"a comparison asks at most {QUERIES_MAX:,} questions")
    for text in (*judged.queries, *judged.qrels):
        check_query(Query(text=text))
    if any(not grades or min(grades.values()) <= 0 for grades in judged.qrels.values()):
        raise InvalidInput.at("$.qrels", "each judged question needs a memory, and each grade must be above 0")


def compare(
    space: SpaceRow, searcher: Searcher, probes: Probes, pinned: Mapping[str, tuple[str, int]], judged: Judged, now: int
) -> Comparison:
    """Compare the model of a space with its shadow on probes, on judged questions and on questions without answers.

    `pinned` has the question and the k of each probe by its id.
    """
    name = space.space.name
    questions = [*dict.fromkeys([text for text, _ in pinned.values()] + [*judged.queries, *judged.qrels])]
    asked = [_ask(each, name, questions, judged.k, now) for each in (searcher, searcher.of_shadows())]
    none: Mapping[str, int | None] = {}
    ranks = [each.tried(name, now).ranks if pinned else none for each in (probes, probes.of_shadows())]
    k = {id_: most for id_, (_, most) in pinned.items()}
    identities = (space.space.generation or "", space.space.shadow or "")
    current, shadow = (
        Measured(
            identity=identity,
            recall=recall_of(k, {id_: found.get(id_) for id_ in k}) if k else None,
            ndcg=_mean(ndcg(one.found[text], grades, judged.k) for text, grades in judged.qrels.items()),
            ms=round(median(one.ms), 3) if one.ms else 0.0,
        )
        for identity, one, found in zip(identities, asked, ranks, strict=True)
    )
    first, second = asked
    return Comparison(
        k=judged.k,
        questions=len(questions),
        probes=len(pinned),
        judged=len(judged.qrels),
        overlap=_mean(_overlap(first.found[text], second.found[text]) for text in questions),
        current=current,
        shadow=shadow,
        missing=0,
    )


def _ask(searcher: Searcher, space: str, questions: Sequence[str], k: int, now: int) -> _Asked:
    found: dict[str, Sequence[str]] = {}
    ms: list[float] = []
    for text in questions[:1]:
        searcher.search(space, Query(text=text, limit=k), now)  # which loads the index
    for text in questions:
        began = perf_counter()
        answer = searcher.search(space, Query(text=text, limit=k), now)
        ms.append(1000 * (perf_counter() - began))
        found[text] = [hit.memory.id for hit in answer.hits]
    return _Asked(found, ms)


def _mean(values: Iterable[float]) -> float | None:
    listed = [*values]
    return fmean(listed) if listed else None


def _overlap(one: Sequence[str], other: Sequence[str]) -> float:
    """Return the share of the memories in the longer list that both have; 1 for two empty lists.

    >>> _overlap(["a", "b"], ["b", "c"]), _overlap([], [])
    (0.5, 1.0)
    """
    longer = max(len(one), len(other))
    return len(set(one) & set(other)) / longer if longer else 1.0
