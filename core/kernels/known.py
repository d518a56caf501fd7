"""Versions of numba and llvmlite, and features of a processor, that the library of kernels needs.

`ahead.py`, `native.c` and `jit.py` rely on private parts of both packages. With any other version, or on an older
processor, `numba.njit` compiles the loops through documented interfaces (`plain.py`). Results are the same.
"""

import platform
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

KNOWN: Mapping[str, str] = {"numba": "0.68.1", "llvmlite": "0.50.0"}


FEATURES = ("avx2", "fma", "bmi", "bmi2")  # of x86-64-v3, for which jit.py compiles; native.c looks for the same


def demand_numba() -> None:
    """Raise ImportError, which says what to install, when there is no numba to take the place of the library."""
    if find_spec("numba") is None:
        raise ImportError(
            f"no kernels are compiled for Python {platform.python_version()} on {platform.machine()} here, or this "
            f"processor lacks {', '.join(FEATURES)}. To mend it: pip install 'muisti[kernels]', which brings "
            "numba to compile them",
            name="numba",
        )


def unfit() -> str | None:
    """Return why no library of loops can be made or used here, and what to do; None when all is as needed."""
    if different := others():
        found = " and ".join(f"{name} {version}" for name, version in different.items())
        wanted = " ".join(f"{name}=={version}" for name, version in KNOWN.items())
        return (
            f"{found} is installed, with which no library of compiled loops is made; plain numba compiles them, so a "
            f"start takes longer. To mend it: pip install {wanted}, then muisti doctor"
        )
    if missing := lacking():
        return (
            f"this processor lacks {', '.join(missing)}, for which the library of compiled loops is made; plain numba "
            "compiles them for this processor, so a start takes longer. A virtual machine may hide what the processor "
            "has: let it have the CPU of its host"
        )
    return None


def lacking() -> Sequence[str]:
    """Return the needed features that the processor of this machine lacks; none on other machines than x86-64."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return ()
    there = import_module("llvmlite.binding").get_host_cpu_features()
    return [name for name in FEATURES if not there.get(name)]


def others() -> Mapping[str, str]:
    """Return the installed version of each package whose version is not the known one."""
    installed = {name: _installed(name) for name in KNOWN}
    return {name: found for name, found in installed.items() if found != KNOWN[name]}


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "of no known version"
