"""Measures whether a cut shows the right beliefs of a small store and nothing else.

    python -m loadtests.quality.stores [--half seen|unseen|all] [--misses]

`stores.json` has ten stores of an assistant with 14 to 25 beliefs each. They are preferences, facts and instructions,
several of one kind, superseded ones, other names, two projects or people. Four have pairs of things and questions about
what is known of one only. Half of the stores were not looked at while
the cut was fitted. A question passes when all that it wants has surfaced, and nothing else. An instruction may come as
a hit or in its own lane; one in the lane that is not wanted counts as `beside`.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import click
import msgspec
import numpy as np
from msgspec.structs import replace

from loadtests.quality.contexts import opened
from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.engine import Engine
from muisti.core.model.choices import APPLIES, Type
from muisti.core.model.values import Draft
from muisti.core.query.query import Query

STORES = Path(__file__).with_name("stores.json")
WITHOUT = ("near", "none")  # kinds of question that no belief answers


class Belief(msgspec.Struct, frozen=True):
    """A belief of a store, as it is added; it may supersede an earlier one."""

    content: str
    type: Type = "fact"
    category: str | None = None
    author: str | None = None
    supersedes: str | None = None


class Question(msgspec.Struct, frozen=True):
    """A question, with the beliefs that have to surface, none for a question without an answer."""

    text: str
    kind: str
    answers: tuple[str, ...]


class Store(msgspec.Struct, frozen=True):
    """The beliefs of an assistant by name, and questions about them."""

    who: str
    half: Literal["seen", "unseen"]
    beliefs: dict[str, Belief]
    questions: tuple[Question, ...]

    @property
    def superseded(self) -> frozenset[str]:
        return frozenset(one.supersedes for one in self.beliefs.values() if one.supersedes is not None)


def stores() -> list[Store]:
    return msgspec.json.decode(STORES.read_bytes(), type=list[Store])


class Surfaced(msgspec.Struct, frozen=True):
    """The beliefs that surface for a question: as hits, and as instructions beside them."""

    question: Question
    hits: tuple[str, ...]
    lane: tuple[str, ...]

    @property
    def passes(self) -> bool:
        wanted, hits = {*self.question.answers}, {*self.hits}
        return wanted <= hits | {*self.lane} and hits <= wanted

    @property
    def precision(self) -> float:
        return len({*self.hits} & {*self.question.answers}) / len(self.hits) if self.hits else 1.0

    @property
    def beside(self) -> int:
        return len({*self.lane} - {*self.question.answers})


def ask(engine: Engine, store: Store, least: float) -> Iterator[Surfaced]:
    """Store the beliefs in a space of their own, and ask the questions."""
    space = store.who.replace(" ", "-")
    engine.spaces.create(space)
    names = dict[str, str]()
    for name, one in store.beliefs.items():
        draft = Draft(content=one.content, type=one.type, category=one.category, author=one.author)
        if one.supersedes is not None or name in store.superseded:
            draft = replace(draft, category=one.category or "facts", key=one.supersedes or name)
            written = engine.owner.write.put(space, draft)
        else:
            written = engine.owner.write.add(space, [draft], on_conflict="keep")
        names[written.memories[0].id] = name
    for question in store.questions:
        answer = engine.owner.read.search(space, Query(text=question.text, applies=least, no_touch=True))
        hits = tuple(names[one.memory.id] for one in answer.hits)
        yield Surfaced(question, hits, tuple(names[one.memory.id] for one in answer.instructions))


def table(found: Sequence[Surfaced]) -> Iterator[str]:
    yield "| questions | number | pass | precision | anything surfaces |"
    yield "| --- " * 5 + "|"
    kinds = list(dict.fromkeys(one.question.kind for one in found))
    rows = [(kind, [one for one in found if one.question.kind == kind]) for kind in kinds]
    answered = [one for one in found if one.question.kind not in WITHOUT]
    for kind, some in (*rows, ("all with an answer", answered), ("all", found)):
        means = [np.mean([value(one) for one in some]) for value in (_passes, _precision, _surfaces)]
        yield f"| {kind} | {len(some)} | " + " | ".join(f"{mean:.2f}" for mean in means) + " |"


def _passes(one: Surfaced) -> float:
    return float(one.passes)


def _precision(one: Surfaced) -> float:
    return one.precision


def _surfaces(one: Surfaced) -> float:
    return float(bool(one.hits))


@click.command()
@click.option("--half", type=click.Choice(["seen", "unseen", "all"]), default="all", show_default=True)
@click.option("--least", type=float, default=APPLIES, show_default=True, help="The cut; 0 shows everything.")
@click.option("--misses", is_flag=True, help="Print the questions that do not pass.")
def main(half: str, least: float, *, misses: bool) -> None:
    """Print the share of questions for which exactly the right beliefs surface."""
    with opened(StaticEncoder()) as engine:
        found = [one for store in stores() if half in (store.half, "all") for one in ask(engine, store, least)]
    click.echo("\n".join(table(found)))
    click.echo(f"instructions that are not wanted, in their lane: {sum(one.beside for one in found)}")
    for one in found if misses else ():
        if not one.passes:
            click.echo(json.dumps(msgspec.to_builtins(one), ensure_ascii=False))


if __name__ == "__main__":
    main()
