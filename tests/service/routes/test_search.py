"""Search over HTTP."""

from typing import Any

import httpx
import pytest

from muisti.core.model.hits import Explanation
from muisti.service.schemas.search import SearchReply
from tests.service.fakes import API, draft

MODES = ("hybrid", "semantic", "keyword", "metadata", "recent")


@pytest.fixture(autouse=True)
def memories(client: httpx.Client) -> list[dict[str, Any]]:
    texts = ("we deploy on fridays", "ticket QX-991 is open", "anna prefers tea", "the red house is old")
    bodies = [draft(text, tags=[f"t{n % 2}"], metadata={"n": n}) for n, text in enumerate(texts)]
    return client.post(f"{API}/memories/batch", json={"memories": bodies}).json()["items"]


def search(client: httpx.Client, query: str = "", **fields: Any) -> dict[str, Any]:
    response = client.post(f"{API}/search", json={"query": query, **fields})
    assert response.status_code == 200, response.text
    return response.json()


ABSENT = {
    "receipt",
    "intent",
    "explained",
    "instructions",
    "evidence_reason",
    "nearest",
}  # nobody asks for them, or there are none


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_answers(client: httpx.Client, mode: str):
    answer = search(client, "QX-991", mode=mode)
    assert set(answer) == set(SearchReply.__struct_fields__) - ABSENT
    assert (answer["strategy"], answer["degraded"]) == (mode, [])
    assert answer["hits"]
    for hit in answer["hits"]:
        applies = {"applies"} if mode == "keyword" else set[str]()  # nobody has calibrated the model of this test
        assert set(hit) == {"memory", "score", "ranks", "passage"} | applies
        assert 0 <= hit["score"] <= 1


def test_ten_are_found_and_fifty_listed_unless_it_is_said_and_nothing_is_an_empty_list(client: httpx.Client):
    bodies = [draft(f"kettle number {n}") for n in range(60)]
    client.post(f"{API}/memories/batch", json={"memories": bodies})
    assert len(search(client, "kettle", mode="keyword")["hits"]) == 10
    assert len(search(client, "kettle", mode="keyword", limit=60)["hits"]) == 60
    listed = client.get(f"{API}/memories").json()
    assert len(listed["items"]) == 50 and listed["next_cursor"] is not None
    assert search(client, "zebra", mode="keyword")["hits"] == []
    assert client.get(f"{API}/memories?category=none").json() == {"items": [], "next_cursor": None}


def test_what_is_asked_for_comes_with_the_hits(client: httpx.Client):
    hit = search(client, "deploy", explain=True, highlight=True)["hits"][0]
    assert set(hit["explain"]) == set(Explanation.__struct_fields__) - {
        "decay", "signals", "composite", "space_weight", "answer", "novelty", "symbol", "quoted", "graph", "second",
        "facts",
    }  # fmt: skip
    assert hit["score"] == pytest.approx(
        hit["explain"]["fused"] * hit["explain"]["recency"] * hit["explain"]["importance"]
    )
    assert "deploy" in hit["highlight"]


def test_a_write_is_found_by_the_next_search(client: httpx.Client):
    seq = client.post(f"{API}/memories", json=draft("zebra crossing")).headers["muisti-seq"]
    answer = search(client, "zebra", mode="keyword")
    assert ([hit["memory"]["content"] for hit in answer["hits"]], answer["seq"]) == (["zebra crossing"], seq)


def test_the_answer_says_what_time_it_took(client: httpx.Client):
    response = client.post(f"{API}/search", json={"query": "tea"})
    stages = [stage.partition(";dur=") for stage in response.headers["server-timing"].split(", ")]
    assert [name for name, _, _ in stages] == ["embed", "filter", "rank", "fetch", "total"]
    assert all(float(milliseconds) >= 0 for _, _, milliseconds in stages)


def test_the_same_question_at_the_same_time_has_the_same_answer(client: httpx.Client):
    asked = {"explain": True, "recency": {"lambda": 0.1, "grace_days": 1}, "reference_time": "2026-07-01T00:00:00Z"}
    assert search(client, "tea house", **asked) == search(client, "tea house", **asked)


@pytest.mark.parametrize("recency", [
    {}, {"weight": 0.5, "half_life_days": 3}, {"function": "linear", "lambda": 0.01},
    {"function": "exponential", "lambda": 0.01, "grace_days": 2},
])  # fmt: skip
def test_recency_takes_each_of_its_forms(client: httpx.Client, recency: dict[str, Any]):
    assert search(client, "tea", recency=recency)["hits"]


@pytest.mark.parametrize(("fields", "path"), [
    ({"query": ""}, "$.query"), ({"query": 5}, "$.query"), ({"query": "x" * 10_001}, "$.query"),
    ({"query": "a\0"}, "$.query"), ({"query": "a", "limit": 0}, "$.limit"),
    ({"query": "a", "limit": "5"}, "$.limit"), ({"query": "a", "mode": "psychic"}, "$.mode"),
    ({"query": "a", "match": "some"}, "$.match"), ({"query": "a", "fusion": "cold"}, "$.fusion"),
    ({"query": "a", "alpha": 2}, "$.alpha"), ({"query": "a", "filter": []}, "$.filter"),
    ({"query": "a", "filter": {"colour": "red"}}, "$.filter.colour"),
    ({"query": "a", "filter": {"and": [{"tags": {"gt": 1}}]}}, "$.filter.and[0].tags.gt"),
    ({"query": "a", "reference_time": "yesterday"}, "$.reference_time"),
    ({"query": "a", "recency": {"weight": 2}}, "$.recency.weight"),
    ({"query": "a", "recency": {"lambda": 0}}, "$.recency.lambda"),
    ({"query": "a", "recency": {"function": "cubic"}}, "$.recency.function"),
    ({"query": "a", "recency": {"function": "half_life", "lambda": 0.1}}, "$.recency.lambda"),
    ({"query": "a", "recency": {"function": "linear", "half_life_days": 3}}, "$.recency.half_life_days"),
    ({"query": "a", "as_of": "the other day"}, "$.as_of"), ({"query": "a", "group_by": "content"}, "$.group_by"),
    ({"query": "a", "colour": "red"}, "$.colour"),
    ({"query": "a", "similar_to": "0197a3c0-5f4e-7000-8000-0123456789ab"}, "$.query"),
    ({"query": "a", "preset": "best"}, "$.preset"), ({"query": "a", "signals": {"luck": 1}}, "$.signals.luck"),
    ({"query": "a", "signals": {"tag": 1}}, "$.signals.tag"), ({"query": "", "mode": "auto"}, "$.query"),
])  # fmt: skip
def test_a_bad_field_is_named(client: httpx.Client, fields: dict[str, Any], path: str):
    response = client.post(f"{API}/search", json=fields)
    assert (response.status_code, response.json()["errors"][0]["path"]) == (422, path)


def test_counts_and_sizes_of_a_space(client: httpx.Client):
    client.post(f"{API}/memories", json=draft("with a category", category="Rules"))
    assert client.get(f"{API}/tags").json()["items"] == [{"name": "t0", "count": 2}, {"name": "t1", "count": 2}]
    assert client.get(f"{API}/categories").json() == {"items": [{"name": "Rules", "count": 1}], "next_cursor": None}
    stats = client.get(f"{API}/stats").json()
    assert (stats["memories"], stats["by"]["type"]) == (5, {"fact": 5})


def test_an_answer_says_whether_anything_here_is_about_the_query(client: httpx.Client):
    good, bad = (search(client, query, mode="keyword") for query in ("ticket QX-991 is open", "zebras in Kenya"))
    assert (good["evidence"], bad["evidence"]) == ("strong", "none")
    assert good["strength"] > bad["strength"] == 0


def test_hits_are_held_back_when_there_is_less_evidence_than_wanted(client: httpx.Client):
    query = "tea with zebras, lions, elephants and giraffes in Kenya"
    plain, held = (search(client, query, mode="keyword", **more) for more in ({}, {"min_evidence": "strong"}))
    assert plain["hits"] and not held["hits"]
    assert held["evidence"] == plain["evidence"] != "strong"
    assert held["total"] == plain["total"]


def test_a_model_without_thresholds_is_uncalibrated_and_never_held_back(client: httpx.Client):
    answer = search(client, "anna prefers tea", mode="hybrid", min_evidence="strong")
    assert answer["evidence"] == "uncalibrated" and answer["hits"]


def test_an_unknown_level_is_refused(client: httpx.Client):
    response = client.post(f"{API}/search", json={"query": "tea", "min_evidence": "none"})
    assert response.status_code == 422
    assert response.json()["errors"][0]["path"] == "$.min_evidence"
