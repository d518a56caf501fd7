"""Kernels that were compiled ahead of time are those of these sources, or are not used."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muisti.core.kernels import Ints, dense, known, native, pool, stages
from muisti.core.kernels.postings import number
from muisti.core.kernels.target import KERNELS

CORE = native.FOLDER.parent
TELL = """
import sys
import numpy as np
from muisti.core.kernels import pool
from muisti.core.kernels.target import KERNELS
print(KERNELS is not None, "numba" in sys.modules, pool.count_memories(np.array([1, 1, 2]), np.ones(3, np.bool_)))
"""

built = pytest.mark.skipif(KERNELS is None, reason="no C compiler made a library here")


def tell(folder: Path) -> str:
    """Whether a process in `folder` has the library, whether it has numba, and what a kernel says."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run([sys.executable, "-c", TELL], cwd=folder, env=environment, capture_output=True, text=True)
    return done.stdout.strip() or done.stderr


@pytest.fixture
def moved(tmp_path: Path) -> Path:
    """The folder of another copy of the sources, with the library."""
    shutil.copytree(CORE, tmp_path / "muisti" / "core", ignore=shutil.ignore_patterns("weights", "*.nb[ic]"))
    return tmp_path


@built
def test_a_copy_of_the_folder_needs_no_numba_even_when_nothing_can_be_written(moved: Path):
    for folder, _, files in os.walk(moved, topdown=False):
        for name in files:
            Path(folder, name).chmod(0o444)
        Path(folder).chmod(0o555)
    assert tell(moved) == "True False 2"


@built
def test_a_library_of_other_sources_is_not_used(moved: Path):
    source = moved / "muisti" / "core" / "kernels" / "pool.py"
    source.write_text(source.read_text().replace("found += 1", "found += 2"))
    assert tell(moved) == "False True 4"


@built
def test_a_library_that_cannot_be_loaded_is_not_used(moved: Path):
    path = moved / "muisti" / "core" / "kernels" / native.library().name
    path.write_bytes(b"no library")
    assert tell(moved) == "False True 2"


@built
def test_an_installation_with_the_library_of_its_sources_compiles_nothing(moved: Path):
    path = moved / "muisti" / "core" / "kernels" / native.library().name
    before = path.stat().st_mtime_ns
    environment = {**os.environ, "PYTHONPATH": str(moved), "PATH": ""}
    program = "import runpy, sys; runpy.run_module('muisti.core.kernels', run_name='__main__')"
    done = subprocess.run([sys.executable, "-v", "-c", program], env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and "import 'numba'" not in done.stderr
    assert path.stat().st_mtime_ns == before


@pytest.mark.parametrize("found", [True, False])
def test_without_library_and_numba_the_error_says_what_to_install(found: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(known, "find_spec", lambda name: found or None)
    if found:
        known.demand_numba()
    else:
        with pytest.raises(ImportError, match=r"pip install 'muisti\[kernels\]'"):
            known.demand_numba()


@built
def test_every_stage_is_in_the_library():
    assert KERNELS
    assert {name.partition(".")[0] for name in KERNELS} == {stage.__name__.rpartition(".")[2] for stage in stages}


@built
def test_other_arguments_than_it_was_compiled_for_are_refused():
    longs, mask = np.zeros(2, np.int64), np.ones(2, np.bool_)
    types = (np.zeros(2, np.int32), np.zeros((2, 1), np.int64), np.zeros(4, np.int64)[::2], np.zeros(2, ">i8"))
    for versions in (*types, [0, 0], None):
        with pytest.raises(TypeError, match=r"pool.count_memories was not compiled for such arguments"):
            pool.count_memories(versions, mask)  # pyright: ignore[reportArgumentType]  # on purpose
    wrong: list[tuple[Any, ...]] = [(), (longs,), (longs, mask, mask)]
    for arguments in wrong:
        with pytest.raises(TypeError, match="not compiled"):
            pool.count_memories(*arguments)
    with pytest.raises(TypeError, match="by name"):
        pool.count_memories(longs, chosen=mask)
    for beyond in (2**63, -(2**63) - 1):
        with pytest.raises(OverflowError):
            pool.kth_largest(np.ones(2, np.float32), beyond)


@built
def test_only_what_a_kernel_does_not_write_to_may_be_read_only():
    allowed, rows = np.array([5], np.uint64), np.empty(2, np.int32)
    allowed.flags.writeable = False
    assert dense.listed(allowed, rows) == 2
    rows.flags.writeable = False
    with pytest.raises(TypeError, match="not compiled"):
        dense.listed(allowed, rows)


def test_arrays_that_a_kernel_made_live_as_long_as_they_are_held():
    kept: list[Ints] = []
    for size in range(1, 200):
        places, distinct = number(np.arange(size, dtype=np.uint64))
        kept.append(places)
        del distinct
    assert [places.tolist() for places in kept] == [list(range(size)) for size in range(1, 200)]
