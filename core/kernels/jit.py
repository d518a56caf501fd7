"""Compiles loops for the library, by private interfaces of the numba version that `known.py` names.

Loops are compiled for a fixed CPU, so that code compiled on one machine runs on every other of its kind. The target
is set before anything compiles.
"""

import platform
from collections.abc import Callable
from importlib import import_module
from typing import Any, cast

from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic

from muisti.core.kernels.plain import array_at, compiled

__all__ = ["CPU", "array_at", "compiled", "fetch"]

# Neither package has type annotations.
llvm: Any = import_module("llvmlite.binding")
ir: Any = import_module("llvmlite.ir")

TARGETS = {"x86_64": "x86-64-v3", "AMD64": "x86-64-v3", "aarch64": "generic", "arm64": "generic"}

CPU = TARGETS.get(platform.machine())

# Vectorise for the narrowest type of a loop: sums of products of bytes take two thirds of the time.
llvm.set_option("", "-vectorizer-maximize-bandwidth")

if CPU is not None:
    config.CPU_NAME = CPU  # pyright: ignore[reportAttributeAccessIssue]  # numba sets its options at run time
    config.CPU_FEATURES = ""  # pyright: ignore[reportAttributeAccessIssue]  # numba sets its options at run time


@intrinsic
def _fetch(_: Any, address: Any) -> Any:
    def emit(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        word, there = ir.IntType(32), builder.inttoptr(arguments[0], cgutils.voidptr_t)
        shape = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, word, word, word])
        loads = builder.module.declare_intrinsic("llvm.prefetch", [cgutils.voidptr_t], shape)
        builder.call(loads, [there, word(0), word(3), word(1)])

    return types.void(address), emit


_load = cast(Callable[[int], None], _fetch)


@compiled
def fetch(address: int, size: int) -> None:
    """Prefetch `size` bytes at an address into the processor's cache; for use by loops."""
    for line in range(0, size, 64):
        _load(address + line)
