"""Milliseconds that `on_conflict` adds to a write: search the index for memories that it repeats or contradicts.

The texts are embedded beforehand, since storing them needs their vectors anyway.
"""

import time
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from loadtests.bed import Bed
from loadtests.fill import SPACE
from loadtests.timing import USED, Engine, interleaved
from muisti.core.embedding.models import Models
from muisti.core.model.ids import IdSource, id_text
from muisti.core.model.values import TRUST, Draft
from muisti.core.store.sql.inserting import NewVersion
from muisti.core.write.conflicts.check import Checker
from muisti.core.write.prepare import new_memory, ready

COUNT = 400


def measure(bed: Bed) -> dict[str, Any]:
    count = COUNT + USED
    checker = bed.muisti().engine.owner.write._parts.writer._checker  # pyright: ignore[reportPrivateUsage]  # below the engine
    kinds = {
        "the halves of two": _halves(bed.texts[: count + 1]),
        "one without its last word": [text.rpartition(" ")[0] for text in bed.texts[-count:]],
    }
    if len(bed.unseen) >= count:
        kinds["another of the same documents"] = list(bed.unseen[:count])
    engines = [_engine(bed, checker, name, texts) for name, texts in kinds.items()]
    times = interleaved(engines, COUNT, warming=USED)
    return {
        "checks": COUNT,
        "engines": [
            {"name": name, "found": sum(one.answers.values()) / len(one.answers), **one.summary()}
            for name, one in times.items()
        ],
    }


def prepare(bed: Bed) -> None:
    bed.database()


def _engine(bed: Bed, checker: Checker, name: str, texts: Sequence[str]) -> Engine[int]:
    """Answers with how many memories the one of this number is like."""
    space, made = bed.muisti().index.space, _made(bed, texts)
    return Engine(name, lambda number: len(checker.check(space, [made[number]], _now()).found[0]))


def _made(bed: Bed, texts: Sequence[str]) -> list[NewVersion]:
    now, ids = _now(), IdSource()
    drafts = [Draft(content=text) for text in texts]
    memories = [new_memory(draft, SPACE, id_text(ids.new(now)), now, TRUST[draft.source_class]) for draft in drafts]
    return ready(memories, bed.muisti().index.space, Models(bed.encoder()))


def _halves(texts: Sequence[str]) -> list[str]:
    """The beginning of each text with the end of the next: a memory that is like others, and like none."""
    words = [text.split() for text in texts]
    return [" ".join(one[: len(one) // 2] + next_[len(next_) // 2 :]) for one, next_ in pairwise(words)]


def _now() -> int:
    return time.time_ns() // 1000
