"""Choosing what goes into a number of tokens."""

from dataclasses import dataclass
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.conversations.context.choosing import Item, pack, values
from muisti.core.conversations.context.counting import counter
from muisti.core.conversations.context.weights import gathered, measure, weights

COUNTS = counter()
WORDS = ("Turku", "harbour", "deploy", "Friday", "tea", "server", "release", "Anna", "lake", "budget")


@dataclass
class Made:
    """Items as a search would find them, and the content of the long ones."""

    items: list[Item]
    long: list[str]


@st.composite
def made(draw: st.DrawFn) -> Made:
    items, long = [], []
    scores = sorted(draw(st.lists(st.floats(0, 1), max_size=12)), reverse=True)
    for value in values(scores):
        group = draw(st.sampled_from(["", "2026-01-01\n", "2026-01-02\n"]))
        if draw(st.booleans()):
            words = draw(st.lists(st.sampled_from(WORDS), min_size=130, max_size=200))
            text = " ".join(f"{word}{'.' if n % 9 == 8 else ''}" for n, word in enumerate(words))
            features = measure(text, COUNTS)
            items.append(Item(value=value, tokens=features.tokens, around=2, group=group, long=len(long)))
            long.append(text)
        else:
            items.append(Item(value=value, tokens=draw(st.integers(1, 100)), around=2, group=group))
    return Made(items, long)


def packed(one: Made, room: int):
    pieces = gathered([measure(text, COUNTS) for text in one.long], "When do we deploy in Turku?")
    return pack(one.items, pieces, room, COUNTS.short), pieces


@given(made(), st.integers(0, 3_000))
def test_what_is_chosen_fits_and_is_always_the_same(one: Made, room: int):
    found, pieces = packed(one, room)
    assert found == packed(one, room)[0]
    assert 0 <= found.left <= room
    shown = [one.items[at].group for at in sorted(found.kept)]
    spent = sum(COUNTS.short(group) for group, _ in groupby(shown) if group)
    for at, kept in found.kept.items():
        item = one.items[at]
        if item.long is None:
            assert kept is None
            spent += item.tokens
        elif kept is not None:
            first = pieces.first[item.long]
            runs = sum(1 for n, piece in enumerate(kept) if n == 0 or kept[n - 1] != piece - 1)
            spent += item.around + sum(int(pieces.counts[first + piece]) for piece in kept) + 2 * (runs - 1)
            assert list(kept) == sorted(set(kept))
    if all(kept is not None or one.items[at].long is None for at, kept in found.kept.items()):
        assert spent == room - found.left


@given(made())
def test_with_room_for_all_everything_is_there_whole(one: Made):
    found, _ = packed(one, 100_000)
    assert found.kept == dict.fromkeys(range(len(one.items)))


@given(st.lists(st.integers(1, 100), min_size=1, max_size=30), st.integers(1, 600))
def test_memories_go_in_by_rank_and_what_does_not_fit_is_passed_over(sizes: list[int], room: int):
    items = [
        Item(value=v, tokens=n, around=2)
        for v, n in zip(values([1 - 0.01 * n for n in range(len(sizes))]), sizes, strict=True)
    ]
    found = pack(items, gathered([], "x"), room, COUNTS.short)
    left, expected = room, []
    for place, size in enumerate(sizes):
        if size <= left:
            expected.append(place)
            left -= size
    assert sorted(found.kept) == expected
    assert found.left == left


def test_the_best_memory_is_there_in_pieces_when_it_is_large():
    text = "The harbour is old. " * 40 + "We deploy in Turku on Fridays. " + "The lake is cold. " * 40
    features = measure(text, COUNTS)
    items = [Item(value=1.0, tokens=features.tokens, around=2, long=0), Item(value=0.2, tokens=20, around=2)]
    pieces = gathered([features], "When do we deploy in Turku?")
    assert int(weights(pieces).argmax()) == 40
    found = pack(items, pieces, 60, COUNTS.short)
    assert found.kept[0] is not None and 40 in found.kept[0]
    assert 1 in found.kept


def test_whole_memories_come_before_pieces_of_better_ones_except_the_best():
    long = "The harbour is old. " * 30
    features = measure(long, COUNTS)
    items = [
        Item(value=1.0, tokens=features.tokens, around=2, long=0),
        Item(value=0.9, tokens=features.tokens, around=2, long=1),
        Item(value=0.1, tokens=50, around=2),
    ]
    pieces = gathered([features, features], "harbour")
    assert pack(items, pieces, features.tokens + 50, COUNTS.short).kept == {0: None, 2: None}
    assert pack(items, pieces, features.tokens + 70, COUNTS.short).kept.keys() == {0, 1, 2}
    assert pack(items, pieces, 60, COUNTS.short).kept.keys() == {0, 2}


def test_the_first_piece_of_the_best_memory_leaves_room_for_others():
    long = f"We deploy in Turku from the cold harbour {'and the harbour ' * 30}."
    text = f"The lake is old. We deploy in Turku from the harbour. {long} " + "Tea is fine. " * 30
    features = measure(text, COUNTS)
    pieces = gathered([features], "When do we deploy in Turku?")
    assert int(weights(pieces).argmax()) == 2
    items = [Item(value=1.0, tokens=features.tokens, around=2, long=0), Item(value=0.9, tokens=40, around=2)]
    found = pack(items, pieces, int(pieces.counts[2]) + 10, COUNTS.short)
    assert found.kept[0] is not None and 1 in found.kept[0] and 2 not in found.kept[0]
    assert 1 in found.kept


def test_weights_of_a_memory_add_up_to_one():
    texts = ["We deploy on Fridays. " * 40, "Tea is fine. Coffee is not. " * 30]
    pieces = gathered([measure(text, COUNTS) for text in texts], "coffee")
    found = weights(pieces)
    assert [found[a:b].sum() for a, b in zip(pieces.first, pieces.first[1:], strict=False)] == pytest.approx([1, 1])
    assert len(weights(gathered([], "coffee"))) == 0
    assert np.isfinite(found).all()


def test_a_piece_that_says_nothing_new_gives_way():
    same, other = "We deploy in Turku on Fridays.", "Anna likes the cold lake."
    text = " ".join([same] * 20 + [other])
    features = measure(text, COUNTS)
    pieces = gathered([features], "deploy Turku")
    found = pack([Item(value=1.0, tokens=features.tokens, around=2, long=0)], pieces, 40, COUNTS.short)
    assert found.kept[0] is not None and 20 in found.kept[0]
