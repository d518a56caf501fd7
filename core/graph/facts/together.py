"""Association of two entities that texts mention together."""

from math import log


def association(both: int, one: int, other: int, texts: int) -> float:
    """Return the normalised pointwise mutual information of two entities, from 0 to 1, damped when they are rare.

    `both` counts the texts that mention both, `one` and `other` those that mention each, `texts` all. 0 means that they
    meet no more often than by chance, 1 that they always meet. Two entities that meet once say little, so the value is
    multiplied by both / (both + 1).

    >>> association(10, 10, 10, 1000) > association(1, 1, 1, 1000) > association(1, 50, 50, 1000)
    True
    >>> association(0, 3, 4, 1000)
    0.0

    Raises:
        ValueError: the counts contradict each other.
    """
    if not 0 <= both <= min(one, other) <= max(one, other) <= texts:
        raise ValueError(f"{both} of {one} and {other} among {texts} texts is impossible")
    if both == 0 or both == texts:
        return 0.0
    information = log(both * texts / (one * other)) / -log(both / texts)
    return max(0.0, information) * both / (both + 1)
