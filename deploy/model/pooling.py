"""A text's vector and its gradient: a sparse count matrix times the token table, rows scaled to length 1."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Matrix = npt.NDArray[np.float32]
SMALLEST = np.float32(1e-9)


@dataclass(frozen=True, slots=True)
class Pooled:
    """Unit rows of a batch of texts and what going back to the table needs."""

    counts: sp.csr_array  # texts × tokens: square roots of the counts, times the query weights for queries
    units: Matrix  # texts × dimensions
    lengths: Matrix  # texts × 1


def repeats_as_roots(counts: sp.csr_array) -> sp.csr_array:
    """Count a token that occurs n times as √n, since each repetition says less than the one before."""
    return sp.csr_array((np.sqrt(counts.data), counts.indices, counts.indptr), shape=counts.shape)


def weighted(counts: sp.csr_array, weights: npt.NDArray[np.float32]) -> sp.csr_array:
    """Each token's count times its weight."""
    return sp.csr_array((counts.data * weights[counts.indices], counts.indices, counts.indptr), shape=counts.shape)


def pool(counts: sp.csr_array, table: Matrix) -> Pooled:
    sums = counts @ table
    lengths = np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), SMALLEST).astype(np.float32)
    return Pooled(counts, sums / lengths, lengths)


def unpool(pooled: Pooled, gradient: Matrix) -> Matrix:
    """The gradient with respect to the sums before scaling, from the gradient with respect to the unit rows."""
    radial = np.sum(gradient * pooled.units, axis=1, keepdims=True)
    return (gradient - radial * pooled.units) / pooled.lengths
