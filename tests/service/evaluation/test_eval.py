"""Quality runs on a tiny judged set whose right answers are known by hand."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner, Result

from muisti.service.cli import main
from muisti.service.evaluation import metrics
from muisti.service.evaluation.dataset import Document
from muisti.service.evaluation.run import as_memory

ROOT = Path(__file__).parents[3]
CORPUS = [
    ("d1", "Ann painted a lake", "g1", {"session": "s1", "turn": 1, "speaker": "Ann", "timestamp": "2024-03-15"}),
    ("d2", "Bob bought a yellow bicycle", "g1", {"session": "s1", "turn": 2, "speaker": "Bob", "timestamp": None}),
    ("d3", "Bob bought a green boat", "g2", {}),
    ("d4", "bob BOUGHT a green boat!", "g2", {}),
]
QUERIES = [("q1", "lake", "g1"), ("q2", "yellow bicycle", "g1"), ("q3", "elephant", "g2"), ("q4", "green boat", "g2")]
QRELS = [("q1", "d1", 1), ("q2", "d2", 2), ("q2", "d1", 1), ("q3", "d3", 1), ("q4", "d3", 1), ("q4", "d4", 1)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MUISTI_URL", raising=False)
    monkeypatch.setenv("MUISTI_EMBEDDINGS", "off")
    made = tmp_path / "tiny"
    made.mkdir()
    corpus = [{"id": i, "text": text, "group": group, "meta": meta} for i, text, group, meta in CORPUS]
    (made / "corpus.jsonl").write_text("".join(json.dumps(line) + "\n" for line in corpus))
    asked = [{"id": i, "text": text, "group": group} for i, text, group in QUERIES]
    (made / "queries.jsonl").write_text("".join(json.dumps(line) + "\n" for line in asked))
    (made / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(f"{q}\t{d}\t{s}\n" for q, d, s in QRELS))
    return made


def evaluate(*words: object) -> Result:
    return CliRunner().invoke(main, ["eval", *map(str, words)], prog_name="muisti")


def measured(*words: object) -> dict[str, Any]:
    result = evaluate(*words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_the_metrics_are_those_that_a_person_computes(folder: Path):
    (found,) = measured(folder, "--modes", "keyword")["items"]
    # q1 1, q2 finds one of two at rank 1, q3 nothing, q4 both
    assert found["queries"] == 4
    assert found["recall_5"]["mean"] == pytest.approx((1 + 0.5 + 0 + 1) / 4)
    assert found["mrr"]["mean"] == pytest.approx((1 + 1 + 0 + 1) / 4)
    second = 1 / 1.5849625007211562  # 1 / log2(3)
    assert found["ndcg_10"]["mean"] == pytest.approx((1 + 2 / (2 + second) + 0 + 1) / 4)
    assert found["ms_median"] > 0


def test_groups_do_not_see_each_other(folder: Path):
    measured(folder, "--modes", "keyword", "--save", "out")
    run = metrics.load(Path("out") / "tiny-keyword.json")
    groups = {document: group for document, _, group, _ in CORPUS}
    assert all(groups[document] == query.group for query in run.queries for document in query.ranked)


def test_runs_are_written_query_by_query_and_nothing_else_stays(folder: Path):
    result = evaluate(folder, "--modes", "keyword,hybrid", "--save", "out/first")
    assert result.exit_code == 0, result.output
    assert "nDCG@10" in result.stdout
    assert "tiny: storing (4)" in result.stderr
    assert sorted(path.name for path in Path("out/first").iterdir()) == ["tiny-hybrid.json", "tiny-keyword.json"]
    run = metrics.load(Path("out/first/tiny-keyword.json"))
    assert [query.id for query in run.queries] == ["q1", "q2", "q3", "q4"]
    assert {path.name for path in Path.cwd().iterdir()} == {"tiny", "out"}


def test_two_runs_are_compared_query_by_query(folder: Path):
    evaluate(folder, "--modes", "keyword", "--save", "before")
    (folder / "queries.jsonl").write_text((folder / "queries.jsonl").read_text().replace("elephant", "boat"))
    result = evaluate(folder, "--modes", "keyword", "--against", "before", "--save", "after")
    assert "1 better, 0 worse, 3 the same" in result.stdout
    one_file = measured(folder, "--modes", "keyword", "--against", Path("before") / "tiny-keyword.json")
    assert one_file["comparisons"][0]["result"]["wins"] == 1
    Path("other.json").write_text('{"format": 9}')
    assert evaluate(folder, "--against", "other.json").exit_code == 64


def test_each_fusion_is_a_run_of_its_own(folder: Path):
    found = measured(folder, "--modes", "keyword,hybrid", "--fusion", "rrf,convex")["items"]
    assert [item["mode"] for item in found] == ["keyword", "hybrid:rrf", "hybrid:convex"]


def test_a_sample_asks_fewer_queries_and_always_the_same(folder: Path):
    first, second = (measured(folder, "--modes", "keyword", "--sample", 2)["items"][0] for _ in range(2))
    assert first["queries"] == 2
    assert first["mrr"] == second["mrr"]


def test_every_text_finds_itself_and_equal_texts_count(folder: Path):
    (checked,) = measured(folder, "--modes", "keyword", "--self")["self"]
    assert checked == {"dataset": "tiny", "checked": 4, "lost": []}
    corpus = folder / "corpus.jsonl"
    corpus.write_text(corpus.read_text() + '{"id": "d5", "text": "!!!", "group": "g2"}\n')
    assert "d5: found nothing first" in evaluate(folder, "--modes", "keyword", "--self").stdout


def test_the_mean_over_folders_counts_each_the_same(folder: Path):
    other = folder.parent / "other"
    other.mkdir()
    for name in ("corpus.jsonl", "queries.jsonl", "qrels.tsv"):
        (other / name).write_text((folder / name).read_text())
    (other / "queries.jsonl").write_text((other / "queries.jsonl").read_text().replace("elephant", "boat"))
    found = measured(folder, other, "--modes", "keyword")
    means = [item["mrr"]["mean"] for item in found["items"]]
    assert found["mean"]["keyword"]["mrr"] == pytest.approx(sum(means) / 2)
    assert "mean over 2 datasets" in evaluate(folder, other, "--modes", "keyword").stdout


def test_a_long_document_is_split_and_counts_once(folder: Path):
    long = "Carol sailed. " * 8_000
    line = json.dumps({"id": "long", "text": long, "group": "g1"}) + "\n"
    (folder / "corpus.jsonl").write_text((folder / "corpus.jsonl").read_text() + line)
    (folder / "queries.jsonl").write_text('{"id": "q9", "text": "Carol sailed", "group": "g1"}\n')
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq9\tlong\t1\n")
    found = measured(folder, "--modes", "keyword")
    assert "split into 2" in found["notes"]["tiny"][0]
    assert found["items"][0]["ndcg_10"]["mean"] == 1


def test_a_document_becomes_a_memory_of_its_dialogue():
    meta = {"session": "s", "turn": 3, "speaker": "Ann", "timestamp": "2023-05-08T13:56:00", "other": 1}
    notes: list[str] = []
    assert as_memory(Document(id="d", part=0, text="x", meta=meta), notes) == {
        "content": "x", "source": "d", "author": "Ann", "event_at": "2023-05-08T13:56:00+00:00",
        "metadata": {"session": "s", "turn": 3},
    }  # fmt: skip
    assert as_memory(Document(id="d", part=1, text="x", meta={"timestamp": "May"}), notes)["metadata"] == {"part": 1}
    assert len(notes) == 1


def test_a_bad_folder_is_wrong_usage_with_its_line(folder: Path):
    (folder / "queries.jsonl").write_text("{")
    result = evaluate(folder)
    assert result.exit_code == 64
    assert "queries.jsonl:1" in result.stderr


@pytest.fixture
def server(folder: Path) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = [sys.executable, "-c", "from muisti.service.cli import main; main()", "serve", "--port", str(port)]
    process = subprocess.Popen(words, env=os.environ | {"PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE, text=True)
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            try:
                if httpx.get(f"{url}/readyz", trust_env=False).is_success:
                    break
            except httpx.TransportError:
                time.sleep(0.1)
        else:
            raise AssertionError("the server did not start")
        yield url
    finally:
        process.terminate()
        process.communicate(timeout=30)


def test_a_server_gives_the_same_scores_and_keeps_nothing(folder: Path, server: str):
    here = measured(folder, "--modes", "keyword")["items"][0]
    there = measured(folder, "--modes", "keyword", "--url", server)["items"][0]
    assert [there[name] for name in ("recall_5", "ndcg_10", "mrr")] == [
        here[name] for name in ("recall_5", "ndcg_10", "mrr")
    ]
    spaces = httpx.get(f"{server}/v1/spaces", trust_env=False).json()["items"]
    assert [space["name"] for space in spaces] == ["default"]
    remote = CliRunner().invoke(main, ["add", "over the wire", "--url", server, "-s", "new", "--json"])
    assert json.loads(remote.stdout)["space"] == "new"
    assert "ready" in CliRunner().invoke(main, ["doctor", "--url", server]).stdout
