"""Notifies listeners of changes that this process commits. Changes of other processes must be polled for."""

from collections.abc import Callable

from muisti.core.model.values import Seq

Ring = Callable[[str, Seq], None]  # takes a space's name and seq; called by any thread, so it must not block


class ChangeNotifier:
    """Publisher of the newest seq of each changed space. Thread-safe."""

    def __init__(self) -> None:
        self._listeners: tuple[Ring, ...] = ()

    def listen(self, ring: Ring) -> None:
        self._listeners = (*self._listeners, ring)

    def ignore(self, ring: Ring) -> None:
        self._listeners = tuple(one for one in self._listeners if one != ring)

    def ring(self, space: str, at: Seq) -> None:
        for one in self._listeners:
            one(space, at)
