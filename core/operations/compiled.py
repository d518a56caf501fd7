"""Report to operators how the kernels of this installation were compiled."""

from msgspec import Struct

from muisti.core.kernels import target


class Compiled(Struct, frozen=True):
    """State of a compiled library: made `ahead` of time or not, and a `warning` when starts are slow."""

    ahead: bool
    warning: str | None


def compiled_kernels() -> Compiled:
    """Return how the kernels of this process were compiled."""
    return Compiled(target.KERNELS is not None, target.warning())
