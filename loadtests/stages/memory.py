"""Size of a memory: bytes in the index by column, in the database file, and in the process."""

from typing import Any

from loadtests.bed import Bed
from loadtests.muisti import sizes


def measure(bed: Bed) -> dict[str, Any]:
    path, seconds = bed.database()
    muisti = bed.muisti()
    columns = sizes(muisti.index)
    return {
        "columns": {name: size / bed.size for name, size in columns.items()},
        "in use": sum(columns.values()) / bed.size,
        "reserved": muisti.index.nbytes / bed.size,
        "file": path.stat().st_size / bed.size,
        "words": sum(len(text.split()) for text in bed.texts) / bed.size,
        "loading per second": bed.size / seconds,
    }


def prepare(bed: Bed) -> None:
    bed.database()
