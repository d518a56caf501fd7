"""Two servers on one file: what one acknowledges, the next search on the other finds."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from tests.durability.server import Server, rare_word

pytestmark = pytest.mark.prove


ROUNDS = 100


class Node:
    """One of the two servers, as a client sees it."""

    def __init__(self, http: httpx.Client) -> None:
        self._http = http

    def make(self, space: str) -> None:
        assert self._http.post("/v1/spaces", json={"name": space}).status_code == 201

    def erase(self, space: str) -> None:
        assert self._http.delete(f"/v1/spaces/{space}", params={"confirm": space}).status_code == 200

    def add(self, space: str, content: str) -> str:
        response = self._http.post(f"/v1/spaces/{space}/memories", json={"content": content})
        assert response.status_code == 201, response.text
        return response.json()["id"]

    def update(self, space: str, memory_id: str, content: str) -> None:
        response = self._http.patch(f"/v1/spaces/{space}/memories/{memory_id}", json={"content": content})
        assert response.status_code == 200, response.text

    def delete(self, space: str, memory_id: str) -> None:
        assert self._http.delete(f"/v1/spaces/{space}/memories/{memory_id}").status_code == 204

    def search(self, space: str, word: str) -> list[str]:
        response = self._http.post(f"/v1/spaces/{space}/search", json={"query": word, "mode": "keyword"})
        assert response.status_code == 200, response.text
        return [hit["memory"]["id"] for hit in response.json()["hits"]]


@pytest.fixture
def nodes(folder: Path) -> Iterator[tuple[Node, Node]]:
    with ExitStack() as stack:
        servers = [stack.enter_context(Server(folder / "muisti.db")) for _ in range(2)]
        one, other = (
            stack.enter_context(httpx.Client(base_url=server.url, timeout=60, trust_env=False)) for server in servers
        )
        yield Node(one), Node(other)


def test_the_other_server_finds_the_next_moment_what_one_has_acknowledged(nodes: tuple[Node, Node]):
    for number in range(ROUNDS):
        here, there = nodes if number % 2 else reversed(nodes)
        first, second = rare_word(2 * number), rare_word(2 * number + 1)
        added = here.add("default", f"note {first}")
        assert there.search("default", first) == [added]
        there.update("default", added, f"note {second}")
        assert here.search("default", first) == []
        assert here.search("default", second) == [added]
        here.delete("default", added)
        assert there.search("default", second) == []


def test_the_other_server_sees_that_a_space_was_made_anew(nodes: tuple[Node, Node]):
    nodes[0].make("notes")
    for number in range(ROUNDS // 4):
        here, there = nodes if number % 2 else reversed(nodes)
        word = rare_word(number)
        old = here.add("notes", f"note {word}")
        assert there.search("notes", word) == [old]
        here.erase("notes")
        there.make("notes")
        assert here.search("notes", word) == there.search("notes", word) == []
        new = there.add("notes", f"note {word}")
        assert here.search("notes", word) == there.search("notes", word) == [new]
