"""The declared rankings: what runs in a mode is what hits and explanations name."""

from typing import Any, cast, get_args

import numpy as np
import pytest

from muisti.core.engine import Engine
from muisti.core.index.snapshot import RowNumbers
from muisti.core.kernels import Doubles
from muisti.core.model.choices import Beside, Fusion, Mode
from muisti.core.query.query import Query
from muisti.core.search import candidates
from muisti.core.search.fusion import ALPHAS, weights_of
from muisti.core.search.rankers import BY_MODE, RANKERS, Asked, Name
from tests.core.fakes import SPACE, add

TEXTS = ("the fox sleeps", "a dog by the lake", "fox and dog", "clouds over the river")


def test_each_mode_and_each_ranking_is_declared():
    assert set(BY_MODE) == set(get_args(Mode))
    by_mode = {name for names in BY_MODE.values() for name in names}
    assert by_mode | {*get_args(Beside)} == set(RANKERS) == set(get_args(Name))
    assert set(weights_of(0.5)) == by_mode and sum(weights_of(0.3).values()) == 1
    assert set(ALPHAS) == set(get_args(Fusion))


@pytest.mark.parametrize("fusion", get_args(Fusion))
@pytest.mark.parametrize("mode", get_args(Mode))
def test_hits_and_explanations_name_the_rankings_that_ran(engine: Engine, mode: Mode, fusion: Fusion):
    add(engine, *TEXTS)
    hits = engine.owner.read.search(SPACE, Query(text="fox", mode=mode, fusion=fusion, explain=True)).hits
    assert hits
    assert {name for hit in hits for name in hit.ranks} == set(BY_MODE[mode])
    for name in BY_MODE[mode]:
        places = sorted(hit.ranks[name] for hit in hits if name in hit.ranks)
        assert places == list(range(1, len(places) + 1)), "each place is of one hit, as all memories fit in the limit"
    for hit in hits:
        assert hit.explain is not None
        assert (hit.explain.lexical is not None) == (hit.explain.bm25 is not None) == ("lexical" in BY_MODE[mode])
        assert (hit.explain.cosine is not None) == ("dense" in BY_MODE[mode])


def test_all_that_is_allowed_could_be_a_hit_unless_words_alone_are_ranked(engine: Engine):
    add(engine, *TEXTS)
    totals = {mode: engine.owner.read.search(SPACE, Query(text="fox", mode=mode)).total for mode in BY_MODE}
    assert totals == {"hybrid": 4, "semantic": 4, "keyword": 2, "metadata": 2, "recent": 2}


class Newest:
    """A ranking that does not exist: the newest memory first."""

    matches = None

    def __init__(self, asked: Asked) -> None:
        self._mask = asked.allowed.mask

    def best(self, most: int) -> RowNumbers:
        return np.flatnonzero(self._mask)[::-1][:most]

    def scores(self, rows: RowNumbers) -> Doubles:
        return (rows + 1) / len(self._mask)


@pytest.mark.parametrize("fusion", sorted({*get_args(Fusion)} - {"absolute"}))
def test_a_third_ranking_takes_part_by_its_entries(engine: Engine, fusion: Fusion, monkeypatch: pytest.MonkeyPatch):
    """The default score is fitted to two rankings, and does not take others."""
    monkeypatch.setitem(cast(Any, RANKERS), "newest", Newest)
    monkeypatch.setitem(cast(Any, BY_MODE), "hybrid", (*BY_MODE["hybrid"], "newest"))
    monkeypatch.setattr(candidates, "weights_of", lambda alpha: {"lexical": 0.0, "dense": 0.0, "newest": 1.0})
    add(engine, *TEXTS)
    hits = engine.owner.read.search(SPACE, Query(text="fox", fusion=fusion, limit=len(TEXTS))).hits
    places = {hit.memory.content: hit.ranks["newest"] for hit in hits}
    assert places == {text: place for place, text in enumerate(reversed(TEXTS), start=1)}
    assert [hit.memory.content for hit in hits] == [*reversed(TEXTS)], "it has all the weight"
