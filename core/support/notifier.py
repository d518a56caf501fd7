"""Tells whoever listens that a space has changed in this process. Other processes' changes are to be looked for."""

from collections.abc import Callable

from muisti.core.model.values import Seq

Ring = Callable[[str, Seq], None]  # the name of a space and where it stands; called by any thread, must not wait


class ChangeNotifier:
    """Thread-safe."""

    def __init__(self) -> None:
        self._listeners: tuple[Ring, ...] = ()

    def listen(self, ring: Ring) -> None:
        self._listeners = (*self._listeners, ring)

    def ignore(self, ring: Ring) -> None:
        self._listeners = tuple(one for one in self._listeners if one != ring)

    def ring(self, space: str, at: Seq) -> None:
        for one in self._listeners:
            one(space, at)
