"""The table before training, on the teacher's axes.

Either an earlier model's, turned; or what the teacher makes of each token alone, as model2vec distils.
"""

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from tokenizers import Tokenizer

from deploy.model.pooling import Matrix, pool
from deploy.model.teacher import Teacher

DIMENSIONS = 384  # while training; fewer are written
SIF = 3e-4  # a token's weight is SIF / (SIF + its share of all tokens): Arora, Liang and Ma (2017)
RIDGE = 30.0
DAMPING = 0.25  # an axis of the teacher is divided by its variance to this power
SPREAD = 0.2  # root mean square of the table's numbers, so that one learning rate fits


def token_vectors(teacher: Teacher, of_teacher: Tokenizer, of_student: Tokenizer) -> Matrix:
    """The teacher's vector of each of the student's tokens, if need be in pieces, between [CLS] and [SEP]."""
    numbers = of_teacher.get_vocab()
    first, last = numbers["[CLS]"], numbers["[SEP]"]
    own = of_student.get_vocab()
    words = sorted(own, key=own.__getitem__)
    pieces = [
        [numbers[word]] if word in numbers else of_teacher.encode(word, add_special_tokens=False).ids for word in words
    ]
    return teacher.encode_ids([[first, *given, last] for given in pieces])


def principal_axes(vectors: Matrix, kept: int = DIMENSIONS) -> tuple[Matrix, Matrix]:
    """The mean and the first axes (dimensions × kept, orthonormal) of vectors."""
    mean = vectors.mean(axis=0)
    centred = vectors - mean
    _, axes = np.linalg.eigh(centred.T @ centred)
    return mean, np.ascontiguousarray(axes[:, ::-1][:, :kept]).astype(np.float32)


def teaching_axes(vectors: Matrix) -> tuple[Matrix, Matrix]:
    """The mean of the teacher's vectors and its axes, the strong ones damped, so that they do not drown the rest."""
    mean, axes = principal_axes(vectors)
    spread = ((vectors - mean) @ axes).var(axis=0)
    return mean, (axes * (spread / spread.max()) ** -DAMPING).astype(np.float32)


def unit(vectors: Matrix) -> Matrix:
    return (vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)).astype(np.float32)


def token_shares(documents: list[sp.csr_array]) -> npt.NDArray[np.float32]:
    """Each token's share of all tokens of the documents, from roots of counts."""
    totals = sum(np.asarray(part.power(2).sum(axis=0)).ravel() for part in documents)
    return np.asarray(totals / np.sum(totals), np.float32)


def start_table(vectors: Matrix, shares: npt.NDArray[np.float32], texts: sp.csr_array, targets: Matrix) -> Matrix:
    """Token vectors, frequent tokens weighing less, on the axes on which sums of them come closest to the teacher.

    The map is ridge regression from the pooled `texts` (roots of counts) to the teacher's vectors of the same texts,
    `targets` (texts × dimensions, centred). It corrects all tokens together, where training corrects them one by one.
    `shares` are each token's share of all tokens of the pairs.
    """
    table = (vectors - vectors.mean(axis=0)) * (SIF / (SIF + shares))[:, None]
    pooled = pool(texts, table).units
    gram = pooled.T @ pooled + RIDGE * np.eye(pooled.shape[1], dtype=np.float32)
    table = table @ np.linalg.solve(gram, pooled.T @ targets)
    return _spread(table)


def turned_table(table: Matrix, texts: sp.csr_array, targets: Matrix) -> Matrix:
    """A table turned, not bent, so that pooled `texts` lie closest to `targets`.

    Orthogonal Procrustes: Schönemann (1966).
    """
    left, _, right = np.linalg.svd(pool(texts, table).units.T @ targets, full_matrices=False)
    return _spread(table @ (left @ right))


def _spread(table: Matrix) -> Matrix:
    return (table * (SPREAD / np.sqrt(np.mean(table**2)))).astype(np.float32)
