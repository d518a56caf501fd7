"""The versions of numba and llvmlite that build the library of kernels, on whose private parts `ahead.py` relies.

`native.c` and `jit.py` rely on them too. With any other version `numba.njit` compiles the loops through documented
interfaces (`plain.py`). Results are the same.
"""

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

KNOWN: Mapping[str, str] = {"numba": "0.68.1", "llvmlite": "0.50.0"}


def others() -> Mapping[str, str]:
    """Return the installed version of each package whose version is not the known one."""
    installed = {name: _installed(name) for name in KNOWN}
    return {name: found for name, found in installed.items() if found != KNOWN[name]}


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "of no known version"
