"""The losses and their gradients with respect to unit-length vectors.

InfoNCE: van den Oord, Li and Vinyals (2018), both directions. Similarity distillation: the Kullback–Leibler
divergence between the softmax over a batch as the teacher and as the student see it.
"""

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]


def softmax(scores: Matrix, axis: int) -> Matrix:
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def contrast(queries: Matrix, documents: Matrix, temperature: float) -> tuple[float, Matrix, Matrix]:
    """InfoNCE with the batch's other documents and queries as negatives. The loss and both gradients."""
    scores = queries @ documents.T / temperature
    rows, columns = softmax(scores, 1), softmax(scores, 0)
    size = len(queries)
    diagonal = np.arange(size)
    loss = -float(np.mean(np.log(rows[diagonal, diagonal]) + np.log(columns[diagonal, diagonal]))) / 2
    gradient = rows + columns
    gradient[diagonal, diagonal] -= 2
    gradient /= 2 * size * temperature
    return loss, gradient @ documents, gradient.T @ queries


def imitate_cosine(student: Matrix, teacher: Matrix) -> tuple[float, Matrix]:
    """One minus the mean cosine to the teacher's vectors."""
    return 1 - float(np.mean(np.sum(student * teacher, axis=1))), -teacher / np.float32(len(student))


def imitate_similarity(left: Matrix, right: Matrix, target: Matrix, temperature: float) -> tuple[float, Matrix, Matrix]:
    """KL(teacher ‖ student) of each row's softmax over the batch. `target` has the teacher's similarities."""
    wanted = softmax(target / temperature, 1)
    found = softmax(left @ right.T / temperature, 1)
    loss = float(np.mean(np.sum(wanted * (np.log(wanted + 1e-9) - np.log(found + 1e-9)), axis=1)))
    gradient = (found - wanted) / np.float32(len(left) * temperature)
    return loss, gradient @ right, gradient.T @ left
