"""The kind of task that embeds a space with a further model."""

from typing import cast

from muisti.core.embedding.models import Models
from muisti.core.model.errors import StoreUnavailable
from muisti.core.model.unavailable import ModelUnavailable
from muisti.core.operations.embedding import next_step
from muisti.core.operations.generations import sql as generations
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database, Refusal, Refused
from muisti.core.store.sql import deferred
from muisti.core.tasks.claim import Claim

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
            step = next_step(self._database, space, encoder, self._models.cache, after)
            if step is None:
                self._database.write([deferred.advance_second(space, digest, space.seq.number)])
                return {"generation": digest, "embedded": done, "dropped": False}
            finished += step.passages
            total = max(finished, claim.task.total)  # some passages may have come since
            fenced = claim.fenced(position=str(step.born), done=step.passages, total=total)
            marked = deferred.advance_second(space, digest, step.born - 1)
            batch = [generations.guard_models(space), *step.batch, marked]
            try:
                self._database.write([*fenced.before, *batch, *fenced.after])
            except Refused as refused:
                if refused.code != Refusal.STALE:
                    raise
                raise StoreUnavailable("the models of the space have just changed; the task goes on soon") from refused
            after, done = step.born, done + step.passages
