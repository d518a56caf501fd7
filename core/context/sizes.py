"""Features of memories by version, computed when they are first needed and kept in memory."""

from collections import OrderedDict
from collections.abc import Sequence

from muisti.core.context.counting import Counter
from muisti.core.context.features import Features, measure
from muisti.core.model.values import Memory

REMEMBERED = 50_000  # versions whose features are in memory


class Sizes:
    """A cache of features. A version never changes, so neither do its features. Thread-safe."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[object, ...], Features] = OrderedDict()

    def of(self, memories: Sequence[Memory], counter: Counter) -> list[Features]:
        """Return the features of memories in an encoding."""
        return [self._one(memory, counter) for memory in memories]

    def _one(self, memory: Memory, counter: Counter) -> Features:
        version = (memory.id, memory.version, memory.updated_at, counter.name)
        found = self._known.get(version)
        if found is None:
            found = self._known[version] = measure(memory.content, counter)
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return found
