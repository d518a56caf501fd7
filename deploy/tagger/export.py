"""Write a trained tagger as int8 and small floats."""

import numpy as np
from safetensors.numpy import save

from muisti.core.kernels import Doubles, Floats, Packed


def content(entries: Packed, mean: Floats, axes: Floats, net: dict[str, Floats], knots: Doubles) -> bytes:
    """Return the file's bytes."""
    window, window_scale = _quantised(net["window"], (0, 1))
    hashed, hashed_scale = _quantised(net["hashed"][:-1], (0,))
    reduced, axes_scale = _quantised(axes, (0,))
    arrays = {
        "lists": entries,
        "mean": mean,
        "axes": reduced,
        "axes_scale": axes_scale,
        "window": window,
        "window_scale": window_scale,
        "marked": net["marked"],
        "hidden": net["hidden"],
        "pairs": net["pairs"].astype(np.float16),
        "transitions": net["transitions"],
        "hashed": hashed,
        "hashed_scale": hashed_scale,
        "knots": knots.astype(np.float32),
    }
    return save({name: np.ascontiguousarray(array) for name, array in arrays.items()})


def _quantised(values: Floats, over: tuple[int, ...]) -> tuple[np.ndarray, Floats]:
    """Return int8 codes, and what each column of them is to be multiplied with."""
    scale = (np.abs(values).max(axis=over) / 127).astype(np.float32)
    return np.rint(values / np.where(scale > 0, scale, 1)).astype(np.int8), scale
