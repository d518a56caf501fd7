"""Options of a search over HTTP, and the search over several spaces: who may ask, and what the answer says."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.core.model.values import Draft
from muisti.service.app.app import create_app
from muisti.service.settings import Settings
from tests.service.keyed import administrator, caller


@pytest.fixture
def asked(engine: Engine) -> Iterator[httpx.Client]:
    """A service with keys, and three spaces that hold something."""
    administrator(engine)
    for space in ("project", "workspace", "global"):
        engine.spaces.create(space)
        for turn, category in enumerate(("rules", "notes", "rules")):
            draft = Draft(
                content=f"We deploy on day {turn}",
                category=category,
                tags=("release",) if turn == 1 else (),
                metadata={"session": "s", "turn": turn},
            )
            engine.owner.write.add(space, [draft], on_conflict="keep")
    with TestClient(create_app(Settings(), engine=engine)) as opened:
        yield opened


def post(client: httpx.Client, who: Any, path: str, **body: Any) -> httpx.Response:
    return client.post(path, json={"query": "when do we deploy?", **body}, headers=who.headers)


def test_options_are_answered_in_one_space(asked: httpx.Client, engine: Engine):
    who, path = caller(engine, ("read",), "project"), "/v1/spaces/project/search"
    grouped = post(asked, who, path, group_by="category").json()["hits"]
    assert {hit["group"]["value"]: hit["group"]["count"] for hit in grouped} == {"rules": 2, "notes": 1}
    like = grouped[0]["memory"]["id"]
    similar = post(asked, who, path, query="", similar_to=like, context_window=1, explain=True).json()
    assert like not in [hit["memory"]["id"] for hit in similar["hits"]] and len(similar["hits"]) == 2
    assert all(hit["context"]["before"] or hit["context"]["after"] for hit in similar["hits"])
    weighed = post(asked, who, path, signals={"tag": 0.5}, boost_tags={"release": 1}, explain=True).json()["hits"]
    assert weighed[0]["memory"]["tags"] == ["release"]
    assert weighed[0]["explain"]["signals"] == {"tag": {"score": 1.0, "weight": 0.5, "contribution": 1.0}}
    assert "tag match" in weighed[0]["explain"]["sentence"]
    composite = post(asked, who, path, preset="tag-focused", diversity=0.5, explain=True).json()["hits"][0]["explain"]
    assert composite["composite"] == pytest.approx(sum(one["contribution"] for one in composite["signals"].values()))
    assert composite["novelty"]["nearest"] == 0
    assert post(asked, who, path, min_score=1).json()["hits"] == []


def test_what_was_expected_is_explained(asked: httpx.Client, engine: Engine):
    who, path = caller(engine, ("read",), "project"), "/v1/spaces/project/search"
    notes = caller(engine, ("read",), "project", category="notes")
    hits = post(asked, who, path, explain=True).json()["hits"]
    ids = [hit["memory"]["id"] for hit in hits]
    found = post(asked, who, path, limit=1, explain_ids=ids[::-1], filter={"category": "rules"}).json()
    reasons = {one["id"]: one for one in found["explained"]}
    assert [*reasons] == ids[::-1] and len(found["hits"]) == 1
    filtered = post(asked, who, path, explain=True, filter={"category": "rules"}).json()["hits"]
    rules = {hit["memory"]["id"]: hit for hit in filtered}
    for hit in hits:
        one, is_rule = reasons[hit["memory"]["id"]], hit["memory"]["category"] == "rules"
        assert (one["reason"] == "filter") is not is_rule
        if is_rule:
            same = rules[hit["memory"]["id"]]
            assert one["score"] == same["score"] and one["explain"]["fused"] == same["explain"]["fused"]
            assert set(one["ranks"]) == set(same["ranks"])
        else:
            assert (one["conditions"], one["rank"], one["explain"]) == (["category"], None, None)
    seen = post(asked, notes, path, explain_ids=ids).json()["explained"]
    assert sorted(one["reason"] for one in seen) == ["found", "unknown", "unknown"]
    refused = post(asked, who, path, explain_ids=["x"])
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (422, "$.explain_ids[0]")
    assert post(asked, who, "/v1/search", spaces=[{"name": "project"}], explain_ids=ids).status_code == 422


def test_the_mode_auto_tells_how_it_read_the_query(asked: httpx.Client, engine: Engine):
    who, path = caller(engine, ("read",), "project"), "/v1/spaces/project/search"
    found = post(asked, who, path, query="notes tagged release", mode="auto").json()
    assert found["intent"] == {
        "kind": "tags", "mode": "metadata", "text": "", "filter": {"tags": {"any": ["release"]}}, "similar_to": None,
        "sentence": 'Asks for memories with the tag "release", by importance and age, without ranking by text.',
        "applied": True,
    }  # fmt: skip
    assert found["strategy"] == "metadata" and [hit["memory"]["tags"] for hit in found["hits"]] == [["release"]]
    told = post(asked, who, path, query="notes tagged release", intent=True).json()
    assert not told["intent"]["applied"] and told["strategy"] == "hybrid" and len(told["hits"]) == 3
    assert "intent" not in post(asked, who, path).json()


def test_a_receipt_keeps_the_options_of_a_search(asked: httpx.Client, engine: Engine):
    who = administrator(engine)
    found = post(asked, who, "/v1/spaces/project/search", group_by="category", receipt=True).json()
    replay = asked.post(f"/v1/receipts/{found['receipt']}/replay", headers=who.headers).json()
    assert replay["same"] and replay["answer"]["hits"][0]["group"] == found["hits"][0]["group"]


def test_several_spaces_answer_together_and_each_tells_its_part(asked: httpx.Client, engine: Engine):
    who = caller(engine, ("read",), "*")
    spaces = [{"name": "project"}, {"name": "global", "weight": 0.5}]
    answer = post(asked, who, "/v1/search", spaces=spaces, explain=True, limit=6)
    found = answer.json()
    assert [(part["name"], part["weight"], part["total"]) for part in found["spaces"]] == [
        ("project", 1.0, 3), ("global", 0.5, 3),
    ]  # fmt: skip
    assert {hit["memory"]["space"] for hit in found["hits"]} == {"project", "global"} and found["total"] == 6
    assert {hit["explain"]["space_weight"] for hit in found["hits"]} == {1.0, 0.5}
    for part in found["spaces"]:
        alone = post(asked, who, f"/v1/spaces/{part['name']}/search", limit=6)
        assert part["seq"] == alone.headers["Muisti-Seq"]
        scores = {hit["memory"]["id"]: hit["score"] * part["weight"] for hit in alone.json()["hits"]}
        mine = {h["memory"]["id"]: h["score"] for h in found["hits"] if h["memory"]["space"] == part["name"]}
        assert mine == pytest.approx(scores)


def test_a_chain_of_spaces_weighs_the_nearest_most(asked: httpx.Client, engine: Engine):
    who = caller(engine, ("read",), "*")
    found = post(asked, who, "/v1/search", inherit=["project", "workspace", "global"]).json()
    assert [part["weight"] for part in found["spaces"]] == pytest.approx([1.0, 0.9, 0.81])
    assert found["hits"][0]["memory"]["space"] == "project"


def test_a_space_inherits_what_its_policy_names_and_each_key_reads_what_it_opens(asked: httpx.Client, engine: Engine):
    who = administrator(engine)
    chain = {"inherits": ["workspace", "global"]}
    assert asked.patch("/v1/spaces/project/policy", json=chain, headers=who.headers).json()["inherits"] == [
        "workspace", "global",
    ]  # fmt: skip
    found = post(asked, who, "/v1/search", inherit_from="project").json()
    assert [(part["name"], part["weight"]) for part in found["spaces"]] == [
        ("project", 1.0), ("workspace", 0.9), ("global", pytest.approx(0.81)),
    ]  # fmt: skip
    assert (
        post(asked, caller(engine, ("read",), "project", "workspace"), "/v1/search", inherit_from="project").status_code
        == 404
    )
    assert post(asked, caller(engine, ("read",), "global"), "/v1/search", inherit_from="project").status_code == 404
    alone = post(asked, caller(engine, ("read",), "global"), "/v1/search", inherit_from="global").json()
    assert [part["name"] for part in alone["spaces"]] == ["global"]
    for bad in (["x", "x"], ["Not A Name"], [f"s{n}" for n in range(20)]):
        refused = asked.patch("/v1/spaces/project/policy", json={"inherits": bad}, headers=who.headers)
        assert refused.status_code == 422 and refused.json()["errors"][0]["path"].startswith("$.inherits")
    cleared = asked.patch("/v1/spaces/project/policy", json={"inherits": None}, headers=who.headers).json()
    assert cleared["inherits"] == []


def test_a_space_that_the_key_does_not_open_is_not_there(asked: httpx.Client, engine: Engine):
    who = caller(engine, ("read",), "project")
    forbidden, missing = (
        post(asked, who, "/v1/search", spaces=[{"name": "project"}, {"name": name}]) for name in ("global", "nowhere")
    )
    assert forbidden.status_code == missing.status_code == 404
    assert forbidden.json()["detail"].replace("global", "nowhere") == missing.json()["detail"]
    assert post(asked, who, "/v1/search", spaces=[{"name": "project"}]).is_success
    refused = post(asked, caller(engine, ("append",), "*"), "/v1/search", spaces=[{"name": "project"}])
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")


def test_a_key_of_one_category_sees_it_alone_in_every_space(asked: httpx.Client, engine: Engine):
    who = caller(engine, ("read",), "*", category="notes")
    found = post(asked, who, "/v1/search", inherit=["project", "global"], context_window=2).json()
    assert {hit["memory"]["category"] for hit in found["hits"]} == {"notes"} and found["total"] == 2
    assert all(not hit["context"]["before"] and not hit["context"]["after"] for hit in found["hits"])


def test_a_search_waits_for_the_point_of_each_space(asked: httpx.Client, engine: Engine):
    who = caller(engine, ("read",), "*")
    at = post(asked, who, "/v1/search", spaces=[{"name": "project"}]).json()["spaces"][0]["seq"]
    epoch, number = at.rsplit(":", 1)
    seen = [{"name": "project", "min_seq": at}, {"name": "global"}]
    assert post(asked, who, "/v1/search", spaces=seen).is_success
    ahead = [{"name": "project", "min_seq": f"{epoch}:{int(number) + 1}"}]
    refused = post(asked, who, "/v1/search", spaces=ahead)
    assert (refused.status_code, refused.json()["code"]) == (503, "not_yet_replicated")


def test_options_work_on_conversations_in_several_spaces(asked: httpx.Client, engine: Engine):
    who = caller(engine, ("read", "append", "write"), "*")
    for space in ("project", "global"):
        for name, session in (("c1", "monday"), ("c2", "tuesday")):
            items = [{"turn": n, "author": "Ann", "content": f"Turn {n} about the harbour of {name}"} for n in range(4)]
            path = f"/v1/spaces/{space}/conversations/{name}/exchanges"
            added = asked.post(path, json={"items": items, "session": session}, headers=who.headers)
            assert added.is_success, added.text
    found = post(
        asked, who, "/v1/search", query="harbour", inherit=["project", "global"], filter={"session": "monday"},
        group_by="conversation", context_window=1,
    ).json()  # fmt: skip
    assert [(hit["group"]["value"], hit["group"]["count"]) for hit in found["hits"]] == [("c1", 8)]
    (hit,) = found["hits"]
    around = [*hit["context"]["before"], *hit["context"]["after"]]
    turn = hit["memory"]["turn"]
    assert [one["turn"] for one in around] == [n for n in (turn - 1, turn + 1) if 0 <= n < 4]
    assert {one["conversation"] for one in around} == {"c1"} and found["total"] == 8


@pytest.mark.parametrize(("body", "path"), [
    ({}, "$.spaces"), ({"spaces": [{"name": "project"}], "inherit": ["global"]}, "$.spaces"),
    ({"spaces": [{"name": "project"}], "inherit_from": "global"}, "$.spaces"),
    ({"inherit": ["project", "project"]}, "$.spaces"),
    ({"spaces": [{"name": "project", "weight": 0}]}, "$.spaces[0].weight"),
    ({"spaces": [{"name": "project", "colour": 1}]}, "$.spaces[0].colour"),
    ({"inherit": ["project", "global"], "fusion": "rrf"}, "$.fusion"),
    ({"inherit": ["project"], "receipt": True}, "$.receipt"),
])  # fmt: skip
def test_a_bad_field_is_named(asked: httpx.Client, engine: Engine, body: dict[str, Any], path: str):
    response = post(asked, caller(engine, ("read",), "*"), "/v1/search", **body)
    assert (response.status_code, response.json()["errors"][0]["path"]) == (422, path)
