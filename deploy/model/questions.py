"""Questions made from passages: a sentence is hidden, a few of its words are asked for, the passage should be found."""

import random
from collections.abc import Iterator, Sequence

from deploy.model.values import Kind, Pair, Passage
from deploy.model.words import WORD, content_words

LONGEST = 1_500  # characters
ABOUT = (
    "What did {name} say about {words}?",
    "What does {name} think about {words}?",
    "When did {name} mention {words}?",
    "How does {name} feel about {words}?",
    "Why did {name} talk about {words}?",
    "What did {name} tell about {words}?",
    "Did {name} say anything about {words}?",
    "Summarize what {name} said about {words}.",
    "What was {name}'s opinion on {words}?",
    "{name} {words}",
)
PLAIN = (
    "What was said about {words}?",
    "Summarize the discussion about {words}.",
    "What do we know about {words}?",
    "Tell me about {words}.",
    "What is {words}?",
    "How does {words} work?",
    "When was {words}?",
    "Why {words}?",
    "Where is {words}?",
    "Who talked about {words}?",
    "how to {words}",
    "What did they decide about {words}?",
    "Is there anything on {words}?",
    "Can you remind me about {words}?",
    "Which {words}?",
    "Explain {words}.",
    "I need information about {words}.",
    "What happened with {words}?",
    "What are the details of {words}?",
    "Do you remember {words}?",
)


def questions(passages: Sequence[Passage], wanted: int, chance: random.Random) -> Iterator[Pair]:
    """About `wanted` pairs, from passages drawn without repeating one until all were used."""
    order = list(passages)
    while wanted > 0 and order:
        chance.shuffle(order)
        for passage in order[:wanted]:
            pair = _question(passage, chance)
            if pair:
                yield pair
        wanted -= len(order)


def _question(passage: Passage, chance: random.Random) -> Pair | None:
    at = chance.randrange(len(passage.sentences))
    hidden = passage.sentences[at]
    words = _key_words(hidden, chance)
    if not words:
        return None
    asked = words
    about = False
    if chance.random() >= 0.25:
        if passage.speakers and chance.random() < 0.7:
            about = True
            asked = chance.choice(ABOUT).format(name=passage.speakers[at], words=words)
        else:
            asked = chance.choice(PLAIN).format(words=words)
    keep_hidden = len(passage.sentences) < 2 or chance.random() < 0.6
    named = passage.speakers and (about or chance.random() < 0.5)
    parts = [
        f"{passage.speakers[n]}: {text}" if named else text
        for n, text in enumerate(passage.sentences)
        if keep_hidden or n != at
    ]
    document = ("\n" if named else " ").join(parts)[:LONGEST]
    return Pair(Kind.QUESTION, asked, document) if len(document) > 40 else None


def _key_words(sentence: str, chance: random.Random) -> str:
    """A run of the sentence around a content word, or two to four of its content words; '' when it has too few."""
    content = content_words(sentence)
    if len(content) < 2:
        return ""
    if chance.random() < 0.5:
        places = sorted(chance.sample(range(len(content)), min(len(content), chance.randint(2, 4))))
        return " ".join(content[place] for place in places)
    words = WORD.findall(sentence)
    start = words.index(chance.choice(content))
    return " ".join(words[start : start + chance.randint(2, 5)])
