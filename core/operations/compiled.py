"""The compiled kernels of this installation, as operators are told about them."""

from msgspec import Struct

from muisti.core.kernels import target


class Compiled(Struct, frozen=True):
    """Whether a library was made `ahead` of time, and a `warning` where answers are right but slower to begin."""

    ahead: bool
    warning: str | None


def compiled_kernels() -> Compiled:
    """Return how the kernels of this process were compiled."""
    return Compiled(target.KERNELS is not None, target.warning())
