"""Two checkouts compared: how a tree is imported, that both servers are asked the same, and the table's arithmetic."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from loadtests import compare
from loadtests.bed import Bed
from loadtests.checkout import ROOT, THIS, Checkout
from loadtests.compare import CASES, MEMORY, START, Asked, Case, Pair, Slot, compared, filled, measured
from loadtests.services import process
from loadtests.texts import invented
from muisti.core.engine import Engine
from muisti.core.model.times import system_clock
from muisti.core.store.file.database import FileDatabase


@pytest.fixture(autouse=True)
def soon_rested(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(process, "WINDOW", 0.2)


@pytest.fixture
def bed(tmp_path: Path) -> Bed:
    corpus, questions = invented(60)
    return Bed(corpus[:20], questions[:30], tmp_path / "cache", unseen=corpus[20:])


def made_tree(folder: Path, packages: str) -> Checkout:
    for name in ("core", "service"):
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text("")
    (folder / "service" / "__main__.py").write_text("print(__file__, __name__)")
    kernels = folder / "core" / "kernels"
    kernels.mkdir(parents=True)
    (kernels / "native-0.so").touch()
    (folder / "pyproject.toml").write_text(f"packages = {packages}")
    return Checkout(folder)


@pytest.mark.parametrize(
    ("packages", "name"), [('["core", "service"]', "service"), ('["muisti.core", "muisti.service"]', "muisti.service")]
)
def test_a_tree_of_either_layout_runs_its_own_code(tmp_path: Path, packages: str, name: str):
    tree = made_tree(tmp_path / "tree", packages)
    tree.prepare()
    tree.prepare()
    assert tree.service == name
    ran = subprocess.run(
        [sys.executable, "-m", tree.service], env=tree.environment, capture_output=True, text=True, check=True
    )
    assert Path(ran.stdout.split()[0]).resolve() == (tmp_path / "tree" / "service" / "__main__.py").resolve()
    assert THIS.service == "muisti.service" and "PYTHONPATH" not in Checkout(ROOT / "docs" / "..").environment


def test_nothing_is_asked_or_added_twice(bed: Bed):
    asked = Asked(bed)
    searches = [json.loads(request.body)["query"] for _ in range(3) for request in asked.some("search", 8)]
    adds = [json.loads(request.body)["content"] for kind in ("keep", "reject") for request in asked.some(kind, 20)]
    assert len(set(searches)) == 24
    assert adds == bed.unseen
    with pytest.raises(ValueError, match="too few texts"):
        asked.some("keep", 1)


@pytest.mark.prove
def test_both_servers_get_the_same_requests(tmp_path: Path, bed: Bed, monkeypatch: pytest.MonkeyPatch):
    cases = [Case("search", 1, 3), Case("keep", 2, 4)]
    monkeypatch.setattr(compare, "WARMING", {"search": 2, "keep": 2})
    files = [tmp_path / "this.db", tmp_path / "other.db"]
    for file in files:
        filled(THIS, file, bed.texts)
    found = measured((THIS, THIS), files, bed, cases, starts=1, rounds=2)
    assert {name: len(pairs) for name, pairs in found.items()} == {
        START: 1,
        "search, 1 client": 2,
        "add, keep, 2 clients": 2,
        MEMORY: 1,
    }
    for pair in (pair for pairs in found.values() for pair in pairs):
        assert not pair.this.failures and not pair.other.failures
        assert pair.this.cpu > 0 and pair.other.cpu > 0


def test_a_filled_file_holds_the_memories(tmp_path: Path, bed: Bed):
    filled(THIS, tmp_path / "filled.db", bed.texts)
    with Engine(FileDatabase(tmp_path / "filled.db"), None, system_clock) as engine:
        assert sorted(item.content for item in engine.owner.read.list("bench", limit=100).items) == sorted(bed.texts)


def test_a_kept_file_is_filled_once_and_never_half(tmp_path: Path, bed: Bed, monkeypatch: pytest.MonkeyPatch):
    file, calls = tmp_path / "kept" / "this-20.db", list[str]()

    def fill(tree: Checkout, at: Path, memories: list[str]) -> None:
        assert not list(at.parent.glob("*-wal"))
        calls.append(at.name)
        at.write_text("begun")
        Path(f"{at}-wal").write_text("log")
        if len(calls) == 1:
            raise KeyboardInterrupt
        Path(f"{at}-wal").unlink()

    monkeypatch.setattr(compare, "filled", fill)
    with pytest.raises(KeyboardInterrupt):
        compare._fill_once(THIS, file, bed, Console(quiet=True))
    assert not file.exists()
    for _ in range(2):
        compare._fill_once(THIS, file, bed, Console(quiet=True))
    assert file.exists() and len(calls) == 2


def test_ratios_are_those_of_rounds_and_not_of_medians():
    pairs = [
        Pair(start, Slot(this / 1000, 10.0), Slot(other / 1000, 20.0, failures=1))
        for start, this, other in ((0, 1, 2), (0, 8, 4), (1, 9, 9), (1, 3, 4))
    ]
    kinds = {(kind, clients) for kind in ("search", "filtered", "context", "keep", "reject") for clients in (1, 16)}
    assert {(case.kind, case.clients) for case in CASES} == kinds
    (row,) = compared({"search": pairs}, "another").rows
    assert row == ["search", "5.500", "4.000", "0.875", "0.688 to 1.250", "0.875 to 1.250", "10.0", "20.0", "0 + 4"]
