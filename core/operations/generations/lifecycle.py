"""Begin a shadow of a space, compare it, exchange it with the model of the space, and drop it."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import cast

import msgspec

from muisti.core.embedding.models import SHORT, Models, card_of
from muisti.core.identity.caller import Caller
from muisti.core.index.cache import Indexes
from muisti.core.index.space_index import SpaceIndex
from muisti.core.model.errors import Conflict, Forbidden, InvalidInput, MuistiError, NotFound, RecallDropped
from muisti.core.model.generations import Card, Comparison, Generation, Judged, Role, ShadowIncomplete
from muisti.core.model.operations import Action
from muisti.core.model.quality import Run
from muisti.core.model.tasks import Task
from muisti.core.model.times import Clock, from_us
from muisti.core.model.values import RequestKey
from muisti.core.operations.generations.comparing import check, compare
from muisti.core.operations.generations.second_vectors import KIND
from muisti.core.operations.missing_vectors import next_step
from muisti.core.operations.quality.probes import Probes
from muisti.core.read.reading import find_space
from muisti.core.search.searcher import Searcher
from muisti.core.store.database import Database, Refusal, Refused, Statement
from muisti.core.store.sql import changes, generations, operations, spaces
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.tasks.tasks import Tasks

Progress = Callable[[int, int], None]  # passages embedded, passages in total


class Generations(msgspec.Struct, frozen=True):
    """The models of all spaces. Instances are thread-safe.

    A model belongs to a whole space. All methods raise `Forbidden` for a caller who sees only a part of it, and
    `NotFound` when there is no such space.
    """

    database: Database
    indexes: Indexes
    searcher: Searcher
    probes: Probes
    models: Models
    tasks: Tasks
    clock: Clock

    def list(self, space: str, caller: Caller) -> Sequence[Generation]:
        """Return the models that have vectors in a space, the oldest first. Every vector is counted."""
        _check(caller)
        found = find_space(self.database, space)
        total, rows = self.database.read([generations.passages(found), generations.counts(found)])
        listed = cast(list[tuple[str, str, int, int, int, int]], rows)
        return [
            Generation(
                identity=digest,
                model=model,
                dimensions=dimensions,
                created_at=from_us(created_at),
                role=_role(found, digest),
                passages=cast(int, total[0][0]),
                embedded=living,
                available=self._is_available(found, digest),
                served=digest == found.space.shadow and found.space.shadow_served,
            )
            for digest, model, dimensions, created_at, living, _ in listed
        ]

    def get(self, space: str, name: str, caller: Caller) -> Generation:
        """Return a model of a space by its identity, the first 12 or more characters of it, or the model's name.

        Raises:
            NotFound: the space has no such model.
            Conflict: several models of the space have this name.
        """
        return _named(self.list(space, caller), name)

    def build(self, space: str, model: str, caller: Caller, request: RequestKey | None = None) -> Task:
        """Make a model the shadow of a space, and submit the task that embeds what it lacks.

        New text is embedded by both models from now on. For the model that the space has already, the task embeds what
        is missing.

        Raises:
            InvalidInput: the process has no such model.
            ModelUnavailable: it is behind an endpoint that has never answered.
            Conflict: the space has another shadow.
            RequestReused, TooManyTasks.
        """
        _check(caller)
        card = card_of(self.models.named(model))
        asked = {"generation": card.identity, "model": card.name}
        begun = self.tasks.begin(space, KIND, asked, caller, request)
        if isinstance(begun, Task):
            return begun
        try:
            return begun.end(self._lacking(self._begin(space, card, caller), card.identity))
        except MuistiError:
            begun.abandon()
            raise

    def compare(self, space: str, judged: Judged, caller: Caller) -> Comparison:
        """Ask the model of a space and its shadow the probes of the space and the given questions.

        Raises:
            InvalidInput: the questions cannot be asked.
            Conflict: the space has no shadow.
            ModelMismatch: the process lacks one of the models.
        """
        _check(caller)
        check(judged)
        found = find_space(self.database, space)
        shadow = _shadow_of(found)
        for digest in (found.space.generation, shadow):
            self.models.required(space, digest)
        pinned = {one.id: (one.expects.query, one.expects.k) for one in self.probes.list(space, caller)}
        compared = compare(found, self.searcher, self.probes, pinned, judged, self.clock())
        return msgspec.structs.replace(compared, missing=self._lacking(found, shadow))

    def switch(self, space: str, caller: Caller, *, force: bool = False) -> Generation:
        """Make the shadow the model of a space, and the model its shadow, which `roll_back` leads to.

        The next search of each process uses it. With `force` the shadow may be incomplete: what it lacks ranks by
        keyword; and its probes may find less.

        Raises:
            Conflict: the space has no shadow, or one that was its model before.
            ShadowIncomplete: it lacks vectors.
            RecallDropped: the probes find less with the shadow.
            ModelMismatch: the process does not have the shadow's model, so it cannot tell what it finds.
        """
        _check(caller)
        found = find_space(self.database, space)
        shadow = _shadow_of(found)
        if found.space.shadow_served:
            raise Conflict(
                f"the shadow of space {space!r} is the model that it had before: roll back to it, or drop it and build "
                "another"
            )
        if not force:
            self.models.required(space, shadow)
            self._compare_probes(found, caller)
        switched = self._exchange(found, caller, served=True, force=force)
        if switched.available and self.probes.list(space, caller):
            self.probes.run(space, caller, self.clock)
        return switched

    def roll_back(self, space: str, caller: Caller, *, force: bool = False) -> Generation:
        """Make the model that a space had before its model again. Nothing is embedded.

        With `force` it may lack vectors: what it lacks ranks by keyword.

        Raises:
            Conflict: the space has not been switched.
            ShadowIncomplete: the model before lacks vectors.
        """
        _check(caller)
        found = find_space(self.database, space)
        if found.space.shadow is None or not found.space.shadow_served:
            raise Conflict(f"space {space!r} has no earlier model to roll back to")
        return self._exchange(found, caller, served=False, force=force)

    def drop(self, space: str, name: str, caller: Caller) -> int:
        """Delete the vectors of a model in a space, in steps, and return how many. The model of the space stays.

        A task that builds it ends. A drop that was broken off can be repeated.

        Raises:
            NotFound: the space has no such model.
            Conflict: it is the model of the space, or its second one.
        """
        one = self.get(space, name, caller)
        if one.role == "current":
            raise Conflict(f"{one.model!r} is the model of space {space!r}; switch to another one first")
        if one.role == "second":
            raise Conflict(f"{one.model!r} is the second model of space {space!r}; set its second_model to off first")
        found = find_space(self.database, space)
        digest, overwrites = one.identity, not self.database.local
        left = [generations.set_shadow(found, None)] if digest == found.space.shadow else []
        noted = self._note(found, caller, "generation_dropped", digest)
        forgotten = generations.forget_segments(found, digest, overwrites=overwrites)
        self._write(found, [*left, *forgotten, noted])
        total, after = 0, 0
        while True:
            batch = generations.drop_some(found, digest, after, overwrites=overwrites)
            ((count,),), ((last,),), *_ = self.database.write(batch)
            if last is None:
                return total
            total, after = total + cast(int, count), cast(int, last)

    def embed_again(self, space: str, progress: Progress, caller: Caller, *, force: bool = False) -> None:
        """Embed a space with the default model, switch to it, and drop the model before. This call does the work.

        It can be stopped and repeated. Until the switch, searches use the old model.

        Raises:
            InvalidInput: embeddings are off.
            ModelUnavailable: the model does not embed now, or is another one.
            Conflict: the space has another shadow.
            RecallDropped: the probes find less with the new model, and `force` is not set. The space keeps the old one.
        """
        _check(caller)
        encoder = self.models.default
        if encoder is None:
            raise InvalidInput.at("$.embeddings", "embeddings are off; there is no model to embed with")
        card = card_of(encoder)
        before, after = self._begin(space, card, caller), 0
        (total,) = self.database.read([generations.passages(before)])
        while True:
            found = find_space(self.database, space)
            missing = self._lacking(found, card.identity)
            progress(cast(int, total[0][0]) - missing, cast(int, total[0][0]))
            if step := next_step(self.database, found, encoder, card.identity, self.models.cache, after):
                self._write(found, step.batch)
                after = step.born
                continue
            if card.identity == found.space.generation:
                self._tell(found, caller)
                return
            with suppress(ShadowIncomplete):  # others have written meanwhile, without this model
                self.switch(space, caller, force=force)
                self.drop(space, cast(str, before.space.generation), caller)
                return

    def _begin(self, space: str, card: Card, caller: Caller) -> SpaceRow:
        """Make a model the shadow of a space, unless it is its model or its shadow; return the space as it was."""
        digest, found = card.identity, find_space(self.database, space)
        registered = spaces.register_generation(card, self.clock())
        if found.space.generation is None:  # nothing is embedded yet: there is nothing to exchange
            self._write(found, [registered, spaces.adopt_generation(found, digest)])
        elif digest not in (found.space.generation, found.space.shadow):
            if found.space.shadow is not None:
                raise Conflict(
                    f"space {space!r} has a shadow, {found.space.shadow[:SHORT]}: switch to it or drop it first"
                )
            made = [registered, generations.set_shadow(found, digest)]
            self._write(found, [*made, self._note(found, caller, "generation_built", digest)])
        return found

    def _tell(self, found: SpaceRow, caller: Caller) -> None:
        """Record that passages of a space have got the vectors that they lacked, and drop its index."""
        now = self.clock()
        self._write(found, [*spaces.advance(found, 1, now), changes.record(found, "reembedded", caller)])
        self.indexes.drop(found.space.name)

    def _exchange(self, found: SpaceRow, caller: Caller, *, served: bool, force: bool) -> Generation:
        """Exchange the model and the shadow of a space in one batch; return the new model.

        Its index is loaded before, and the passages so far are checked before, so that writers do not wait for that.
        """
        shadow, name = _shadow_of(found), found.space.name
        asked = [generations.passages(found), generations.lacking(found, shadow), generations.one(shadow)]
        passages, lacking, rows = self.database.read(asked)
        missing = cast(int, lacking[0][0])
        if missing and not force:
            raise ShadowIncomplete(name, shadow, missing)
        index = SpaceIndex(self.database, spaces.exchanged(found))
        batch = [
            *([] if force else [generations.refuse_lacking(found, shadow, found.seq.number)]),
            *spaces.advance(found, 1, self.clock()),
            generations.exchange(found, served=served),
            changes.record(found, "reembedded", caller),
            self._note(found, caller, "generation_switched", shadow),
        ]
        self._write(found, batch)
        now_is = find_space(self.database, name)
        if now_is.generation == index.space.generation and now_is.space.epoch == index.space.space.epoch:
            self.indexes.replace(now_is, index)
        self.indexes.note(now_is, now_is.seq.number)
        model, dimensions, created_at = cast(tuple[str, int, int], rows[0])
        return Generation(
            identity=shadow,
            model=model,
            dimensions=dimensions,
            created_at=from_us(created_at),
            role="current",
            passages=cast(int, passages[0][0]),
            embedded=cast(int, passages[0][0]) - missing,
            available=self.models.of(shadow) is not None,
        )

    def _compare_probes(self, found: SpaceRow, caller: Caller) -> None:
        """Raise `RecallDropped` when the probes of a space find less with its shadow."""
        name = found.space.name
        before = self._before(found, caller)
        if before is None:
            return
        after, then = self.probes.of_shadows().compared(name, before, self.clock())
        if after < then:
            raise RecallDropped(name, then, after)

    def _before(self, found: SpaceRow, caller: Caller) -> Run | None:
        """Ask the probes with the model of a space, and return the ranks; those of the last run without that model."""
        name = found.space.name
        if self.models.of(found.space.generation) is None:
            return self.probes.last(name, found.space.generation)
        return self.probes.tried(name, self.clock()) if self.probes.list(name, caller) else None

    def _lacking(self, found: SpaceRow, digest: str) -> int:
        (rows,) = self.database.read([generations.lacking(found, digest)])
        return cast(int, rows[0][0])

    def _is_available(self, found: SpaceRow, digest: str) -> bool:
        if digest == found.space.second:
            return self.models.second_of(found.space) is not None
        return self.models.of(digest) is not None

    def _note(self, found: SpaceRow, caller: Caller, action: Action, digest: str) -> Statement:
        return operations.audit(self.clock(), caller.actor, action, space=found.space.name, target=digest)

    def _write(self, found: SpaceRow, batch: Sequence[Statement]) -> None:
        """Run a batch, unless the models of the space have changed since it was read.

        Raises:
            Conflict: they have.
            ShadowIncomplete: it lacks vectors, and the batch forbids that.
            NotFound: the space was erased meanwhile.
        """
        try:
            self.database.write([spaces.guard(found), generations.guard_models(found), *batch])
        except Refused as refused:
            name, shadow = found.space.name, found.space.shadow
            if refused.code == Refusal.INCOMPLETE and shadow is not None:
                raise ShadowIncomplete(name, shadow, self._lacking(found, shadow)) from refused
            if refused.code == Refusal.STALE:
                raise Conflict(
                    f"the models of space {name!r} have just changed; look at them and try again"
                ) from refused
            raise NotFound("space", name) from refused


def _check(caller: Caller) -> None:
    if not caller.sees_all:
        raise Forbidden("the models belong to a whole space, and this key sees a part of it")


def _shadow_of(found: SpaceRow) -> str:
    if found.space.shadow is None:
        raise Conflict(f"space {found.space.name!r} has no shadow; build one first")
    return found.space.shadow


def _role(found: SpaceRow, digest: str) -> Role:
    roles: dict[str | None, Role] = {
        found.space.second: "second",
        found.space.shadow: "shadow",
        found.space.generation: "current",
    }
    return roles.get(digest, "left")


def _named(listed: Sequence[Generation], name: str) -> Generation:
    found = [one for one in listed if name in (one.identity, one.model)]
    if not found and len(name) >= SHORT:
        found = [one for one in listed if one.identity.startswith(name)]
    if not found:
        raise NotFound("generation", name)
    if len(found) > 1:
        raise Conflict(f"{len(found)} models of the space have the name {name!r}; name one by its hash")
    return found[0]
