"""Inner loops that flag the rows which a filter selects."""

import numpy as np

from muisti.core.kernels.target import Ints, Mask, compiled


@compiled
def mark(rows: Ints, codes: Ints, chosen: Mask, first: int, flags: Mask) -> None:
    """Set the flag of each row that has a chosen code; `rows` and `codes` are pairs, and `flags` begins at row `first`.

    `chosen` has a flag for each code.
    """
    for i in range(rows.size):
        if chosen[codes[i]]:
            flags[rows[i] - first] = True


def bake() -> None:
    """Compile for the types that the index uses."""
    ints, mask = np.zeros(1, np.int32), np.zeros(1, np.bool_)
    mark(ints, ints, mask, 0, mask.copy())
