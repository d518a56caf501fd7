"""Vectors of second models: background work gives them to the passages that the models of their spaces have embedded.

A space has a mark: all current versions up to the change of that number have them. A few missing ones come in steps;
many come by a task, with progress.
"""

from collections.abc import Callable, Sequence
from typing import cast

from muisti.core.embedding.encoder import Encoder
from muisti.core.embedding.models import Models, card_of
from muisti.core.identity.caller import OWNER
from muisti.core.model.choices import OFF
from muisti.core.model.errors import ModelUnavailable, NotFound, StoreUnavailable
from muisti.core.model.generations import Card
from muisti.core.model.tasks import OVER
from muisti.core.model.values import RequestKey
from muisti.core.operations.missing_vectors import next_step
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database, Refusal, Refused, Statement
from muisti.core.store.sql import generations, spaces
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.support.meters import Counter
from muisti.core.tasks.claim import Claim
from muisti.core.tasks.tasks import Tasks

# The kind of task that embeds a space with a further model

KIND = "embed"


class Embed:
    """Embed the passages of a space that one of its models has not embedded. Its request names the model.

    This is the model of the space, its shadow or its second model. The position of the task is the change up to which
    nothing is missing.
    """

    name = KIND
    crashed = "task.crashed"

    def __init__(self, database: Database, models: Models) -> None:
        self._database, self._models = database, models

    def run(self, claim: Claim) -> object:
        """Embed until nothing is missing, and return how many passages this process has embedded.

        The work ends early when the model is dropped meanwhile.

        Raises:
            NotFound: the space was erased meanwhile.
            ModelUnavailable: this process does not have the model, or it does not answer; the task goes on later.
        """
        digest = cast(dict[str, str], claim.task.asked)["generation"]
        after, done, finished = int(claim.task.position or 0), 0, claim.task.finished
        while True:
            claim.check()
            space = find_space(self._database, claim.task.space)
            if digest not in (space.space.generation, space.space.shadow, space.space.second):
                return {"generation": digest, "embedded": done, "dropped": True}
            encoder = self._models.second_of(space.space) if digest == space.space.second else self._models.of(digest)
            if encoder is None:
                raise ModelUnavailable(f"this process does not have the model {digest[:12]}")
            step = next_step(self._database, space, encoder, digest, self._models.cache, after)
            if step is None:
                self._database.write([generations.advance_second(space, digest, space.seq.number)])
                return {"generation": digest, "embedded": done, "dropped": False}
            finished += step.passages
            total = max(finished, claim.task.total)  # some passages may have come since
            fenced = claim.fenced(position=str(step.born), done=step.passages, total=total)
            marked = generations.advance_second(space, digest, step.born - 1)
            batch = [generations.guard_models(space), *step.batch, marked]
            try:
                self._database.write([*fenced.before, *batch, *fenced.after])
            except Refused as refused:
                if refused.code != Refusal.STALE:
                    raise
                raise StoreUnavailable("the models of the space have just changed; the task goes on soon") from refused
            after, done = step.born, done + step.passages


MANY = 256  # passages that a task embeds, and not small steps


class SecondVectors:
    """Gives spaces the second model that they choose, and its vectors to their passages. Thread-safe.

    Two processes may do the same step at the same time: one of them stores the vectors.
    """

    def __init__(
        self, database: Database, models: Models, tasks: Tasks, clock: Callable[[], int], stored: Counter
    ) -> None:
        """`stored` counts the vectors that steps of this process store; those of tasks are counted by the tasks."""
        self._database, self._models, self._tasks, self._clock = database, models, tasks, clock
        self._stored = stored

    def lagging(self) -> list[str]:
        """Return the spaces with another second model than they choose, or with passages that may lack its vectors."""
        seconds = self._models.seconds
        if self._models.default is None:
            return []
        (rows,) = self._database.read([generations.second_names(seconds.default)])
        found = {str(name): seconds.named(str(name)) for (name,) in rows}
        identities = {name: encoder.identity for name, encoder in found.items() if encoder is not None}
        if not identities and OFF not in found:
            return []
        (rows,) = self._database.read([generations.second_lagging(seconds.default, identities)])
        return [str(name) for (name,) in rows]

    def step(self, space: str) -> bool:
        """Give a space its second model, or some of its passages their vectors. Return whether more may be lacking.

        Raises:
            ModelUnavailable: the model does not embed now; the passages stay as they are.
            NotFound: there is no such space.
        """
        found = find_space(self._database, space)
        chosen = self._models.seconds.chosen(found.space)
        encoder = self._models.seconds.named(chosen)
        if encoder is None and chosen != OFF:  # of another process
            return False
        card = None if encoder is None else card_of(encoder)
        wanted = None if card is None or card.identity == found.space.generation else card
        if found.space.second != (None if wanted is None else wanted.identity):
            self._choose(found, wanted)
            return wanted is not None
        return encoder is not None and wanted is not None and self._embed(found, encoder, wanted)

    def _embed(self, found: SpaceRow, encoder: Encoder, wanted: Card) -> bool:
        identity = wanted.identity
        ((mark, seq),) = cast(list[tuple[int, int]], self._database.read([generations.second_marks(found)])[0])
        if self._is_task(found, wanted, mark):
            return False
        step = next_step(self._database, found, encoder, identity, self._models.cache, mark + 1)
        upto = seq if step is None else step.born - 1  # the last version may lack more
        batch: Sequence[Statement] = () if step is None else step.batch
        try:
            self._database.write([spaces.guard(found), *batch, generations.advance_second(found, identity, upto)])
        except Refused as refused:
            raise NotFound("space", found.space.name) from refused
        if step is not None:
            self._stored.add(by=step.passages)
        return step is not None

    def _choose(self, found: SpaceRow, wanted: Card | None) -> None:
        """Make a model the second one of a space, unless its models have just changed."""
        batch: list[Statement] = [spaces.guard(found), generations.guard_models(found)]
        if wanted is not None:
            batch.append(spaces.register_generation(wanted, self._clock()))
        try:
            self._database.write([*batch, generations.set_second(found, None if wanted is None else wanted.identity)])
        except Refused as refused:
            if refused.code != Refusal.STALE:
                raise NotFound("space", found.space.name) from refused

    def _is_task(self, found: SpaceRow, wanted: Card, mark: int) -> bool:
        """Return whether a task embeds what is missing, making one when that is much.

        After a task that failed or was cancelled, small steps go on.
        """
        identity = wanted.identity
        last = self._tasks.list(found.space.name, OWNER, kinds=[KIND], limit=1).items
        if last and last[0].state not in OVER and cast(dict[str, str], last[0].asked).get("generation") == identity:
            return True
        (rows,) = self._database.read([generations.lacking_some(found, identity, mark + 1, MANY + 1)])
        if cast(int, rows[0][0]) <= MANY or (last and last[0].state in ("failed", "cancelled")):
            return False
        (rows,) = self._database.read([generations.lacking(found, identity)])
        asked = {"generation": identity, "model": wanted.name}
        # Two processes that look at the same time make one task.
        before = last[0].number if last else 0
        key = RequestKey("second vectors", f"{found.space.epoch} {identity} after {before}", b"")
        total = cast(int, rows[0][0])
        return not self._tasks.submit(found.space.name, KIND, asked, OWNER, total=total, request=key).is_over
