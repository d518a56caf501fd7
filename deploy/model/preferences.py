"""Pairs of a personal statement and a request it matters for, without a word in common, from WordNet's hypernyms.

Someone who says "I can't stand oysters" should be remembered when seafood is chosen. The request asks for the kind of
thing (the hypernym), the statement names the thing itself.
"""

import random
from collections.abc import Iterator

from deploy.model.lexicon import Synset
from deploy.model.values import Kind, Pair

STATED = (
    "I love {thing}.",
    "I prefer {thing}.",
    "I can't stand {thing}.",
    "I don't like {thing} at all.",
    "I'm really into {thing} these days.",
    "My favourite is {thing}.",
    "I avoid {thing} whenever I can.",
    "I've been enjoying {thing} a lot.",
    "I'm not a fan of {thing}; {gloss}.",
    "I have always been interested in {thing}.",
)
ASKED = (
    "Can you recommend some {kind}?",
    "What {kind} should I try?",
    "Suggest a good {kind} for me.",
    "I'm looking for {kind}. Any ideas?",
    "What are some popular options for {kind}?",
    "Help me choose {kind} for the weekend.",
    "Which {kind} would suit me?",
    "What kind of {kind} do I like?",
    "I want to learn more about {kind}. Where do I start?",
)
# Files of WordNet's lexicographers: acts, animals, artifacts, communication, food, plants.
CHOSEN = {"04", "05", "06", "10", "13", "20"}


def preferences(synsets: dict[str, Synset], wanted: int, chance: random.Random) -> Iterator[Pair]:
    candidates = [synset for synset in synsets.values() if synset.file in CHOSEN and synset.hypernyms]
    for synset in chance.sample(candidates, min(wanted, len(candidates))):
        above = synsets.get(synset.hypernyms[0])
        if above is None or set(above.words[0].split()) & set(synset.words[0].split()):
            continue
        stated = chance.choice(STATED).format(thing=synset.words[0], gloss=synset.gloss.split(";")[0])
        yield Pair(Kind.PREFERENCE, chance.choice(ASKED).format(kind=above.words[0]), stated)
