"""Places for names in a picture, so that none covers another."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from muisti.core.text.terms import composed

_CHARACTER = 0.62  # width of a character as a share of its size; of East Asian ones it is 1
_GAP = 3.0


class Box(NamedTuple):
    """A rectangle of a picture."""

    left: float
    top: float
    right: float
    bottom: float

    def covers(self, other: "Box") -> bool:
        """Tell whether both have a point in common."""
        apart = self.right <= other.left or other.right <= self.left
        return not (apart or self.bottom <= other.top or other.bottom <= self.top)


class Label(NamedTuple):
    """A name to be written beside a point, `radius` away from it, in letters of a `size`; `style` is a class of CSS."""

    text: str
    x: float
    y: float
    radius: float
    size: float
    style: str = ""

    @property
    def css(self) -> str:
        """Return the attribute that names the style."""
        return f' class="{self.style}"' if self.style else ""


def wide(text: str, size: float) -> float:
    """Return about how wide a text is."""
    return size * sum(1.0 if ord(mark) > 0x2E80 else _CHARACTER for mark in composed(text))


def placed(
    labels: Sequence[Label], taken: list[Box], page: tuple[float, float]
) -> Iterator[tuple[Label, tuple[float, float]]]:
    """Yield the labels that find a free place, the first ones first, with the left end of their base line.

    `taken` are boxes that no label may cover; `page` is width and height.
    """
    for label in labels:
        across = wide(label.text, label.size)
        for left, base in _tries(label, across, page[0]):
            box = Box(left, base - label.size * 0.8, left + across, base + label.size * 0.25)
            inside = box.left >= 0 and box.top >= 0 and box.right <= page[0] and box.bottom <= page[1]
            if inside and not any(box.covers(other) for other in taken):
                taken.append(box)
                yield label, (left, base)
                break


def _tries(label: Label, across: float, width: float) -> Iterator[tuple[float, float]]:
    """Yield places around the point: right, left, below, above, the corners, then below and above within the page.

    The kind of a line is written on the point.
    """
    x, y, size = label.x, label.y, label.size
    away = label.radius + _GAP
    middle = y + size * 0.3
    if label.radius == 0.0:
        yield x - across / 2, middle
        return
    below, above = y + away + size * 0.8, y - away - size * 0.25
    yield x + away, middle
    yield x - away - across, middle
    yield x - across / 2, below
    yield x - across / 2, above
    slant = label.radius * 0.7 + _GAP
    for base in (y + slant + size * 0.5, y - slant):
        yield x + slant, base
        yield x - slant - across, base
    inside = min(max(x - across / 2, 0.0), width - across)
    for far in (0.0, size, 2 * size):
        yield inside, below + far
        yield inside, above - far
