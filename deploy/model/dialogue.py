"""Conversations: a turn and its answer, a subject and the talk about it, a turn and the talk around it."""

import json
import random
from collections.abc import Iterator, Sequence

import yaml

from deploy.model.values import Kind, Pair, Passage
from deploy.model.words import content_words, one_line

PEOPLE = """
    Anna Ben Carla David Elena Frank Grace Henry Irene Jack Karen Liam Maria Nora Oscar Paula Quinn Rosa Sam Tina Uma
    Victor Wendy Xavier Yara Zoe Aino Mikko Leila Omar Priya Kenji Ingrid Pablo Amara Felix Hannah Ivan Julia Luca
"""
NAMES = tuple(PEOPLE.split())
LONGEST = 1_500  # characters


def chitchat(dataset: bytes, chance: random.Random) -> tuple[list[Pair], list[Passage]]:
    """The conversations of the package chitchat-dataset: `{id: {prompt, messages: [[{text, sender}]]}}`."""
    pairs: list[Pair] = []
    passages: list[Passage] = []
    for conversation in json.loads(dataset).values():
        turns = _turns(conversation["messages"])
        if len(turns) < 4:
            continue
        names = dict(zip(dict.fromkeys(sender for sender, _ in turns), chance.sample(NAMES, 8), strict=False))
        named = [(names.get(sender, "Guest"), text) for sender, text in turns]
        pairs += _talk(conversation.get("prompt") or "", named, chance)
        passages += _windows(named, chance)
    return pairs, passages


def chatterbot(files: Sequence[tuple[str, bytes]]) -> Iterator[Pair]:
    """Questions and answers of the package chatterbot-corpus, in English."""
    for name, data in files:
        if "/english/" in name and name.endswith(".yml"):
            for turns in yaml.safe_load(data)["conversations"]:
                for asked, answer in zip(turns, turns[1:], strict=False):
                    if len(content_words(str(answer))) >= 2:
                        yield Pair(Kind.DIALOGUE, one_line(str(asked)), one_line(str(answer))[:LONGEST])


def _turns(messages: list[list[dict[str, str]]]) -> list[tuple[str, str]]:
    """Join the consecutive messages of each person into one turn."""
    turns = [(said[0]["sender"], one_line(" ".join(part["text"] for part in said))) for said in messages if said]
    return [(sender, text[:600]) for sender, text in turns if text]


def _talk(prompt: str, turns: list[tuple[str, str]], chance: random.Random) -> Iterator[Pair]:
    for at, ((_, first), (_, second)) in enumerate(zip(turns, turns[1:], strict=False)):
        if len(content_words(first)) >= 3 and len(content_words(second)) >= 3:
            yield Pair(Kind.DIALOGUE, first, second)
        if len(content_words(second)) >= 5 and at + 3 < len(turns) and chance.random() < 0.5:
            around = turns[max(0, at - 2) : at + 1] + turns[at + 2 : at + 5]
            yield Pair(Kind.DIALOGUE, second, _joined(around))
    if len(content_words(prompt)) >= 2:
        at = chance.randrange(max(1, min(8, len(turns) - 3)))
        yield Pair(Kind.DIALOGUE, one_line(prompt), _joined(turns[at : at + 6]))


def _windows(turns: list[tuple[str, str]], chance: random.Random) -> Iterator[Passage]:
    at = 0
    while at < len(turns):
        size = chance.randint(1, 7)
        window = [turn for turn in turns[at : at + size] if len(content_words(turn[1])) >= 2]
        if sum(len(content_words(text)) for _, text in window) >= 5:
            yield Passage(tuple(text for _, text in window), tuple(name for name, _ in window))
        at += size


def _joined(turns: Sequence[tuple[str, str]]) -> str:
    """Without names: what is asked for here does not name anyone, and a name that never helps would lose its weight."""
    return "\n".join(text for _, text in turns)[:LONGEST]
