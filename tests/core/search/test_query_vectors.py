"""Vectors of queries for a second model: mapped, by the model, or none, and what an answer says is missing."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from muisti.core.embedding.models import Models, SecondModels
from muisti.core.embedding.vectors import QueryMaps, pack, rows_of
from muisti.core.index.dense import query_vector, rotated
from muisti.core.index.snapshot import Snapshot
from muisti.core.index.vector_columns import VectorColumns
from muisti.core.kernels import Floats
from muisti.core.model.choices import SecondQuery
from muisti.core.model.errors import ModelUnavailable
from muisti.core.model.spaces import Space, SpaceSettings
from muisti.core.search.query_vectors import Like, QueryEmbedder, Second
from muisti.core.support.waiting import WouldWait, refuse_long, without_waiting
from tests.core.embedding.test_query_map import written
from tests.core.fakes import WordEncoder
from tests.core.index.test_dense import snapshot_of

OWN, OTHER = WordEncoder("", 4), WordEncoder("other", 6)
WAYS: tuple[SecondQuery, ...] = get_args(SecondQuery)


class Transformer(WordEncoder):
    """A deferred encoder that can be down."""

    deferred = True

    def __init__(self) -> None:
        super().__init__("other", 6)
        self.is_down = False

    def encode_query(self, text: str) -> Floats:
        refuse_long()
        if self.is_down:
            raise ModelUnavailable("the model is down")
        return super().encode_query(text)


def embedder(
    transformer: Transformer, usual: SecondQuery = "mapped", maps: Path | None = None, seconds: float = 0.0
) -> QueryEmbedder:
    models = Models(OWN, seconds=SecondModels({"transformer": transformer}, "transformer"))
    return QueryEmbedder(models, usual, seconds, QueryMaps(Path("absent") if maps is None else maps))


def space() -> Space:
    return Space(
        name="notes", epoch="e", seq=1, created_at=datetime(2026, 1, 1, tzinfo=UTC), settings=SpaceSettings(),
        generation=OWN.identity, second=OTHER.identity,
    )  # fmt: skip


def snapshot(texts: Mapping[int, str]) -> Snapshot:
    """Return a snapshot whose memory n has this text, embedded by both models."""
    own, other = OWN.encode([*texts.values()]), OTHER.encode([*texts.values()])
    found = snapshot_of(own, np.ones(len(own), np.int64), np.array([*texts]))
    columns = VectorColumns(6)
    columns.append(rows_of(pack(other), 6), np.ones(len(other), np.bool_))
    found.rows.second = columns
    return Snapshot(found.seq, found.rows, found.size, [], 0)


SNAPSHOT = snapshot({1: "red fox", 2: "blue sky"})


def same(found: Second | None, vector: Floats) -> bool:
    return found is not None and np.array_equal(found.vector.codes, query_vector(rotated(vector)).codes)


@pytest.fixture
def maps(tmp_path: Path) -> Path:
    written(tmp_path / "one", OWN.identity, OTHER.identity)
    return tmp_path


def test_a_query_is_mapped_by_default_and_asks_no_model(maps: Path):
    down = Transformer()
    down.is_down = True
    found, lacks = embedder(down, maps=maps).embed(space(), SNAPSHOT, "red fox", None, None)
    map = QueryMaps(maps).find(OWN.identity, OTHER.identity)
    assert map is not None and found.second is not None and found.second.mapped and not lacks
    assert same(found.second, map.of(OWN.encode_query("red fox")))


def test_the_transformer_is_asked_by_choice_of_the_query_or_of_the_server_and_without_a_map(maps: Path):
    by_query, _ = embedder(Transformer(), maps=maps).embed(space(), SNAPSHOT, "red fox", None, "transformer")
    by_server, _ = embedder(Transformer(), "transformer", maps).embed(space(), SNAPSHOT, "red fox", None, None)
    unmapped, lacks = embedder(Transformer()).embed(space(), SNAPSHOT, "red fox", None, "mapped")
    for found in (by_query, by_server, unmapped):
        assert same(found.second, OTHER.encode_query("red fox"))
        assert found.second is not None and not found.second.mapped
    assert not lacks


def test_off_and_a_query_in_another_script_are_searches_of_the_first_model(maps: Path):
    for text, way in (("red fox", "off"), *(("рыжая лиса", way) for way in WAYS)):
        found, lacks = embedder(Transformer(), maps=maps).embed(space(), SNAPSHOT, text, None, way)
        assert found.second is None and not lacks
        assert np.array_equal(found.own.codes, query_vector(rotated(OWN.encode_query(text))).codes)


def test_a_model_that_is_down_is_mapped_or_without_a_map_left_out_and_the_answer_says_so(maps: Path):
    down = Transformer()
    down.is_down = True
    found, lacks = embedder(down, maps=maps).embed(space(), SNAPSHOT, "red fox", None, "transformer")
    assert found.second is not None and found.second.mapped
    assert lacks == ("the model is down: its vector of the query was mapped",)
    found, lacks = embedder(down).embed(space(), SNAPSHOT, "red fox", None, None)
    assert found.second is None and lacks == ("the model is down: ranked without it",)


def test_a_memory_is_compared_by_its_stored_vectors_of_both_models():
    down = Transformer()
    down.is_down = True
    like = Like("00000000-0000-0000-0000-000000000001", "red fox")
    found, lacks = embedder(down).embed(space(), SNAPSHOT, "", like, "transformer")
    assert found.second is not None and not lacks
    own, other = OWN.encode_query("red fox"), OTHER.encode_query("red fox")
    np.testing.assert_allclose(found.own.codes * found.own.step, rotated(own), atol=1e-3)
    np.testing.assert_allclose(found.second.vector.codes * found.second.vector.step, rotated(other), atol=1e-3)


@pytest.mark.parametrize("seconds", [0.0, 60.0])
def test_where_nothing_may_wait_no_transformer_runs(seconds: float, maps: Path):
    asked = embedder(Transformer(), maps=maps, seconds=seconds)
    asked.embed(space(), SNAPSHOT, "blue sky", None, "mapped")  # loads the maps
    with without_waiting():
        assert asked.embed(space(), SNAPSHOT, "red fox", None, "mapped")[0].second is not None
        with pytest.raises(WouldWait):
            asked.embed(space(), SNAPSHOT, "red fox", None, "transformer")
    asked.embed(space(), SNAPSHOT, "red fox", None, "transformer")
    with without_waiting():  # its vector is cached
        assert same(
            asked.embed(space(), SNAPSHOT, "red fox", None, "transformer")[0].second, OTHER.encode_query("red fox")
        )
