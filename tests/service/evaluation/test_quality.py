import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from muisti.service.evaluation import dataset, metrics
from muisti.service.evaluation.metrics import (
    Result,
    Run,
    average_precision,
    bootstrap,
    compare,
    judge,
    ndcg,
    precision,
    recall,
    reciprocal_rank,
    summarise,
)

ids = st.integers(0, 15).map(str)
rankings = st.lists(ids, max_size=25)
judgements = st.dictionaries(ids, st.sampled_from([0.5, 1.0, 2.0, 3.0]), min_size=1)
depths = st.integers(1, 12)


# metrics: values by hand


def test_parts_of_one_document_count_once_and_where_the_first_is():
    ranked = ["a", "a", "a", "x", "b", "b"]
    result = judge(ranked, {"a": 1, "b": 1}, id="q", group="g", ms=1.0)
    assert result.ranked == ("a", "x", "b")
    assert result.ndcg_10 == pytest.approx((1 + 1 / 2) / (1 + 1 / math.log2(3)))
    assert recall(["a", "a", "b"], {"a": 1, "b": 1}, 2) == 1


@pytest.mark.parametrize("relevant", [{}, {"a": 0.0}, {"a": 1.0, "b": -2.0}])
def test_a_metric_without_relevant_documents_is_an_error(relevant: dict[str, float]):
    for metric in (
        lambda: recall(["a"], relevant, 5), lambda: ndcg(["a"], relevant), lambda: reciprocal_rank([], relevant),
        lambda: precision(["a"], relevant, 5), lambda: average_precision([], relevant),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="needs relevant documents"):
            metric()


# metrics: a reference that is slow and plain, and laws


def slow_ndcg(ranked: Sequence[str], relevant: dict[str, float], k: int) -> float:
    """Straight from the definition, with the ideal order built place by place."""
    once = [document for place, document in enumerate(ranked) if document not in ranked[:place]]
    total, ideal, left = 0.0, 0.0, sorted(relevant.values())
    for place in range(1, k + 1):
        if place <= len(once) and once[place - 1] in relevant:
            total += relevant[once[place - 1]] / (math.log(place + 1) / math.log(2))
        if left:
            ideal += left.pop() / (math.log(place + 1) / math.log(2))
    return total / ideal


@given(rankings, judgements, depths)
def test_the_metrics_agree_with_a_slow_reference(ranked: list[str], relevant: dict[str, float], k: int):
    assert ndcg(ranked, relevant, k) == pytest.approx(slow_ndcg(ranked, relevant, k))
    once = list(dict.fromkeys(ranked))
    assert recall(ranked, relevant, k) == len(set(once[:k]) & set(relevant)) / len(relevant)
    ranks = [rank for rank in range(1, len(once) + 1) if once[rank - 1] in relevant]
    assert reciprocal_rank(ranked, relevant) == (1 / min(ranks) if ranks else 0)
    assert precision(ranked, relevant, k) == len(set(once[:k]) & set(relevant)) / k
    each = [precision(once, relevant, rank) for rank in ranks]
    assert average_precision(ranked, relevant) == pytest.approx(sum(each) / len(relevant))


# intervals


def test_the_interval_agrees_with_a_loop_over_resamples():
    sample = np.random.default_rng(3).random(40)
    draw = np.random.default_rng(9)
    means = [np.mean([sample[draw.integers(40)] for _ in range(40)]) for _ in range(4_000)]
    interval = bootstrap(sample, resamples=4_000)
    assert interval.mean == pytest.approx(sample.mean())
    assert (interval.low, interval.high) == pytest.approx(tuple(np.percentile(means, [2.5, 97.5])), abs=0.01)


@given(arrays.arrays(np.float64, st.integers(1, 30), elements=st.floats(0, 1)))
def test_the_interval_stays_within_the_sample_and_is_the_same_each_time(sample):
    interval = bootstrap(sample, resamples=1_000)
    assert sample.min() - 1e-12 <= interval.low <= interval.high <= sample.max() + 1e-12
    assert bootstrap(sample, resamples=1_000) == interval


def test_a_large_sample_is_drawn_in_steps_and_gives_all_resamples(monkeypatch: pytest.MonkeyPatch):
    sample = np.random.default_rng(1).random(500)
    whole = bootstrap(sample)
    monkeypatch.setattr("muisti.service.evaluation.metrics.AT_ONCE", 7_001)
    assert bootstrap(sample) == whole


def test_a_mean_of_nothing_is_an_error():
    with pytest.raises(ValueError, match="no queries"):
        bootstrap(np.array([]))


# runs, comparison, report


def result(id: str, ndcg_10: float, ms: float = 1.0) -> Result:
    return Result(
        id=id, group="g", category="", recall_5=0.5, recall_10=0.5, ndcg_10=ndcg_10, mrr=1.0, ms=ms, ranked=("a", "b")
    )


def run(scores: dict[str, float], mode: str = "hybrid", name: str = "chats") -> Run:
    return Run(dataset=name, mode=mode, queries=tuple(result(id, score) for id, score in scores.items()))


def test_a_summary_holds_the_means_and_the_median_time():
    times = (1.0, 2.0, 10.0)
    summary = summarise(Run(dataset="d", mode="keyword", queries=tuple(result(str(ms), 0.5, ms) for ms in times)))
    assert (summary.queries, summary.mode, summary.ms_median) == (3, "keyword", 2.0)
    assert summary.ms_p95 == pytest.approx(9.2)
    assert (summary.ndcg_10.low, summary.ndcg_10.mean, summary.ndcg_10.high) == (0.5, 0.5, 0.5)


def test_a_comparison_counts_wins_and_losses_and_lists_what_moved_most():
    before, after = run({"a": 0.5, "b": 0.5, "c": 0.5, "d": 0.1}), run({"d": 0.1, "c": 0.0, "b": 0.6, "a": 0.9})
    found = compare(before, after, most=2)
    assert (found.wins, found.losses, found.ties) == (2, 1, 1)
    assert [(moved.id, round(moved.difference, 9)) for moved in found.moved] == [("c", -0.5), ("a", 0.4)]
    assert found.difference.mean == pytest.approx(0.0) and not found.is_clear


def test_a_comparison_pairs_by_query_so_that_a_small_steady_gain_is_clear():
    scores = dict(zip(map(str, range(60)), np.random.default_rng(0).random(60).tolist(), strict=True))
    found = compare(run(scores), run({id: score + 0.01 for id, score in scores.items()}))
    assert found.is_clear and found.difference.low == pytest.approx(0.01)


@given(st.dictionaries(ids, st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1))
def test_comparing_the_other_way_round_turns_the_signs(scores: dict[str, tuple[float, float]]):
    one, other = run({q: s[0] for q, s in scores.items()}), run({q: s[1] for q, s in scores.items()})
    there, back = compare(one, other), compare(other, one)
    assert (there.wins, there.losses, there.ties) == (back.losses, back.wins, back.ties)
    assert there.difference.mean == pytest.approx(-back.difference.mean)
    assert there.wins + there.losses + there.ties == len(scores)


def test_queries_of_one_run_only_are_named_and_left_out():
    found = compare(run({"a": 0.5, "b": 1.0}), run({"a": 0.5, "c": 0.0}))
    assert (found.only_before, found.only_after, found.ties) == (("b",), ("c",), 1)
    assert "1 queries are only in the earlier run" in metrics.as_text(metrics.comparison_report("chats", found))


def test_runs_that_cannot_be_compared_are_refused():
    with pytest.raises(ValueError, match="different datasets, chats and code"):
        compare(run({"a": 1.0}), run({"a": 1.0}, name="code"))
    with pytest.raises(ValueError, match="share no query"):
        compare(run({"a": 1.0}), run({"b": 1.0}))


def test_a_saved_run_comes_back_as_it_was(tmp_path: Path):
    path = tmp_path / "run.json"
    for kept in (run({"a": 1 / 3, "ключ/1": 0.0}), run({})):
        metrics.save(kept, path)
        assert metrics.load(path) == kept


def test_the_saved_form_is_versioned_json_with_a_line_for_each_query(tmp_path: Path):
    path = tmp_path / "run.json"
    metrics.save(run({"a": 0.25, "b": 1.0}), path)
    found = json.loads(path.read_text())
    assert (found["format"], found["dataset"], found["mode"]) == (1, "chats", "hybrid")
    assert found["queries"][0] == {
        "id": "a", "group": "g", "category": "", "recall_5": 0.5, "recall_10": 0.5, "ndcg_10": 0.25, "mrr": 1.0,
        "ms": 1.0, "ranked": ["a", "b"], "precision_10": None, "map": None,
    }  # fmt: skip
    assert len(path.read_text().splitlines()) == 4


@pytest.mark.parametrize(("text", "problem"), [
    ("", "is no run"), ("[1]", "is no run"), ('{"queries": []}', "missing required field"),
    ('{"format": 2, "dataset": "d", "mode": "m", "queries": [{"new": 1}]}', "is of format 2; this Muisti reads"),
    ('{"format": 1, "dataset": "d", "mode": "m", "queries": [{"id": 1}]}', "queries"),
])  # fmt: skip
def test_a_file_that_is_no_run_is_refused_by_name(text: str, problem: str, tmp_path: Path):
    path = tmp_path / "run.json"
    path.write_text(text)
    with pytest.raises(metrics.RunFileError, match=problem) as caught:
        metrics.load(path)
    assert str(path) in str(caught.value)


def test_a_run_that_is_missing_is_refused_by_name(tmp_path: Path):
    with pytest.raises(metrics.RunFileError, match=r"none\.json: cannot be read"):
        metrics.load(tmp_path / "none.json")


def test_the_table_has_a_row_for_each_mode_and_fits_a_terminal_of_80_columns():
    runs = [run({"a": 0.25, "b": 0.75}, mode) for mode in ("hybrid", "semantic", "keyword")]
    text = metrics.as_text(metrics.summary_table("chats [5 groups]", [summarise(r) for r in runs]), width=80)
    lines = text.splitlines()
    assert lines[0] == "chats [5 groups]" and max(map(len, lines)) <= 80 and "…" not in text and "\x1b" not in text
    assert [line.split()[:4] for line in lines if line.lstrip().startswith(("hybrid", "keyword"))] == [
        ["hybrid", "0.500", "0.500", "0.500"], ["keyword", "0.500", "0.500", "0.500"],
    ]  # fmt: skip
    assert all(name in text for name in ("R@5", "R@10", "nDCG@10", "MRR", "ms/query", "p95 1.00", "2 queries"))
    assert "0.250-0.750" in text


def test_the_comparison_says_in_words_what_changed():
    found = compare(run({"a": 0.5, "[b]": 0.5}), run({"a": 0.5, "[b]": 1.0}))
    text = metrics.as_text(metrics.comparison_report("chats", found))
    assert "chats: nDCG@10 0.500 -> 0.750" in text and "1 better, 0 worse, 1 the same" in text
    assert [line.split() for line in text.splitlines() if "[b]" in line] == [["[b]", "0.500", "1.000", "+0.500"]]
    assert "moved most" not in metrics.as_text(
        metrics.comparison_report("chats", compare(run({"a": 1}), run({"a": 1})))
    )


# datasets


CORPUS = [{"id": "d1", "text": "Turku", "group": "g"}, {"id": "d2", "text": "Oulu", "group": "g", "meta": {"turn": 1}}]
QUERIES = [{"id": "q1", "text": "where?", "group": "g", "category": "place", "answer": "Turku"}]
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\n"


def folder(path: Path, corpus: Any = CORPUS, queries: Any = QUERIES, qrels: str = QRELS) -> Path:
    for name, rows in (("corpus", corpus), ("queries", queries)):
        text = rows if isinstance(rows, str) else "".join(json.dumps(row) + "\n" for row in rows)
        (path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    (path / "qrels.tsv").write_text(qrels, encoding="utf-8")
    return path


def test_a_folder_is_read_by_group_with_what_is_relevant(tmp_path: Path):
    found = dataset.load(folder(tmp_path))
    assert found.name == tmp_path.name and found.notes == ()
    assert [(d.id, d.part, d.text, d.meta) for d in found.documents["g"]] == [
        ("d1", 0, "Turku", {}), ("d2", 0, "Oulu", {"turn": 1}),
    ]  # fmt: skip
    assert found.queries["g"] == (dataset.Query(id="q1", text="where?", group="g", category="place", answer="Turku"),)
    assert found.qrels == {"q1": {"d1": 2.0}}


def test_group_meta_and_category_may_be_missing_and_ids_may_be_numbers(tmp_path: Path):
    qrels = "query-id\tcorpus-id\tscore\r\n\r\n7\t8\t1.5\r\n"
    found = dataset.load(folder(tmp_path, [{"id": 8, "text": "x"}], '\ufeff{"id": 7, "text": "y"}\r\n', qrels))
    assert found.qrels == {"7": {"8": 1.5}} and list(found.documents) == list(found.queries) == ["all"]


def test_what_is_not_taken_as_it_is_is_told(tmp_path: Path):
    corpus = [*CORPUS, {"id": "d3", "text": " \n", "group": "g"}, {"id": "d4", "text": "word " * 30_000, "group": "g"}]
    queries = [
        *QUERIES,
        {"id": "q2", "text": "", "group": "g"},
        {"id": "q3", "text": "no answer", "group": "g"},
        {"id": "q4", "text": "x" * 10_001, "group": "g"},
    ]
    found = dataset.load(folder(tmp_path, corpus, queries, QRELS + "q2\td1\t1\nq3\td1\t-1\nq4\td1\t1\n"))
    assert found.notes == (
        "document d3 is empty and was skipped",
        "document d4 has 150,000 characters and was split into 2",
        "query q2 is empty and was skipped",
        "query q3 has no relevant document and was skipped",
        "query q4 has 10,001 characters and was shortened to 10,000",
    )
    assert [(d.id, d.part) for d in found.documents["g"]] == [("d1", 0), ("d2", 0), ("d4", 0), ("d4", 1)]
    assert [len(query.text) for query in found.queries["g"]] == [6, 10_000]


@given(st.text("ab .\n。!", max_size=300), st.integers(1, 50))
def test_pieces_of_a_split_text_fit_and_join_back_to_it(text: str, limit: int):
    pieces = dataset.split(text, limit)
    assert "".join(pieces) == text and all(len(piece) <= limit for piece in pieces)
    assert text == "" or all(pieces)


def test_a_text_is_split_after_a_paragraph_rather_than_within_a_sentence():
    assert dataset.split("One two. Three.\n\nFour five. Six.", 24) == ["One two. Three.\n\n", "Four five. Six."]


@pytest.mark.parametrize(("files", "problem"), [
    ({"corpus": '{"id": "d1", "text": "x"}\n{"id": '}, r"corpus\.jsonl:2: Input data was truncated"),
    ({"corpus": '\n{"id": "d1"}\n'}, r"corpus\.jsonl:2: .*missing required field `text`"),
    ({"corpus": '{"id": "d1", "text": null}\n'}, r"corpus\.jsonl:1: Expected `str`, got `null`"),
    ({"corpus": '{"id": "d1", "text": "a\\u0000"}\n'}, r"corpus\.jsonl:1: .*NUL"),
    ({"corpus": '{"id": "d1", "text": "\\ud800 x"}\n'}, r"corpus\.jsonl:1: "),
    ({"corpus": [*CORPUS, CORPUS[0]]}, r"corpus\.jsonl:3: id 'd1' is taken by line 1"),
    ({"corpus": ""}, r"corpus\.jsonl: is empty"),
    ({"queries": [{"id": "q1", "text": 5}]}, r"queries\.jsonl:1: Expected `str`, got `int`"),
    ({"qrels": "q1\td1\t1\n"}, r"qrels\.tsv:1: expected the header"),
    ({"qrels": ""}, r"qrels\.tsv:1: expected the header"),
    ({"qrels": QRELS + "q9\td1\t1\n"}, r"qrels\.tsv:4: there is no query 'q9'"),
    ({"qrels": QRELS + "q1\td9\t1\n"}, r"qrels\.tsv:4: there is no document 'd9'"),
    ({"qrels": QRELS + "q1 d1 1\n"}, r"qrels\.tsv:4: expected a query, a document and a number"),
    ({"qrels": QRELS + "q1\td1\tgood\n"}, r"qrels\.tsv:4: expected a query, a document and a number"),
    ({"qrels": QRELS + "q1\td1\tnan\n"}, r"qrels\.tsv:4: the score is nan"),
    ({"qrels": QRELS + "q1\td1\t1\n"}, r"qrels\.tsv:4: .* are judged already, unlike"),
    ({"qrels": "query-id\tcorpus-id\tscore\n"}, r"no query has a relevant document"),
    ({"queries": [{"id": "q1", "text": "x", "group": "h"}]}, r"qrels\.tsv:2: .* different groups"),
])  # fmt: skip
def test_a_folder_that_is_not_in_the_format_is_refused_with_file_and_line(
    files: dict[str, Any], problem: str, tmp_path
):
    with pytest.raises(dataset.DatasetError, match=problem):
        dataset.load(folder(tmp_path, **files))


def test_text_that_is_not_utf8_is_refused_with_file_and_line(tmp_path: Path):
    (folder(tmp_path) / "corpus.jsonl").write_bytes(b'{"id": "d1", "text": "\xe4"}\n')
    with pytest.raises(dataset.DatasetError, match=r"corpus\.jsonl:1: .*utf-8"):
        dataset.load(tmp_path)


def test_a_missing_file_is_refused_by_name(tmp_path: Path):
    (folder(tmp_path) / "qrels.tsv").unlink()
    with pytest.raises(dataset.DatasetError, match=r"qrels\.tsv: cannot be read: No such file"):
        dataset.load(tmp_path)
