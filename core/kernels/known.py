"""The versions of numba that make the library of kernels: `ahead.py` and `native.c` rely on private parts of them.

With any other version, `numba.njit` compiles the loops by documented means (`plain.py`). All results stay the same.
"""

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

KNOWN: Mapping[str, str] = {"numba": "0.68.1", "llvmlite": "0.50.0"}


def others() -> Mapping[str, str]:
    """Return the installed packages, with their versions, that are others than the known ones."""
    installed = {name: _installed(name) for name in KNOWN}
    return {name: found for name, found in installed.items() if found != KNOWN[name]}


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "of no known version"
