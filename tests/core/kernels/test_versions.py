"""The library of kernels is made with known versions of numba; with others answers are the same, and doctor warns."""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from muisti.core.kernels import known, native, stages
from muisti.core.kernels.target import KERNELS

ROOT = Path(__file__).parents[3]
CORE = native.FOLDER.parent
SESSION = Path(__file__).with_name("session.py")


def pretended(folder: Path, name: str, version: str) -> Path:
    """Make a folder that, in PYTHONPATH, says that another version of a package is installed."""
    metadata = folder / f"{name}-{version}.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    return folder


def run(*command: str, path: list[Path], cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ, "PYTHONPATH": os.pathsep.join(map(str, path)), "NUMBA_CACHE_DIR": str(cwd / "cache")
    }  # fmt: skip
    return subprocess.run(
        [sys.executable, *command], cwd=cwd, env=environment, capture_output=True, text=True, check=True
    )


def session(*path: Path, cwd: Path) -> Mapping[str, Any]:
    return json.loads(run(str(SESSION), path=list(path), cwd=cwd).stdout)


@pytest.fixture
def moved(tmp_path: Path) -> Path:
    """A folder with another copy of the sources, without the library."""
    left_out = shutil.ignore_patterns("weights", "__pycache__", "native-*")
    shutil.copytree(CORE, tmp_path / "muisti" / "core", ignore=left_out)
    for part in ("embedding", "graph/entities"):
        (tmp_path / "muisti" / "core" / part / "weights").symlink_to(CORE / part / "weights")
    return tmp_path


@pytest.mark.skipif(KERNELS is None, reason="no C compiler made a library here")
def test_with_another_numba_every_answer_is_the_same_to_the_last_bit(moved: Path, long: bool):
    if not long:
        pytest.skip("compiles every loop again, which takes a minute; `make kernels-test` runs it")
    other = session(moved, pretended(moved / "other", "numba", "0.1.2"), cwd=moved)
    usual = session(CORE.parent.parent, cwd=moved)
    assert usual["library"] and usual["warning"] is None
    assert not other["library"] and "numba 0.1.2 is installed" in other["warning"]
    for version in known.KNOWN.items():
        assert "==".join(version) in other["warning"]
    assert set(other["used"]) == {stage.__name__ for stage in stages}
    assert len(usual["found"]) > 100 and other["found"] == usual["found"]


@pytest.mark.parametrize("name", known.KNOWN)
def test_no_private_interface_is_loaded_with_another_version(moved: Path, name: str):
    program = (
        "import sys; from muisti.core.kernels import stages, target; "
        "print('muisti.core.kernels.jit' in sys.modules, target.KERNELS, target.UNFIT.split()[0])"
    )
    done = run("-c", program, path=[moved, pretended(moved / "other", name, "99.0")], cwd=moved)
    assert done.stdout.split() == ["False", "None", name]


def test_no_code_for_newer_processors_is_loaded_on_an_older_one(moved: Path):
    """The features that LLVM reports are those of an older processor; that of this machine has all."""
    program = (
        "import sys; import llvmlite.binding as llvm; there = llvm.get_host_cpu_features(); "
        "there.update(avx2=False, bmi2=False); llvm.get_host_cpu_features = lambda: there; "
        "from muisti.core.kernels import stages, target; "
        "print('muisti.core.kernels.jit' in sys.modules, target.KERNELS, target.warning())"
    )
    said = run("-c", program, path=[moved], cwd=moved).stdout
    if platform.machine() in ("x86_64", "AMD64"):
        assert said.startswith("False None this processor lacks avx2, bmi2,") and "plain numba" in said
    assert known.unfit() is None and known.lacking() == []


def test_the_library_looks_for_the_same_features_before_it_gives_its_loops():
    source = (native.FOLDER / "native.c").read_text()
    first = source[source.index("static int levels") : source.index("return 0;")]
    assert re.findall(r'supports\("(\w+)"\)', first) == list(known.FEATURES)


def test_the_known_versions_are_those_that_are_installed_with_the_constraints():
    pins = dict(re.findall(r"^([\w-]+)==(\S+)", (ROOT / "deploy" / "constraints.txt").read_text(), re.MULTILINE))
    assert {name: pins[name] for name in known.KNOWN} == known.KNOWN


def test_doctor_says_it_in_words(moved: Path):
    (moved / "muisti" / "service").symlink_to(ROOT / "service")
    path = [moved, pretended(moved / "other", "numba", "0.1.2")]
    program = "from muisti.service.cli import main; main()"
    command = ("-c", program, "--json", "--database", str(moved / "a.db"), "doctor", "--quick")
    checks = {check["name"]: check for check in json.loads(run(*command, path=path, cwd=moved).stdout)["checks"]}
    assert checks["kernels"]["status"] == "warning"
    assert "numba 0.1.2 is installed" in checks["kernels"]["detail"]
