"""The ablation of the default ranking, on a conversation of a few lines."""

import json
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from loadtests.ablation import CHANGES, DEFAULT, asked, by_set, paired, table
from muisti.service.evaluation.dataset import load
from muisti.service.evaluation.run import stored
from muisti.service.terminal.client import Client

TURNS = ["Ann: Where did you leave the canoe?", "Bob: By the weir, under the alders.", "Ann: And the paddles?"]
TURNS += [f"Bob: The weather on day {day} was fine, and nothing happened." for day in range(20)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines: dict[str, list[dict[str, Any]]] = {
        "corpus.jsonl": [
            {"id": f"c/{n}", "text": text, "group": "c", "meta": {"session": "s", "turn": n, "speaker": text[:3]}}
            for n, text in enumerate(TURNS)
        ],
        "queries.jsonl": [{"id": "q", "text": "Where did Bob leave the canoe?", "group": "c", "category": "x"}],
    }
    for name, found in lines.items():
        (tmp_path / name).write_text("".join(json.dumps(one) + "\n" for one in found))
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq\tc/1\t1\n")
    return tmp_path


def test_a_part_is_missing_while_it_is_taken_away_and_only_then(folder: Path, client: httpx.Client):
    body = {"query": "Where did Bob leave the canoe?", "explain": True}
    with stored(Client(client), load(folder), lambda *_: None) as held:
        (space,) = held.spaces.values()

        def answer() -> list[Any]:
            return client.post(f"/v1/spaces/{space}/search", json=body).json()["hits"]

        before = answer()
        (reply,) = [hit for hit in before if "weir" in hit["memory"]["content"]]
        assert reply["explain"]["blend"]["around"] > 0 and reply["explain"]["blend"]["speaker"] > 0
        for name, part in (("turns around", "around"), ("speaker", "speaker")):
            with CHANGES[name].made():
                assert {hit["explain"]["blend"][part] for hit in answer()} == {0.0}
        default = asked(Client(client), held, DEFAULT)
        found = {name: asked(Client(client), held, change) for name, change in CHANGES.items()}
        assert all(0 <= each.min() <= each.max() <= 1 for each in found.values())
        assert asked(Client(client), held, DEFAULT).tolist() == default.tolist()
        assert [(hit["memory"]["id"], hit["score"]) for hit in answer()] == [
            (hit["memory"]["id"], hit["score"]) for hit in before
        ]
    assert min(float(each.mean()) for each in found.values()) < default.mean()


def test_every_set_counts_the_same_and_what_costs_most_comes_first():
    rng = np.random.default_rng(0)
    before = [rng.random(200), rng.random(50)]
    after = [before[0] - 0.1, before[1] + 0.02]
    same = paired(before, after)
    assert same.mean == pytest.approx(-0.04) and same.low == pytest.approx(-0.04) == same.high
    noisy = paired(before, [one + rng.normal(0.05, 0.1, one.size) for one in before])
    assert noisy.low < noisy.mean < noisy.high
    spread = np.sqrt(0.01 / 200 + 0.01 / 50) / 2  # of the mean of both means
    assert noisy.high - noisy.low == pytest.approx(2 * 1.96 * spread, rel=0.15)
    rows = list(table(["a", "b"], before, {"little": [one - 0.001 for one in before], "much": after}))
    assert [row.split(" | ")[0] for row in rows[3:]] == ["| much", "| little"]
    assert "| much | −.0400 (−.040 −.040) | −.100 +.020 | a −.100, b +.020 |" in rows
    ways = {"`mode: keyword`": after, "`fusion: rrf`": [one + 0.1 for one in before]}
    first = [row for row in by_set(["a", "b"], before, ways) if row.startswith("| a, 200 |")]
    own = f"{before[0].mean():.3f} | {after[0].mean():.3f} | {before[0].mean() + 0.1:.3f} `fusion: rrf` |"
    assert first == [f"| a, 200 | {own}".replace("0.", ".")]
