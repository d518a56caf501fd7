"""Orders in which the members of a class are looked up in it and in the classes above it."""

from collections.abc import Callable, Iterator

from muisti.core.parsing.code.things import Thing
from muisti.core.parsing.code.trail import Trail

MOST_BASES = 60  # classes above a class that are looked at


class Orders:
    """Orders of classes, each found once. `direct` gives the bases of a class, None for one outside of the project."""

    def __init__(self, trail: Trail, direct: Callable[[Thing], Iterator[Thing | None]]) -> None:
        self._trail, self._direct = trail, direct
        self._known: dict[tuple[str, int], tuple[list[Thing], bool, set[str]]] = {}

    def of(self, thing: Thing) -> tuple[list[Thing], bool]:
        """Return a class and all above it in the order in which members are looked up.

        Whether one of them has a base outside of the project is the second value.
        """
        assert thing.source is not None
        key = (thing.source.path, thing.number)
        if (known := self._known.get(key)) is not None:
            self._trail.add(known[2])
            return known[0], known[1]
        self._known[key] = ([Thing("definition", thing.source, thing.number)], False, set())
        before = self._trail.begin()
        found, outside = self._linear(Thing("definition", thing.source, thing.number))
        self._known[key] = (found, outside, self._trail.end(before))
        return found, outside

    def _linear(self, thing: Thing) -> tuple[list[Thing], bool]:
        """Linearise the classes above a class by C3, or depth first where that has no solution."""
        lines: list[list[Thing]] = []
        outside = False
        direct = [*self._direct(thing)]
        for base in direct:
            if base is None:
                outside = True
                continue
            line, open_above = self.of(base)
            lines.append([*line])
            outside = outside or open_above
        lines.append([base for base in direct if base is not None])
        order = [thing]
        while lines := [line for line in lines if line]:
            head = next((line[0] for line in lines if all(line[0] not in other[1:] for other in lines)), lines[0][0])
            if head not in order:
                order.append(head)
            lines = [[one for one in line if one != head] for line in lines]
            if len(order) > MOST_BASES:
                break
        return order, outside
