"""The evaluation of merging: the judged pairs that are stored, and the counts over them."""

import re
from collections import Counter

import msgspec

from muisti.core.entities.names import code_of, norm
from muisti.service.evaluation.merging import AUTOMATIC, JUDGED, RULES, Judged, Read, Rule, drawn, score


def test_the_judged_pairs_are_ids_and_verdicts_alone():
    pairs = msgspec.json.decode(JUDGED.read_bytes(), type=list[dict[str, str | bool]])
    assert {frozenset(one) for one in pairs} == {frozenset(Judged.__struct_fields__)}
    judged = msgspec.convert(pairs, type=list[Judged])
    assert len(judged) >= 200
    assert max(Counter((one.space, one.first, one.second) for one in judged).values()) == 1
    for one in judged:
        assert re.fullmatch(r"[0-9a-f]{16}", one.first)
        assert re.fullmatch(r"[0-9a-f]{16}", one.second)
        assert one.first < one.second
        assert re.fullmatch(r"[a-z0-9]+/[A-Za-z0-9_-]+", one.space)


def test_precision_and_recall_of_some_rules():
    rules: list[tuple[Rule, bool]] = [
        ("key", True), ("acronym", True), ("name_part", False), ("proposal", True), ("none", True), ("none", False),
    ]  # fmt: skip
    ruled: dict[Judged, Rule] = {Judged("s/1", f"{place}", "f", same): rule for place, (rule, same) in enumerate(rules)}
    automatic = score(ruled, ruled, AUTOMATIC)
    assert automatic == (3, 2, 4)
    assert (automatic.precision, automatic.recall) == (2 / 3, 2 / 4)
    assert score(ruled, ruled, RULES[:-1]) == (4, 3, 4)
    assert score(ruled, ruled, ["none"]) == (2, 1, 4)


def test_all_that_rules_merge_is_drawn_and_then_names_that_share_a_word():
    names = ["Ann", "Ann Lee", "Ann Lane", "Bo Lee"]
    ann, lee, lane, bo = (code_of(norm(one)) for one in names)
    merged, shared = (min(ann, lee), max(ann, lee)), [(min(lee, one), max(lee, one)) for one in (lane, bo)]
    read = {"s": Read({merged: "name_part"}, {}, {}, [merged, *shared])}
    assert drawn(read, 1) == [("s", *merged)]
    assert set(drawn(read, 9)) == {("s", *merged), *(("s", *one) for one in shared)}
