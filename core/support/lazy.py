"""Modules of our own that are loaded when they are first used: the one place that imports them by name.

The name is written twice, so that type checkers and other tools see the import:

    if TYPE_CHECKING:
        from muisti.core.store.remote import database
    else:
        database = Lazy("muisti.core.store.remote.database")

`tests/test_lazy.py` compares both names, and lists the modules that may do so with reasons. All others import plainly.
"""

from importlib import import_module
from typing import Any


class Lazy:
    """Proxy of a module, which it imports when an attribute is first asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)
