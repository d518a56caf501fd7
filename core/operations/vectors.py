"""Vectors that come after their passages: background work embeds what writes have stored without waiting for a model.

Each space has a mark: all current versions up to the change of that number have vectors. So finding out that nothing
is to be done reads no passages, and a step reads only those of later versions.
"""

from collections.abc import Callable
from typing import cast

from muisti.core.embedding.models import Models
from muisti.core.model.errors import NotFound
from muisti.core.operations.embedding import next_step
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database, Refused
from muisti.core.store.sql import generations, spaces


class Vectors:
    """Embeds the passages that lack a vector of the model of their space. Thread-safe.

    They lack it when the model is a deferred one, or was not in the process that stored them. Two processes may do the
    same step at the same time: one of them stores the vectors.
    """

    def __init__(self, database: Database, models: Models, clock: Callable[[], int]) -> None:
        self._database, self._models, self._clock = database, models, clock

    def lagging(self) -> list[str]:
        """Return the spaces of models of this process that have changed since all their passages had vectors."""
        identities = [encoder.identity for encoder in self._models]
        (rows,) = self._database.read([generations.lagging(identities)]) if identities else ([],)
        return [str(name) for (name,) in rows]

    def step(self, space: str) -> bool:
        """Embed some passages of a space. Return whether more may lack vectors.

        Raises:
            ModelUnavailable: the model does not embed now; the passages stay as they are.
            NotFound: there is no such space.
        """
        found = find_space(self._database, space)
        encoder = self._models.of(found.space.generation)
        if encoder is None:
            return False
        ((mark, seq),) = cast(list[tuple[int, int]], self._database.read([generations.marks(found)])[0])
        identity = encoder.identity
        step = next_step(self._database, found, encoder, self._models.cache, mark + 1)
        batch = [spaces.guard(found)]
        if step is not None:
            batch.append(spaces.register_generation(identity, encoder.name, encoder.dimensions, self._clock()))
            if found.generation is None:
                batch.append(spaces.adopt_generation(found, identity))
            batch += step.batch
        upto = seq if step is None else step.born - 1  # the last version may lack more
        try:
            self._database.write([*batch, generations.advance(found, identity, upto)])
        except Refused as refused:
            raise NotFound("space", space) from refused
        return step is not None
