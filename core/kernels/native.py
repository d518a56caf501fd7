"""Loads the kernels that were compiled ahead of time: without numba, in a millisecond.

`python -m muisti.core.kernels` builds the library beside this file, and wheels contain it. An installation without it
has one in the user's cache folder (`cache.py`). The name contains a digest of the sources, so that a library of other
sources is never loaded.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, cast

from muisti.core.kernels import cache

FOLDER = cache.SOURCES
INSTALLED_ONLY = "_MUISTI_INSTALLED_KERNELS_ONLY"  # set while the installation compiles its own library

Kernels = Mapping[str, Callable[..., Any]]  # by `module.name`


def library() -> Path:
    """Return the path of the installed library of these sources for this Python; the file need not exist."""
    return kept(FOLDER)


def kept(folder: Path) -> Path:
    """Return the path of the library in a folder."""
    return folder / f"native-{cache.digest()}{cache.SUFFIX}"


def libraries() -> Sequence[Path]:
    """Return the paths at which a library may be: of the installation, then of this user."""
    place = None if INSTALLED_ONLY in os.environ else cache.trusted()
    return [library(), *([] if place is None else [kept(place)])]


def levels() -> Sequence[Kernels]:
    """Return the kernels for each processor level that this machine supports, the fastest last.

    All levels give the same results. The sequence is empty when there is no library that this machine can load.
    """
    return next((found for path in libraries() if (found := load(path))), ())


def load(path: Path) -> Sequence[Kernels]:
    """Return the kernels of a library as `levels` does."""
    if not path.is_file():
        return ()
    loader = ExtensionFileLoader("muisti.core.kernels.native", str(path))
    spec = spec_from_file_location("muisti.core.kernels.native", path, loader=loader)
    if spec is None:
        return ()
    try:
        module: Any = module_from_spec(spec)
        loader.exec_module(module)
    except ImportError:  # built for another C library, or another numpy
        return ()
    return cast(Sequence[Kernels], module.levels)
