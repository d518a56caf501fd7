"""Kernels of an installation without a library are compiled once, into the user's cache folder, and checked."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from muisti.core.kernels import cache, native
from muisti.core.kernels.target import KERNELS

CORE = native.FOLDER.parent
COUNT = "pool.count_memories(np.array([1, 1, 2]), np.ones(3, np.bool_))"
# One loop, so that tests take seconds: `stages` is what `making` compiles.
PROGRAM = f"""
import sys
import numpy as np
from muisti.core import kernels
from muisti.core.kernels import pool, target
pool.bake, kernels.stages = (lambda: {COUNT}), (pool,)
from muisti.core.operations.compiled_kernels import compile_kernels, compiled_kernels
before = compiled_kernels()
after = compile_kernels(lambda done, total: None) if sys.argv[1:] == ["make"] else before
print(before.ahead, before.pending, after.pending, {COUNT}, after.why or after.warning)
"""

pytestmark = pytest.mark.skipif(KERNELS is None, reason="no library is here to be looked at from outside")


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with our sources and no library, which no test changes. Python keeps its bytecode there."""
    folder = tmp_path_factory.mktemp("sources")
    shutil.copytree(
        CORE, folder / "muisti" / "core", ignore=shutil.ignore_patterns("weights", "__pycache__", "native-*")
    )
    return folder


@pytest.fixture
def run(sources: Path, tmp_path: Path) -> Callable[..., str]:
    """Run `PROGRAM` on these sources, with a home of its own and no C compiler in PATH."""

    def started(*arguments: str, **environ: str) -> str:
        environment = {"PATH": "", "PYTHONPATH": str(sources), "HOME": str(tmp_path / "home"), **environ}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return started


def kept(tmp_path: Path) -> list[Path]:
    return sorted(path for path in (tmp_path / "home").rglob("*") if path.is_file())


def test_without_a_compiler_numba_takes_its_place_and_keeps_what_it_compiled(
    run: Callable[..., str], sources: Path, tmp_path: Path
):
    assert run().startswith("False True True 2")
    first = run("make")
    assert first.startswith("False True False 2 there is no C compiler")
    files = kept(tmp_path)
    assert {path.suffix for path in files} >= {".nbi", ".nbc", ".json"}
    assert run().startswith("False False False 2 there is no C compiler")
    assert kept(tmp_path) == files
    assert not [*sources.rglob("*.nb[ic]")], "nothing is written beside the sources"


@pytest.mark.prove
@pytest.mark.parametrize("content", [b"", b"cut", None])
def test_damaged_files_are_compiled_again(run: Callable[..., str], tmp_path: Path, content: bytes | None):
    run("make")
    for path in kept(tmp_path):
        if path.suffix in (".nbc", ".nbi"):
            path.write_bytes(path.read_bytes()[:-9] if content is None else content)
    assert run("make").startswith("False True False 2")
    assert run().startswith("False False False 2")


def test_where_nothing_can_be_kept_it_still_works_and_says_so(run: Callable[..., str], tmp_path: Path):
    (tmp_path / "home").write_text("no folder")
    said = run("make")
    assert said.startswith("False False False 2 compiled kernels cannot be kept in")
    assert "XDG_CACHE_HOME" in said
    assert run(HOME="").startswith("False False False 2 compiled kernels cannot be kept in a cache folder")


def test_code_that_others_could_change_is_not_loaded(run: Callable[..., str], tmp_path: Path):
    run("make")
    [place] = (tmp_path / "home" / ".cache" / "muisti").iterdir()
    place.chmod(0o777)
    assert run().startswith("False False False 2 compiled kernels cannot be kept in")


def test_two_processes_at_once_both_work(run: Callable[..., str], sources: Path, tmp_path: Path):
    environment = {"PATH": "", "PYTHONPATH": str(sources), "HOME": str(tmp_path / "home")}
    both = [
        subprocess.Popen([sys.executable, "-c", PROGRAM, "make"], cwd=tmp_path, env=environment, stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    said = [process.communicate()[0].decode() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert all(" False 2 there is no C compiler" in one for one in said)
    assert run().startswith("False False False 2")


def test_the_library_of_this_user_is_loaded_and_a_broken_one_is_not(run: Callable[..., str], tmp_path: Path):
    run("make")
    [place] = (tmp_path / "home" / ".cache" / "muisti").iterdir()
    shutil.copy(native.library(), native.kept(place))
    assert run().startswith("True False False 2 None")
    for path in place.glob("*.json"):
        path.unlink()
    native.kept(place).write_bytes(b"no library")
    assert run().startswith("False True True 2")


def test_with_a_compiler_the_next_process_needs_no_numba(run: Callable[..., str], tmp_path: Path):
    if shutil.which("gcc") is None:
        pytest.skip("no C compiler is here")
    path = os.environ["PATH"]
    assert run("make", PATH=path).startswith("False True False 2 None")
    [place] = (tmp_path / "home" / ".cache" / "muisti").iterdir()
    assert native.kept(place).is_file() and not [*place.glob("*.json")]


def test_the_key_covers_the_sources(monkeypatch: pytest.MonkeyPatch):
    before = cache.folder()
    monkeypatch.setattr(cache, "digest", lambda: "of other sources")
    assert before is not None and cache.folder() != before
    monkeypatch.undo()
    monkeypatch.setattr(cache.np, "__version__", "1.0")
    assert cache.folder() != before
