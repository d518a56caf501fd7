"""Measures the strength of evidence of questions: about judged data, about a space, and about foreign subjects."""

import random
import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from muisti.client import calls
from muisti.core.model.values import QUERY_MAX
from muisti.service.app.client import Client
from muisti.service.evaluation.dataset import Dataset, DatasetError
from muisti.service.evaluation.evidence import FOREIGN, HIDDEN, OWN, Strengths
from muisti.service.evaluation.run import Progress, Stored

SAMPLE = 200  # questions of a kind, by default
HIDDEN_MOST = 400  # ids that a filter may name; a question with more answers is left out
PAGE = 100
LONGEST = 30  # words of a question made from a text

_SENTENCE = re.compile(r"[^.!?。！？\n]+")
_WORD = re.compile(r"\w+")


def judged(
    client: Client, held: Stored, others: Sequence[str], mode: str, progress: Progress, most: int = SAMPLE
) -> Mapping[str, Strengths]:
    """Return the strengths by kind for up to `most` queries of a dataset; `others` are asked of its largest group."""
    data = held.dataset
    found: dict[str, list[float]] = {OWN: [], HIDDEN: [], FOREIGN: []}
    every = [(group, query) for group, queries in data.queries.items() for query in queries]
    asked = random.Random(0).sample(every, min(most, len(every)))
    for number, (group, query) in enumerate(asked, start=1):
        space, relevant = held.spaces[group], list(data.qrels[query.id])
        found[OWN].append(_strength(client, space, query.text, mode))
        if len(relevant) <= HIDDEN_MOST:
            hidden = {"not": {"source": relevant}}
            found[HIDDEN].append(_strength(client, space, query.text, mode, filter=hidden))
        progress(mode, number, len(asked))
    space = held.spaces[largest(data)]
    found[FOREIGN] += [_strength(client, space, text, mode) for text in others]
    return {kind: np.array(values) for kind, values in found.items()}


def largest(data: Dataset) -> str:
    """Return the group of a dataset that has the most documents; foreign questions are asked of it."""
    return max(data.documents, key=lambda group: len(data.documents[group]))


def own(client: Client, space: str, foreign: Sequence[str], mode: str, progress: Progress) -> Mapping[str, Strengths]:
    """Return strengths by kind for a space. Its own questions are every other word of a sentence of a stored text."""
    texts = _questions(client, space)
    found: dict[str, list[float]] = {OWN: [], FOREIGN: []}
    for number, (kind, text) in enumerate([(OWN, t) for t in texts] + [(FOREIGN, t) for t in foreign], start=1):
        found[kind].append(_strength(client, space, text, mode))
        progress(mode, number, len(texts) + len(foreign))
    return {kind: np.array(values) for kind, values in found.items()}


def from_others(datasets: Sequence[Dataset], one: Dataset) -> list[str]:
    """Draw questions from the other datasets, the same ones every time."""
    texts = [q.text for other in datasets if other is not one for queries in other.queries.values() for q in queries]
    return random.Random(0).sample(texts, min(SAMPLE, len(texts)))


def question_of(text: str, draw: random.Random) -> str | None:
    """Return every other word of a random sentence, as a caller asks who remembers half of it; None for short texts.

    >>> question_of("The staging server listens on port 8080 since May.", random.Random(0))
    'staging listens port since'
    """
    sentences = [words for sentence in _SENTENCE.findall(text) if len(words := _WORD.findall(sentence)) >= 4]
    return " ".join(draw.choice(sentences)[1 : 2 * LONGEST : 2]) if sentences else None


def _questions(client: Client, space: str) -> list[str]:
    draw = random.Random(0)
    made = (question_of(memory["content"], draw) for memory in _memories(client, space))
    return list(islice((text for text in made if text), SAMPLE))


def _memories(client: Client, space: str) -> list[Mapping[str, Any]]:
    """Return the newest memories in random order, up to ten times as many as are asked about."""
    items: list[Mapping[str, Any]] = []
    cursor: str | None = None
    while len(items) < 10 * SAMPLE:
        page = client.send(calls.list_memories(space, limit=PAGE, cursor=cursor)).data
        items += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    random.Random(0).shuffle(items)
    return items


def _strength(client: Client, space: str, text: str, mode: str, **more: Any) -> float:
    body = {"query": text[:QUERY_MAX], "mode": mode, "limit": 1, **more}
    answer = client.send(calls.search(space, body)).data
    if answer["strategy"] != mode or answer["degraded"]:
        raise DatasetError(f"thresholds of {mode} search cannot be fitted: {'; '.join(answer['degraded'])}")
    return float(answer["strength"])


FOREIGN_QUESTIONS: tuple[str, ...] = (
    "how do I prune apple trees in late winter?",
    "what is the boiling point of ethanol at sea level?",
    "which team won the football cup final in 1986?",
    "how long does a sourdough starter take to mature?",
    "what causes the northern lights?",
    "who painted the ceiling of the Sistine Chapel?",
    "how are tides related to the moon?",
    "what is the capital of Burkina Faso?",
    "how do I remove rust from a cast iron pan?",
    "which wine goes with roast lamb?",
    "when did the Berlin Wall fall?",
    "how does a heat pump work?",
    "what is the offside rule?",
    "how many chambers does a fish heart have?",
    "which instrument did Charlie Parker play?",
    "how do bees find their way home?",
    "what is a good substitute for buttermilk?",
    "when is the best time to plant tulips?",
    "how is vulcanised rubber made?",
    "who wrote the opera Carmen?",
    "how do I change a bicycle tyre?",
    "what is the difference between alligators and crocodiles?",
    "which river flows through Budapest?",
    "how do volcanoes form islands?",
    "what does a conductor's baton do?",
    "how is parmesan aged?",
    "why do cats purr?",
    "what is the largest moon of Saturn?",
    "how do I sharpen a kitchen knife?",
    "which vitamins are in carrots?",
    "when was the printing press invented?",
    "how do submarines dive?",
    "what is the rule for castling in chess?",
    "who discovered penicillin?",
    "how do I knit a cable stitch?",
    "what is plate tectonics?",
    "how long do elephants live?",
    "which desert is the driest on earth?",
    "how do glaciers carve valleys?",
    "what is the meaning of a red sky at night?",
    "how do I treat a wasp sting?",
    "which planets have rings?",
    "how is whisky distilled?",
    "what were the causes of the Peloponnesian War?",
    "how do noise cancelling headphones work?",
    "what is the traditional filling of a Cornish pasty?",
    "how do I repot an orchid?",
    "who was the first woman to climb Everest?",
    "what is the melting point of tungsten?",
    "how do you play the ukulele?",
    "why is the sea salty?",
    "which trees lose their needles in autumn?",
    "how do satellites stay in orbit?",
    "what is the offspring of a horse and a donkey called?",
    "how do I descale a kettle?",
    "which country hosted the 1964 olympics?",
    "how are pearls formed?",
    "what is the oldest university in Europe?",
    "how do I make candles from beeswax?",
    "when did the dinosaurs die out?",
    "what is the national dish of Hungary?",
    "how does yeast make bread rise?",
    "which metals are magnetic?",
    "how far is the nearest star?",
    "what is a sonnet?",
    "how do I get wine stains out of a tablecloth?",
    "who invented the safety razor?",
    "how do chameleons change colour?",
    "what is the speed of sound in water?",
    "how do I tie a bowline knot?",
    "which mushrooms are safe to eat raw?",
    "when were the pyramids of Giza built?",
    "how does a mechanical watch keep time?",
    "what is the difference between jam and marmalade?",
    "how do whales sleep under water?",
    "which language is spoken in Suriname?",
    "how do I clean a saxophone?",
    "what makes popcorn pop?",
    "how do canals lift ships uphill?",
    "who composed the Brandenburg concertos?",
    "how do I teach a dog to sit?",
    "what is the longest bone in the body?",
    "how is porcelain fired?",
    "which birds migrate to Africa?",
    "what is the origin of the marathon race?",
    "how do cactuses store water?",
    "when did women get the vote in Switzerland?",
    "how do I grow basil indoors?",
    "what is the highest mountain in Japan?",
    "how does a lighthouse lens work?",
    "which spices are in garam masala?",
    "how do stalactites grow?",
    "what is the gestation period of a giraffe?",
    "how do I waterproof leather boots?",
    "who built the Taj Mahal?",
    "how does sonar find fish?",
    "what is the recipe for hollandaise sauce?",
    "which comet returns every 76 years?",
    "how do I fix a dripping tap?",
    "what colour is a polar bear's skin?",
)
"""A hundred questions on a hundred subjects, to ask of a space that is about something else."""
