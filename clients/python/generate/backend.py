"""Build backend of `muisti` and `muisti-client`: setuptools, after the generated part of the client is written.

A wheel of `muisti` contains the compiled kernels, so it is one for this Python and this kind of machine, and needs no
numba. Without a C compiler the wheel has none: it needs numba, which compiles them at the first start.
"""

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from setuptools import Distribution
from setuptools import build_meta as given
from setuptools.build_meta import (
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
)

from generate import write

__all__ = [
    "build_editable", "build_sdist", "build_wheel", "get_requires_for_build_editable", "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
]  # fmt: skip

KERNELS = Path("core", "kernels")
COMPILING = ("numba==0.68.1", "llvmlite==0.50.0", "numpy>=2.2,<3")  # as core/kernels/known.py has them
NUMBA = "numba>=0.63,<1"

write()


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """Return what a wheel is built with: the compiler of the kernels where they can be compiled."""
    return [*given.get_requires_for_build_wheel(config_settings), *(COMPILING if _compiles() else ())]


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    """Build the wheel with the kernels in it, or one that needs numba.

    Raises:
        subprocess.CalledProcessError: the kernels cannot be compiled.
    """
    if _compiles():
        _compile()
        Distribution.has_ext_modules = lambda self: True  # a wheel for this Python and machine
    elif KERNELS.is_dir():
        _need(NUMBA)
    return given.build_wheel(wheel_directory, config_settings, metadata_directory)


def _compiles() -> bool:
    compiler = shlex.split(sysconfig.get_config_var("CC") or "cc")[0]
    return KERNELS.is_dir() and shutil.which(compiler) is not None


def _compile() -> None:
    """Compile the kernels into the source tree, unless the library of these sources is there."""
    same = Path("/proc/self/cwd")  # the library names the files of its sources
    with tempfile.TemporaryDirectory() as folder:
        here = same if same.exists() else Path(folder)
        (Path(folder) / "muisti").mkdir()
        (Path(folder) / "muisti" / "core").symlink_to(Path("core").resolve())
        path = os.pathsep.join([str(here), os.environ.get("PYTHONPATH", "")])  # with what pip builds with
        caches = {"XDG_CACHE_HOME": folder, "NUMBA_CACHE_DIR": folder}
        environment = {**os.environ, **caches, "PYTHONPATH": path, "PYTHONHASHSEED": "0"}  # equal bytes each time
        subprocess.run([sys.executable, "-m", "muisti.core.kernels"], check=True, env=environment, cwd=folder)


def _need(requirement: str) -> None:
    read = Distribution.parse_config_files

    def parse(self: Distribution, *args: Any, **options: Any) -> None:
        read(self, *args, **options)
        self.metadata.install_requires = [*self.install_requires, requirement]  # what the metadata is written from

    Distribution.parse_config_files = parse
