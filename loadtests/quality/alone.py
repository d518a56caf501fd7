"""Measures how much of its budget a context uses where one memory answers, among statements that were written here.

    python -m loadtests.quality.alone

A space has facts about people and services, one for each question, and as many notes about the same names. `kept` is
the share of questions whose memory is in the context whole. `used` is the median share of the budget, and `memories`
the median number of memories.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random

import click
import numpy as np

from loadtests.quality.contexts import opened
from muisti.core.conversations.context.counting import USUAL
from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.model.values import Draft
from muisti.core.views.read import Request

BUDGETS = (250, 500, 1_000, 2_000, 4_000)
SPACE = "alone"
START = datetime(2026, 1, 5, tzinfo=UTC)

FIRST = "Ann Bob Carla David Elena Farid Grace Henrik Ines Jonas Katrin Luis Mona Nils Olga Pavel Rosa Sven Tara Uwe"
LAST = "Berg Lindqvist Moreau Okafor Tanaka Weiss Novak Rossi Haddad Larsen"
SERVICES = "billing checkout search catalog inventory login payments shipping reporting mailing pricing returns"
CITIES = "Turku Oslo Lyon Porto Graz Bergen Malmo Leeds Utrecht Gdansk"
DRINKS = ("green tea", "black coffee", "oat milk", "sparkling water", "hot chocolate", "mint tea", "apple juice")
OF_PEOPLE = (
    ("{name} prefers to drink {drink} in the morning.", "what does {name} prefer to drink?"),
    ("{name} sits at desk {number} near the window.", "which desk has {name}?"),
    ("{name} moved to {city} in spring and works from there.", "where does {name} live?"),
    ("{name} is on holiday from {number} June.", "when is {name} on holiday?"),
    ("{name} has a dog called Rex {number}.", "what is the name of {name}'s dog?"),
)
OF_SERVICES = (
    ("The {name} service is owned by {person}.", "who owns the {name} service?"),
    ("To deploy {name}, push tag {number} and watch the error rate.", "how do I deploy {name}?"),
    ("The {name} database runs on port {number} in Frankfurt.", "which port does the {name} database use?"),
    ("Logs of {name} are kept for {number} days.", "how long do we keep logs of {name}?"),
)
OTHERS = (
    ("Invoices are due 30 days after delivery.", "when are invoices due?"),
    ("The office door code changes on the first of each month.", "when does the door code change?"),
    ("New laptops come from Delta Hardware.", "who supplies our laptops?"),
    ("We chose PostgreSQL over MySQL because of its JSON support.", "why did we choose PostgreSQL?"),
)
NOTES = (
    "We talked about the weekend at lunch; {person} took notes about {name}.",
    "The demo for customers went well, and {person} sent action items about {name}.",
    "Retro: fewer meetings, more pairing, said {person} of {name}.",
    "The build was slow on day {number} because of the new cache of {name}.",
)


def facts() -> Iterator[tuple[str, str | None]]:
    """Yield memories with the question that each answers; None for notes."""
    people = [f"{first} {LAST.split()[place % 10]}" for place, first in enumerate(FIRST.split())]
    cities = CITIES.split()
    for place, name in enumerate(people):
        fields = {"drink": DRINKS[place % len(DRINKS)], "city": cities[place % 10], "number": 3 + place}
        yield from ((said.format(name=name, **fields), asked.format(name=name)) for said, asked in OF_PEOPLE)
    for place, name in enumerate(SERVICES.split()):
        fields = {"person": people[3 * place % 20], "number": 5400 + place}
        yield from ((said.format(name=name, **fields), asked.format(name=name)) for said, asked in OF_SERVICES)
        for number, note in enumerate(NOTES * 3):
            yield note.format(name=name, person=people[(place + number) % 20], number=number), None
    yield from OTHERS


@click.command()
def main() -> None:
    """Print what contexts of several budgets hold where one memory answers."""
    every = [*facts()]
    Random(2).shuffle(every)
    click.echo("| budget | kept | used | memories |\n| --- | --- | --- | --- |")
    with opened(StaticEncoder()) as engine:
        engine.spaces.create(SPACE)
        drafts = [Draft(content=said, event_at=START + timedelta(hours=7 * n)) for n, (said, _) in enumerate(every)]
        stored = engine.owner.write.add(SPACE, drafts, on_conflict="keep").memories
        for budget in BUDGETS:
            rows: list[tuple[float, float, float]] = []
            for memory, (_, question) in zip(stored, every, strict=True):
                if question is not None:
                    asked = Request(query=question, token_budget=budget, encoding=USUAL, no_touch=True)
                    found = engine.owner.context.build(SPACE, asked)
                    kept = any(one.id == memory.id and not one.cut for one in found.citations)
                    rows.append((kept, found.tokens / budget, len(found.citations)))
            kept, used, memories = np.array(rows).T
            click.echo(f"| {budget:,} | {kept.mean():.3f} | {np.median(used):.2f} | {np.median(memories):.0f} |")


if __name__ == "__main__":
    main()
