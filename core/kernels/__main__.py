"""Compile every kernel: into a library where there is a C compiler, else into the cache of numba.

Only the numba that `known.py` names makes the library.
"""

import os
import subprocess
import sys

from muisti.core.kernels import bake, native, stages
from muisti.core.kernels.target import KERNELS, warning

if KERNELS is None and (said := warning()):
    bake()
    sys.stderr.write(f"{said[0].upper()}{said[1:]}\n")
elif KERNELS is None:
    from muisti.core.kernels import ahead

    for old in native.FOLDER.glob("__pycache__/*.nb[ic]"):  # perhaps compiled under other settings of jit.py
        old.unlink()
    bake()
    try:
        ahead.make(stages)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.stderr.write(f"No C compiler makes modules for Python ({error}): each start loads numba, for a second\n")
else:  # compiled from these sources, but perhaps by another compiler or for another numpy
    native.library().unlink()
    os.execv(sys.executable, [sys.executable, "-m", "muisti.core.kernels"])
