"""Modules of our own that are loaded when they are first used: the one place that imports them by name.

The name stands twice, so that types stay whole and tools see the import:

    if TYPE_CHECKING:
        from muisti.core.store.remote import database
    else:
        database = Lazy("muisti.core.store.remote.database")

tests/test_lazy.py holds the two to each other, and lists who may do so and why. Everybody else imports plainly.
"""

from importlib import import_module
from typing import Any


class Lazy:
    """Stands for a module, and loads it with the first attribute that is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)
