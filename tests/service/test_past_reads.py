"""Every read that takes `as_of` answers for a point as it did at that point, whatever was written since."""

import json
import random
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.service.fakes import API

WORDS = ("heron", "river", "bridge", "invoice", "Friday", "port", "staging", "Turku", "Berlin", "deploy", "lamp")
PEOPLE = ("Ann Berg", "Bob Lee", "Carol Stone")
LISTS = [
    "categories", "conversations", "documents", "graph/communities", "graph/entities", "graph/export", "graph/picture",
    "graph/proposals", "graph/relations", "map", "memories", "sessions", "stats", "tags",
]  # fmt: skip
# Reads of one thing, by the list and the field that name it.
NAMED = {
    ("memories", "id"): ["memories/{}"],
    ("conversations", "name"): [f"conversations/{{}}{end}" for end in ("", "/exchanges", "/topics")],
    ("sessions", "name"): ["sessions/{}"],
    ("documents", "id"): [f"documents/{{}}{end}" for end in ("", "/chunks", "/text")],
    ("graph/entities", "id"): [f"graph/entities/{{}}{end}" for end in ("", "/neighbours")],
}
QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("search", {"query": "which port does staging use?", "explain": True}),
    ("search", {"query": "heron", "mode": "keyword", "filter": {"tags": "a"}}),
    ("search", {"query": "Ann Berg in Turku", "facts": True, "applies": False, "context_window": 1}),
    ("search", {"query": "deploy", "group_by": "conversation", "mode": "semantic"}),
    ("context", {"query": "where does Ann Berg live?", "token_budget": 400}),
]
NOW = {"age_days", "quota"}  # is of now, whatever point a read shows


class Life:
    """A space that is written to at random, in every way to write but those that erase the past."""

    def __init__(self, client: httpx.Client, seed: int) -> None:
        self.client, self.random = client, random.Random(seed)
        self.send("POST", "memories", {"content": "Ann Berg lives in Turku."})
        self.points = [self.point()]

    def point(self) -> str:
        return self.send("GET", "stats").headers["Muisti-Seq"]

    def text(self) -> str:
        person, word, place = (self.random.choice(some) for some in (PEOPLE, WORDS, ("Turku", "Berlin", "Oslo")))
        return self.random.choice((
            f"{person} lives in {place}.", f"{person} works at Acme and likes the {word}.",
            f"The {word} has port {len(word)}.", " ".join(self.random.choices(WORDS, k=8)),
        ))  # fmt: skip

    def send(self, method: str, path: str, body: Any = None, **options: Any) -> httpx.Response:
        answer = self.client.request(method, f"{API}/{path}", json=body, **options)
        assert answer.status_code < 500, (method, path, body, answer.text)
        return answer

    def names(self, kind: str, field: str = "id") -> list[str]:
        items = self.send("GET", kind, params={"limit": 50}).json()["items"]
        return [quote(one[field], safe="") for one in items]

    def step(self) -> None:
        """Make one change at random; some are refused, which is as good."""
        pick, text = self.random.choice, self.text

        def one(kind: str, field: str = "id") -> str:
            return pick(self.names(kind, field) or ["none"])

        memory, talk, topic = f"memories/{one('memories')}", f"conversations/{one('conversations', 'name')}", pick("tu")
        entity, person = f"graph/entities/{one('graph/entities')}", pick(PEOPLE)
        fields = {"content": text(), "tags": [pick("abc")], "author": pick(PEOPLE)}
        turns = [{"user": text(), "system": text()}, {"author": person, "content": text()}]
        method, path, body = pick([
            ("POST", "memories?on_conflict=keep", fields), ("PUT", f"entries/c/{pick('kl')}", fields),
            ("PATCH", memory, {"content": text()}), ("PATCH", memory, {"category": pick("cd"), "importance": "high"}),
            ("POST", f"{memory}/supersede", fields), ("DELETE", memory, None), ("POST", f"{memory}/restore", {}),
            ("POST", "undo", {"last": pick((1, 2, 3))}), ("POST", "rollback", {"to": pick(self.points)}),
            ("POST", "conversations", {"name": f"talk{pick('123')}", "tags": ["a"]}), ("DELETE", talk, None),
            ("PATCH", talk, {"title": text()}), ("POST", f"{talk}/exchanges", {"items": turns, "session": pick("sr")}),
            ("POST", f"{talk}/topics", {"name": topic, "spans": [[1, 2]]}), ("DELETE", f"{talk}/topics/{topic}", None),
            ("PATCH", f"{talk}/topics/{topic}", {"title": text()}), ("POST", f"{talk}/summaries", {}),
            ("POST", f"{talk}/topics/{topic}/split", {"turn": 2}), ("DELETE", "sessions/r", None),
            ("POST", "sessions", {"name": pick("sr"), "title": text()}), ("PATCH", "sessions/s", {"title": text()}),
            ("PUT", f"documents/{pick('xy')}.md", f"# {text()}\n\n{text()}\n"),
            ("DELETE", f"documents/{one('documents')}", None),
            ("POST", "graph/relations", {"subject": person, "kind": "knows", "object": pick(PEOPLE)}),
            ("PATCH", entity, {"kind": pick(("person", "place"))}), ("POST", f"{entity}/merge", {"others": [person]}),
            ("POST", f"{entity}/keep-apart", {"others": [person]}), ("POST", "prune", {}), ("POST", "promote", {}),
            ("POST", "import", json.dumps({"content": text()})),
        ])  # fmt: skip
        if isinstance(body, str):
            self.send(method, path, content=body.encode(), headers={"Content-Type": "application/x-ndjson"})
        else:
            self.send(method, path, body)
        self.points.append(self.point())

    def reads(self) -> Iterator[tuple[str, dict[str, Any] | None]]:
        """Yield all reads of now: the path of each, and the body of a question."""
        yield from ((path, None) for path in LISTS)
        for (kind, field), paths in NAMED.items():
            yield from ((path.format(name), None) for name in sorted(self.names(kind, field))[:3] for path in paths)
        yield from QUESTIONS

    def read(self, path: str, body: dict[str, Any] | None, **at: str) -> tuple[int, Any]:
        """Return the answer of a read, at a point if one is given, without what it says of now."""
        if body is None:
            answer = self.send("GET", path, params=at)
        else:
            answer = self.send("POST", path, {**body, **at, "no_touch": True})
        is_json = "json" in answer.headers["Content-Type"]
        return answer.status_code, without_now(answer.json()) if is_json else answer.text


def without_now(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_now(one) for name, one in value.items() if name not in NOW}
    return [without_now(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.prove) for seed in range(1, 6))])
def test_a_read_of_the_past_answers_as_it_did_then(client: httpx.Client, seed: int):
    life = Life(client, seed)
    then: list[tuple[str, str, Any, Any]] = []
    for number in range(36):
        life.step()
        if number % 9 == 0:
            then += [(life.points[-1], path, body, life.read(path, body)) for path, body in life.reads()]
    assert [path for point, path, body, was in then if life.read(path, body, as_of=point) != was] == []
