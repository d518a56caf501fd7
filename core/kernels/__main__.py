"""Compile every kernel as a part of the installation: into a library where there is a C compiler, else by numba.

Only the numba that `known.py` names makes the library. An installation that never ran this compiles the kernels
into the user's cache folder (`making.py`).
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

    bake()
    try:
        ahead.make(stages, native.library())
    except (OSError, subprocess.CalledProcessError) as error:
        sys.stderr.write(f"No C compiler makes modules for Python ({error}): each start loads numba, for a second\n")
else:  # compiled from these sources, but perhaps by another compiler or for another numpy
    native.library().unlink(missing_ok=True)
    os.execve(sys.executable, [sys.executable, "-m", "muisti.core.kernels"], {**os.environ, native.INSTALLED_ONLY: "1"})
