"""Parts of the benchmarks: a cache that outlives a killed run, engines asked in turn, tables in a page."""

from pathlib import Path

import numpy as np
import pytest

from loadtests.document import put
from loadtests.shelf import CHUNK, Shelf, vectors
from loadtests.timing import WARMING, Engine, interleaved


class CountingEncoder:
    """Encoder that gives each text a unique vector, and may fail midway."""

    dimensions = 4

    def __init__(self, breaks_at: int | None = None) -> None:
        self.calls, self._breaks_at = 0, breaks_at

    def encode(self, texts: list[str]) -> np.ndarray:
        self.calls += 1
        if self.calls == self._breaks_at:
            raise KeyboardInterrupt
        return np.array([[len(text), 1, 2, 3] for text in texts], np.float32)


def test_a_broken_off_build_is_made_again_and_a_whole_one_is_kept(tmp_path: Path):
    shelf = Shelf.of(tmp_path, ["a", "b"])
    assert shelf == Shelf.of(tmp_path, ["a", "b"]) != Shelf.of(tmp_path, ["a", "c"])

    def breaks(path: Path) -> None:
        path.mkdir()
        (path / "half").touch()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shelf.kept("index", breaks)
    path, seconds = shelf.kept("index", lambda path: path.mkdir())
    assert list(path.iterdir()) == []
    assert shelf.kept("index", breaks) == (path, seconds)


def test_vectors_go_on_where_they_were(tmp_path: Path):
    texts = ["x" * (n % 50) for n in range(2 * CHUNK + 1)]
    shelf, whole = Shelf.of(tmp_path, texts), CountingEncoder()
    with pytest.raises(KeyboardInterrupt):
        vectors(shelf, texts, CountingEncoder(breaks_at=2))  # pyright: ignore[reportArgumentType]
    found = vectors(shelf, texts, whole)  # pyright: ignore[reportArgumentType]
    assert whole.calls == 2
    assert found[:, 0].tolist() == [len(text) for text in texts]


def test_engines_answer_the_same_questions_in_turn():
    asked: list[tuple[str, int]] = []

    def engine(name: str, every: int = 1) -> Engine[int]:
        return Engine(name, lambda number: asked.append((name, number)) or number, every)

    times = interleaved([engine("fast"), engine("slow", every=4)], 10, block=5)
    warm = [("fast", n) for n in range(10, 10 + WARMING)] + [("slow", n) for n in range(10, 10 + WARMING)]
    assert asked[: 2 * WARMING] == warm
    first, second = [("fast", n) for n in range(5)], [("fast", n) for n in range(5, 10)]
    assert asked[2 * WARMING :] == [*first, ("slow", 0), ("slow", 4), *second, ("slow", 8)]
    assert times["slow"].answers == {0: 0, 4: 4, 8: 8} and len(times["fast"].seconds) == 10


def test_tables_take_their_places_and_nothing_else(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("# A\n<!-- bench:one -->\nold\n<!-- /bench -->\ntext\n<!-- bench:two -->\nkept\n<!-- /bench -->\n")
    put({"one": "new\n"}, page)
    assert page.read_text() == (
        "# A\n<!-- bench:one -->\nnew\n<!-- /bench -->\ntext\n<!-- bench:two -->\nkept\n<!-- /bench -->\n"
    )
