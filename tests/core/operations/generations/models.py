"""A second real static model, made from the shipped one: its vectors are projected to fewer dimensions."""

import json
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from muisti.core.embedding.encoder import FILES, SHIPPED

DIMENSIONS = 128


def projected(folder: Path, dimensions: int = DIMENSIONS, seed: int = 1) -> Path:
    """Write the model into a folder, and return it. A random orthonormal projection nearly keeps the cosines."""
    folder.mkdir(parents=True, exist_ok=True)
    arrays = dict(load_file(SHIPPED / "model.safetensors"))
    table = arrays["embeddings"].astype(np.float32)
    basis, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((table.shape[1], dimensions)))
    arrays["embeddings"] = np.ascontiguousarray(table @ basis.astype(np.float32))
    save_file(arrays, folder / "model.safetensors")
    for name in set(FILES) - {"model.safetensors"}:
        (folder / name).write_bytes((SHIPPED / name).read_bytes())
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "hidden_dim": dimensions}))
    return folder
