"""Report to operators how the kernels of this installation were compiled."""

from msgspec import Struct

from muisti.core.kernels import target


class Compiled(Struct, frozen=True):
    """Whether a library was compiled `ahead` of time, and a `warning` when the start is slower than it could be."""

    ahead: bool
    warning: str | None


def compiled_kernels() -> Compiled:
    """Return how the kernels of this process were compiled."""
    return Compiled(target.KERNELS is not None, target.warning())
