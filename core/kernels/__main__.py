"""Compile every kernel as a part of the installation: into a library where there is a C compiler, else by numba.

Only the numba that `known.py` names makes the library. An installation that never ran this compiles the kernels
into the user's cache folder (`making.py`). Nothing happens where the library of these sources is already there.
"""

import os
import subprocess
import sys

from muisti.core.kernels import bake, native, stages
from muisti.core.kernels.target import KERNELS, warning

if native.load(native.library()):
    sys.exit()
if KERNELS is not None:  # the library in the user's cache folder
    os.execve(sys.executable, [sys.executable, "-m", "muisti.core.kernels"], {**os.environ, native.INSTALLED_ONLY: "1"})
bake()
if said := warning():
    sys.stderr.write(f"{said[0].upper()}{said[1:]}\n")
    sys.exit()

from muisti.core.kernels import ahead  # noqa: E402  # it needs the numba that `warning` looks for

try:
    ahead.make(stages, native.library())
except (OSError, subprocess.CalledProcessError) as error:
    sys.stderr.write(f"No C compiler makes modules for Python ({error}): each start loads numba, for a second\n")
