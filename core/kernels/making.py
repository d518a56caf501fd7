"""Compiles the kernels into the user's cache folder, for an installation that came without them."""

import subprocess
from collections.abc import Callable
from pathlib import Path

from muisti.core.kernels import ahead, cache, native, stages
from muisti.core.kernels.target import warning


def make(report: Callable[[int, int], None]) -> None:
    """Compile all kernels, and make the library of them where there is a C compiler.

    This process goes on with the kernels that numba has compiled; the next one loads the library. `report` gets the
    number of the parts that are done, and of all.

    Raises:
        OSError: the folder cannot be written to.
    """
    place = cache.writable()
    if place is None:
        return
    with cache.alone(place):
        for done, stage in enumerate(stages, 1):
            stage.bake()
            report(done, len(stages))
        why = warning() or _library(place)
        if why is None:
            cache.unseal()
        else:
            cache.seal(why)


def _library(place: Path) -> str | None:
    """Make the library unless another process has; return why that is not possible."""
    path = native.kept(place)
    if native.load(path):
        return None
    try:
        ahead.make(stages, path)
    except FileNotFoundError as error:
        return f"there is no C compiler ({error.filename})"
    except subprocess.CalledProcessError as error:
        return f"the C compiler {error.cmd[0]} cannot build a module for Python; are Python's headers installed?"
    return None
