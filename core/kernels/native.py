"""Where the kernels are that were compiled ahead of time, and how they are loaded: without numba, in a millisecond.

The library lies beside this file and bears the digest of the sources in its name: one that was made of others is not
found. `core/kernels/ahead.py` makes it.
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
    """The file that holds the kernels of these sources for this Python, whether it exists or not."""
    digest = hashlib.sha256()
    for source in sorted(FOLDER.glob("*.[pch]*")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return FOLDER / "__pycache__" / f"native-{digest.hexdigest()[:16]}{EXTENSION_SUFFIXES[0]}"


def levels() -> Sequence[Kernels]:
    """The kernels for each level of processors that this machine can do, the fastest last; all do the same.

    Nothing when there is no library that this machine can load.
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
    except ImportError:  # made for another C library, or another numpy
        return ()
    return cast(Sequence[Kernels], module.levels)
