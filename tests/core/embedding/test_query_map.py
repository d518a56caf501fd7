"""Maps of query vectors: read from files, for their two models alone, of length 1."""

from pathlib import Path

import msgspec
import numpy as np
import pytest
from safetensors.numpy import save_file

from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.embedding.vectors import MATRIX, MODELS, SHIPPED, Between, QueryMaps, read
from muisti.core.model.errors import InvalidInput


def written(folder: Path, source: str, target: str, seed: int = 1) -> Path:
    """Write a random map from 4 to 6 dimensions."""
    folder.mkdir(parents=True)
    chance = np.random.default_rng(seed)
    arrays = {
        "matrix": chance.integers(-127, 128, (4, 6)).astype(np.int8),
        "scales": chance.random(6).astype(np.float32),
        "offset": chance.random(6).astype(np.float32),
    }
    save_file(arrays, folder / MATRIX)
    (folder / MODELS).write_bytes(msgspec.json.encode(Between(source, target)))
    return folder


def test_a_mapped_vector_is_the_affine_image_of_length_one(tmp_path: Path):
    found = read(written(tmp_path / "m", "a", "b"))
    vector = np.array([0.5, -0.5, 0.5, 0.5], np.float32)
    image = vector @ found.matrix + found.offset
    np.testing.assert_allclose(found.of(vector), image / np.linalg.norm(image), rtol=1e-6)
    assert not found.of(np.zeros(4, np.float32)).any()


def test_a_map_is_found_for_its_two_models_alone(tmp_path: Path):
    written(tmp_path / "one", "a", "b")
    written(tmp_path / "two", "a", "c", seed=2)
    maps = QueryMaps(tmp_path)
    for target in ("b", "c"):
        found = maps.find("a", target)
        assert found is not None and found.between == Between("a", target)
    assert maps.find("a", "d") is None
    assert maps.find("b", "a") is None and maps.find(None, "b") is None and maps.find("a", None) is None
    assert QueryMaps(tmp_path / "absent").find("a", "b") is None


def test_broken_files_are_refused_in_words(tmp_path: Path):
    folder = written(tmp_path / "m", "a", "b")
    (folder / MATRIX).write_bytes(b"nonsense")
    with pytest.raises(InvalidInput) as refused:
        read(folder)
    assert "no map of query vectors" in refused.value.problems[0].message


def test_the_shipped_map_is_from_the_shipped_model():
    for file in SHIPPED.glob(f"*/{MODELS}"):
        assert read(file.parent).between.source == StaticEncoder().identity
