"""Access modes: short names for sets of scopes. The module imports nothing of the service, for a fast command line."""

from typing import Literal

from muisti.core.model.choices import Scope

ModeName = Literal["read-only", "append-only", "no-delete", "full"]
MODES: dict[ModeName, tuple[Scope, ...]] = {
    "read-only": ("read",),
    "append-only": ("read", "append"),
    "no-delete": ("read", "append", "write"),
    "full": ("read", "append", "write", "delete"),
}
OVERLAP_SECONDS = 86_400  # time that a rotated key still works
