"""Short names for what a key may do. Imports nothing of the service, so that a command line starts at once."""

from typing import Literal

from muisti.core.model.terms import Scope

ModeName = Literal["read-only", "append-only", "no-delete", "full"]
MODES: dict[ModeName, tuple[Scope, ...]] = {
    "read-only": ("read",),
    "append-only": ("read", "append"),
    "no-delete": ("read", "append", "write"),
    "full": ("read", "append", "write", "delete"),
}
OVERLAP_SECONDS = 86_400  # that a rotated key still opens
