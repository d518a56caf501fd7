"""Report to operators how the kernels of this installation are compiled, and compile them where they are not yet."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from muisti.core.kernels import cache, native, target
from muisti.core.support.lazy import Lazy

if TYPE_CHECKING:
    from muisti.core.kernels import making
else:  # numba and the makers of the library, which an installation with one does without
    making = Lazy("muisti.core.kernels.making")


class Compiled(Struct, frozen=True):
    """State of the kernels.

    `ahead`: this process runs a library that was compiled ahead of time. `pending`: numba compiles kernels when they
    are first used, and `compile_kernels` would keep them. `place`: the folder that keeps them, None when there is none.
    `why`: why numba takes the place of the library. `warning`: what makes starts slow, and how to mend it.
    """

    ahead: bool
    pending: bool
    place: str | None
    why: str | None
    warning: str | None


def compiled_kernels() -> Compiled:
    """Return the state of the kernels of this process."""
    if target.KERNELS is not None:
        return Compiled(True, False, None, None, None)
    place, why = cache.writable(), cache.sealed()
    pending = place is not None and why is None and not native.load(native.kept(place))
    return Compiled(False, pending, None if place is None else str(place), why, target.warning() or _unkept(place))


def compile_kernels(report: Callable[[int, int], None]) -> Compiled:
    """Compile all kernels, keep them for later processes, and return their state.

    `report` gets the number of the parts that are done, and of all. With a library, or nowhere to keep it, nothing
    happens.

    Raises:
        OSError: the folder cannot be written to.
    """
    if target.KERNELS is None:
        making.make(report)
    return compiled_kernels()


def _unkept(place: object) -> str | None:
    if place is not None:
        return None
    where = cache.folder() or "a cache folder, for there is no home"
    return (
        f"compiled kernels cannot be kept in {where}, so numba compiles them in each process, for half a minute. To "
        "mend it, let XDG_CACHE_HOME name a folder that only you can write to"
    )
