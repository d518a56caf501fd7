"""Kinds of work for tests: each item becomes a memory, and some items misbehave."""

from collections.abc import Callable

from muisti.core.engine import Engine
from muisti.core.model.tasks import Item, ItemOutcome
from muisti.core.model.values import Draft
from muisti.core.tasks.claim import Claim


class Remember:
    """Stores a memory for each item, its name, a group in one batch. `before` is called for each item first."""

    name = "remember"
    crashed = "test.crashed"

    def __init__(self, engine: Engine, before: Callable[[Claim, Item], None] = lambda claim, item: None) -> None:
        self._engine, self._before = engine, before

    def run(self, claim: Claim) -> object:
        stored = 0
        while group := claim.items():
            good, outcomes = list[Item](), list[ItemOutcome]()
            for item in group:
                try:
                    self._before(claim, item)
                except ValueError as error:
                    outcomes.append(ItemOutcome(item.number, "failed", "test.bad", str(error)))
                else:
                    good.append(item)
                    outcomes.append(ItemOutcome(item.number))
            if not good:
                claim.commit(outcomes)
                continue
            drafts = [Draft(content=f"{item.name} {item.argument}") for item in good]
            view = self._engine.seen_by(claim.caller, fenced=claim.fenced(outcomes))
            stored += len(view.write.add(claim.task.space, drafts, on_conflict="keep").memories)
        return {"stored": stored}


class Count:
    """Counts up to the number that was asked for, in steps of ten, without items."""

    name = "count"
    crashed = "test.crashed"

    def run(self, claim: Claim) -> object:
        at = int(claim.task.position or 0)
        while at < claim.task.total:
            claim.check()
            step = min(10, claim.task.total - at)
            at += step
            claim.commit(position=str(at), done=step)
        return at
