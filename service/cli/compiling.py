"""Compiles the kernels of an installation that came without them, and says so on stderr."""

import os
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import Globals
from muisti.service.cli.output import console, talk
from muisti.service.cli.progress import Stages
from muisti.service.settings.places import shown

if TYPE_CHECKING:
    from muisti.core.operations import compiled
else:  # with the core
    compiled = Lazy("muisti.core.operations.compiled")


def compile_once(options: Globals, *, again: bool = False) -> "compiled.Compiled":
    """Compile what is not compiled yet and return the state; with `again` also where numba took the library's place.

    What cannot be kept is not compiled in advance; one line says so.
    """
    found = compiled.compiled_kernels()
    if found.place is None:
        if found.warning:
            talk(f"Note: {found.warning}.")
        return found
    if not (found.pending or (again and not found.ahead)):
        return found
    place = shown(Path(found.place))
    talk(f"Compiling Muisti's search loops into {place}, once: half a minute of processor time …")
    began = perf_counter()
    try:
        with Stages(console(options, stderr=True), silent=True) as stages:
            found = compiled.compile_kernels(lambda done, total: stages.note("compiling", done, total))
    except OSError as error:
        talk(f"The search loops cannot be kept in {place}: {error.strerror}. numba compiles them in each process.")
        return found
    talk(f"Compiled in {perf_counter() - began:.0f} s: {told(found)}.")
    return found


def told(found: "compiled.Compiled") -> str:
    """Return in words how the loops run from the next start on."""
    place = "" if found.place is None else shown(Path(found.place), os.environ)
    if found.why:
        return f"numba keeps them in {place}, because {found.why}. With that mended, `muisti doctor` speeds up starts"
    return f"the next start loads a library from {place}"
