"""The evaluation of merging: the judged pairs that are stored, what a graph says of pairs, and the counts over them."""

import json
import re
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from loadtests.quality.contexts import opened, store
from loadtests.quality.merging import (
    AUTOMATIC,
    JUDGED,
    PARTS,
    RULES,
    Judged,
    Read,
    Rule,
    Spelling,
    drawn,
    interval,
    pair,
    read,
    score,
    spaces,
    table,
)
from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.graph.entities.name_keys import code_of, norm
from muisti.service.evaluation.dataset import Document


def spelled(*texts: str) -> dict[str, Spelling]:
    return {code_of(text): Spelling(text, norm(text), 1, [f"… {text} …"]) for text in texts}


def test_the_judged_pairs_are_ids_and_verdicts_alone():
    pairs = msgspec.json.decode(JUDGED.read_bytes(), type=list[dict[str, str | bool]])
    assert {frozenset(one) for one in pairs} == {frozenset(Judged.__struct_fields__)}
    judged = msgspec.convert(pairs, type=list[Judged])
    assert max(Counter((one.space, one.first, one.second) for one in judged).values()) == 1
    assert min(Counter(one.part for one in judged)[part] for part in PARTS) >= 200
    for one in judged:
        assert re.fullmatch(r"[0-9a-f]{16}", one.first)
        assert re.fullmatch(r"[0-9a-f]{16}", one.second)
        assert one.first < one.second
        assert re.fullmatch(r"[a-z0-9_]+/[A-Za-z0-9_-]+", one.space)


def judged_by(rules: list[tuple[Rule, bool]]) -> dict[Judged, Rule]:
    return {Judged("s/1", f"{place}", "f", same, "report"): rule for place, (rule, same) in enumerate(rules)}


def test_precision_and_recall_of_some_rules():
    ruled = judged_by([
        ("key", True), ("acronym", True), ("name_part", False), ("proposal", True), ("none", True), ("none", False),
    ])  # fmt: skip
    automatic = score(ruled, ruled, AUTOMATIC)
    assert automatic == (3, 2, 4)
    assert (automatic.precision, automatic.recall) == (2 / 3, 2 / 4)
    assert score(ruled, ruled, RULES[:-1]) == (4, 3, 4)
    assert score(ruled, ruled, ["none"]) == (2, 1, 4)


def test_a_table_has_each_part_and_each_set():
    lines = list(table([*judged_by([("key", True), ("key", False)])], judged_by([("key", True), ("key", False)])))
    assert "| report | all automatic | 2 | 1 | 0.500 (0.095 0.905) | 1.000 (0.207 1.000) |" in lines
    assert "| report | all automatic, s | 2 | 1 | 0.500 (0.095 0.905) | 1.000 (0.207 1.000) |" in lines
    assert "| tuning | all automatic | 0 | 0 | – | – |" in lines


def test_pairs_that_differ_in_case_alone_count_as_merged_in_any_case():
    (judged,) = ruled = judged_by([("proposal", True)])
    assert "| report | all automatic, in any case | 0 | 0 | – | 0.000 (0.000 0.793) |" in [*table([judged], ruled)]
    folding = [*table([judged], ruled, {judged})]
    assert "| report | all automatic, in any case | 1 | 1 | 1.000 (0.207 1.000) | 1.000 (0.207 1.000) |" in folding
    assert "| report | all automatic | 0 | 0 | – | 0.000 (0.000 0.793) |" in folding
    found = Read(spelled("Dave", "dave", "the Dave", "Bo"), {}, {}, frozenset())
    codes = [code_of(text) for text in ("Dave", "dave", "the Dave", "Bo")]
    assert [found.folds(codes[0], other) for other in codes] == [True, True, True, False]


@pytest.mark.parametrize(("right", "number"), [(0, 1), (1, 1), (49, 50), (200, 200)])
def test_an_interval_holds_the_share_and_narrows_with_the_number(right: int, number: int):
    low, high = interval(right, number)
    assert 0 <= low <= right / number + 1e-12
    assert right / number - 1e-12 <= high <= 1
    more = interval(right * 100, number * 100)
    assert more[1] - more[0] < high - low


def test_the_rule_of_a_pair_is_that_of_its_keys():
    codes = {text: code_of(text) for text in ("Ann", "Ann's", "Ann Lee", "Anne", "Bo")}
    keys = {text: code_of(norm(text)) for text in codes}
    heads = {keys[text]: keys[text] for text in codes} | {keys["Ann"]: keys["Ann Lee"]}
    proposals = frozenset({pair(keys["Ann Lee"], keys["Anne"])})
    found = Read(spelled(*codes), heads, {keys["Ann"]: "name_part"}, proposals)
    assert found.rule(codes["Ann"], codes["Ann's"]) == "key"
    assert found.rule(codes["Ann's"], codes["Ann Lee"]) == "name_part"
    assert found.rule(codes["Ann"], codes["Anne"]) == "proposal"
    assert found.rule(codes["Ann"], codes["Bo"]) == "none"
    assert found.rule(codes["Ann"], code_of("somebody else")) == "none"
    assert len(found.merged()) == 2
    assert found.sharing() == []


def test_a_graph_is_read_with_its_merges_and_contexts():
    texts = ["Melanie Lee lives in Turku.", "We met Melanie in Turku.", "Does EVA help Melanie Lee?", "I told Eva."]
    with opened(StaticEncoder()) as engine:
        store(engine, "s", [Document(id=text, part=0, text=text, meta={}) for text in texts])
        engine.owner.graph.extend("s")
        found = read(engine, "s")
    codes = {one.text: code for code, one in found.spellings.items()}
    assert found.rule(codes["Melanie"], codes["Melanie Lee"]) == "name_part"
    assert [found.rule(*both) for both in found.merged()] == ["name_part"]
    assert found.spellings[codes["Melanie Lee"]].contexts[0] in texts
    if "EVA" in codes:
        assert found.rule(codes["EVA"], codes["Eva"]) != "key"


def test_merges_of_each_set_are_drawn_and_others():
    names = ["Ann", "Ann Lee", "Ann Lane", "Bo Lee"]
    keys = {name: code_of(norm(name)) for name in names}
    heads = {key: key for key in keys.values()} | {keys["Ann"]: keys["Ann Lee"]}
    one = Read(spelled(*names), heads, {keys["Ann"]: "name_part"}, frozenset())
    merge = pair(code_of("Ann"), code_of("Ann Lee"))
    assert drawn({"s/1": one}, 1, 0) == [("s/1", *merge)]
    assert ("s/1", *merge) not in drawn({"s/1": one}, 9, 0, known=[("s/1", *merge)])
    more = drawn({"s/1": one, "t/1": one}, 9, 9)
    assert Counter(space for space, *_ in more) == {"s/1": 4, "t/1": 4}
    assert ("t/1", *pair(code_of("Ann Lee"), code_of("Bo Lee"))) in more


def test_a_folder_of_sentences_is_one_space(tmp_path: Path):
    rows = [{"tokens": ["Ann", "Lee", "lives", "in", "Turku", "."]}, {"tokens": ["Ann", "smiled", "at", "Turku", "."]}]
    folder = tmp_path / "news"
    folder.mkdir()
    (folder / "train.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    ((name, found),) = spaces(folder)
    assert name == "news/train"
    assert "Turku" in {one.text for one in found.spellings.values()}
