"""Features of memories by version: in memory, else stored, else computed and stored a little later.

A version never changes, so neither do its features. What is computed is noted, and written with the counts of
retrievals. What is noted and not yet written is lost with the process, and computed again.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import cast

import msgspec

from muisti.core.conversations.context.counting import Counter
from muisti.core.conversations.context.features import FORMAT, Features, measure
from muisti.core.conversations.context.rendering import quoted
from muisti.core.model.errors import MuistiError
from muisti.core.model.values import Memory
from muisti.core.store.database import Database
from muisti.core.store.sql import pieces
from muisti.core.store.sql.pieces import Version
from muisti.core.support.memo import holds_texts
from muisti.core.support.waiting import Lock

REMEMBERED = 50_000  # versions whose features are in memory
WAITING_MAX = 20_000  # versions whose features wait to be written
WRITTEN_MAX = 500  # in one transaction

_Key = tuple[str, Version]  # the encoding, and the version


class Sizes:
    """The features of all spaces. Thread-safe."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: OrderedDict[_Key, Features] = OrderedDict()
        self._waiting: dict[_Key, Features] = {}
        self._lock = Lock()
        holds_texts(self, "forget")

    def of(self, memories: Sequence[Memory], counter: Counter) -> list[Features]:
        """Return the features of memories in an encoding."""
        keys: list[_Key] = [(counter.name, (memory.id, memory.version)) for memory in memories]
        found = {key: features for key in keys if (features := self._known.get(key)) is not None}
        missing = [key for key in keys if key not in found]
        if missing:
            found |= self._stored([version for _, version in missing], counter.name)
        for key, memory in zip(keys, memories, strict=True):
            if key not in found:
                found[key] = measure(quoted(memory), counter)
                self._note(key, found[key])
        if missing:
            self._remember({key: found[key] for key in missing})
        return [found[key] for key in keys]

    def flush(self) -> bool:
        """Write some of what was computed; return whether there was anything.

        Raises:
            StoreUnavailable: it could not be written. It waits for the next time.
        """
        with self._lock:
            taken = dict([*self._waiting.items()][:WRITTEN_MAX])
            for key in taken:
                del self._waiting[key]
        by_encoding: dict[str, dict[Version, bytes]] = {}
        for (encoding, version), features in taken.items():
            by_encoding.setdefault(encoding, {})[version] = msgspec.msgpack.encode(features)
        try:
            for encoding, found in by_encoding.items():
                self._database.primary.write(pieces.insert(found, _stored_as(encoding)))
        except MuistiError:
            with self._lock:
                self._waiting = taken | self._waiting
            raise
        return bool(taken)

    def forget(self) -> None:
        """Forget everything in memory: something was erased."""
        with self._lock:
            self._waiting.clear()
            self._known.clear()

    def _stored(self, versions: Sequence[Version], encoding: str) -> dict[_Key, Features]:
        (rows,) = self._database.read([pieces.of_versions(versions, _stored_as(encoding))])
        return {(encoding, versions[cast(int, place)]): _decode(cast(bytes, data)) for place, data in rows}

    def _note(self, key: _Key, features: Features) -> None:
        with self._lock:
            if len(self._waiting) < WAITING_MAX:
                self._waiting[key] = features

    def _remember(self, found: Mapping[_Key, Features]) -> None:
        with self._lock:
            self._known.update(found)
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)


def _stored_as(encoding: str) -> str:
    return f"{encoding}/{FORMAT}"


_decode = msgspec.msgpack.Decoder(Features).decode
