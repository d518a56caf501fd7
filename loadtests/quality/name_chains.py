"""Judged data made from templates: chains of names, of which a question names only the first.

Nobody wrote these texts. They are the case for which ranking by ties of names is meant: the answer shares no name and
hardly a word with the question. No share here says anything about the texts of people.
"""

import random
from collections.abc import Iterator, Mapping

from muisti.service.evaluation.dataset import Dataset, Document, Query

GROUP = "chains"
FIRST = (
    "Anna Bruno Clara David Elena Felix Greta Hugo Irene Jonas Karin Lukas Maria Nils Olga Peter Rosa Simon Tina Viktor"
)
LAST = (
    "Albrecht Brandt Castillo Dahlberg Engström Fischer Gallagher Hoffman Ivanov Jensen Kowalski Lindqvist Moreau Novak"
)
FIRMS = "Arvidor Belmora Cindrix Dolvane Estarra Fenwick Galdora Halvex Ithrane Jorvik Kelmont Lorvane Mirador Nordane"
KINDS = ("Systems", "Logistics", "Industries", "Labs", "Energy", "Foods")
CITIES = "Turku Tampere Bergen Aarhus Uppsala Gdansk Leipzig Porto Bologna Utrecht Lyon Zagreb Graz Dublin Toledo Riga"
TIES = (
    ("{a} reports to {b} since the spring.", "the boss of {a}"),
    ("{b} has been mentoring {a} for a year.", "the mentor of {a}"),
    ("{a} plays chess with {b} on Sundays.", "the chess partner of {a}"),
    ("{a} rents a flat from {b}.", "the landlord of {a}"),
)
JOBS = ("{b} signed a contract with {firm}.", "{b} runs the night shift at {firm}.", "{firm} promoted {b} last month.")
SEATS = (
    "{firm} moved to new rooms in {city}.",
    "{firm} keeps its servers in {city}.",
    "{firm} opened a hall in {city}.",
)
NOISE = (
    "{name} had a cold last week.",
    "{name} prefers tea to coffee.",
    "{name} forgot an umbrella on the train.",
    "{name} asked for the minutes again.",
    "{name} was praised in the newspaper.",
)
IDLE = (
    "Which company pays the rent is a good question.",
    "The boss wants the report by Friday.",
    "The city council met in the evening.",
    "A mentor should listen first.",
    "The landlord raised the rent.",
    "Chess partners are hard to find.",
)


def made(chains: int = 120, seed: int = 0) -> tuple[Dataset, Mapping[str, str]]:
    """Return a dataset of chains person, person, company, city, and the first name of the chain of each question.

    Questions are over two and over three ties.
    """
    draw = random.Random(seed)
    people = [f"{first} {last}" for first in FIRST.split() for last in LAST.split()]
    firms = [f"{firm} {kind}" for firm in FIRMS.split() for kind in KINDS]
    draw.shuffle(people)
    draw.shuffle(firms)
    most = min(chains, len(people) // 2)
    documents: list[Document] = []
    queries: list[Query] = []
    qrels: dict[str, dict[str, float]] = {}
    firsts: dict[str, str] = {}
    for number in range(most):
        a, b, firm = people[2 * number], people[2 * number + 1], firms[number % len(firms)]
        city = draw.choice(CITIES.split())
        (tie, called), job, seat = draw.choice(TIES), draw.choice(JOBS), draw.choice(SEATS)
        links = [tie.format(a=a, b=b), job.format(b=b, firm=firm), seat.format(firm=firm, city=city)]
        ids = [f"{number}/{place}" for place in range(len(links))]
        documents += [_document(id_, text) for id_, text in zip(ids, links, strict=True)]
        documents += _noise(draw, number, (a, b, firm))
        asked = ((2, firm, "Which company has {0} to do with?"), (3, city, "In which city is the company of {0}?"))
        for ties, answer, text in asked:
            query = f"{number}/{ties}"
            about = text.format(called.format(a=a))
            queries.append(Query(id=query, text=about, group=GROUP, category=f"{ties} ties", answer=answer))
            firsts[query] = a
            qrels[query] = dict.fromkeys(ids[:ties], 1.0)
    documents += [_document(f"idle/{number}", text) for number, text in enumerate(IDLE)]
    draw.shuffle(documents)
    data = Dataset(
        name="chains (made)",
        documents={GROUP: tuple(documents)},
        queries={GROUP: tuple(queries)},
        qrels=qrels,
        notes=("made from templates",),
    )
    return data, firsts


def _noise(draw: random.Random, number: int, names: tuple[str, ...]) -> Iterator[Document]:
    for place, name in enumerate(names):
        for at, text in enumerate(draw.sample(NOISE, 3)):
            yield _document(f"{number}/noise/{place}/{at}", text.format(name=name))


def _document(id_: str, text: str) -> Document:
    return Document(id=id_, part=0, text=text, meta={})
