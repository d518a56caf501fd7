"""Loads the kernels that were compiled ahead of time: without numba, in a millisecond.

`core/kernels/ahead.py` builds the library into `__pycache__` beside this file. Its name contains a digest of the
sources, so a library of other sources is never loaded.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, cast

FOLDER = Path(__file__).parent

Kernels = Mapping[str, Callable[..., Any]]  # by `module.name`


def library() -> Path:
    """Return the path of the library of these sources for this Python; the file need not exist."""
    digest = hashlib.sha256()
    for source in sorted(FOLDER.glob("*.[pch]*")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return FOLDER / "__pycache__" / f"native-{digest.hexdigest()[:16]}{EXTENSION_SUFFIXES[0]}"


def levels() -> Sequence[Kernels]:
    """Return the kernels for each processor level that this machine supports, the fastest last.

    All levels give the same results. The sequence is empty when there is no library that this machine can load.
    """
    path = library()
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
