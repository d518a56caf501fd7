"""Adam (Kingma and Ba, 2015), in place, compiled: one pass over the table instead of eight."""

import numba as nb
import numpy as np
import numpy.typing as npt

FIRST, SECOND, EPSILON = 0.9, 0.999, 1e-8


class Adam:
    """Moments of one array of parameters."""

    def __init__(self, parameters: npt.NDArray[np.float32]) -> None:
        self._parameters = parameters
        self._first = np.zeros_like(parameters)
        self._second = np.zeros_like(parameters)
        self._steps = 0

    def step(self, gradient: npt.NDArray[np.float32], rate: float) -> None:
        self._steps += 1
        scale = rate * np.sqrt(1 - SECOND**self._steps) / (1 - FIRST**self._steps)
        _update(
            self._parameters.ravel(), gradient.ravel(), self._first.ravel(), self._second.ravel(), np.float32(scale)
        )


@nb.njit(cache=True, nogil=True)
def _update(parameters, gradient, first, second, scale):
    for at in range(len(parameters)):
        first[at] += np.float32(1 - FIRST) * (gradient[at] - first[at])
        second[at] += np.float32(1 - SECOND) * (gradient[at] * gradient[at] - second[at])
        parameters[at] -= scale * first[at] / (np.sqrt(second[at]) + np.float32(EPSILON))
