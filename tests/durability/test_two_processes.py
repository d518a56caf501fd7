"""Two servers on one file: what one acknowledges, the next search on the other finds."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.durability.server import Server, rare_word

pytestmark = pytest.mark.prove


ROUNDS = 100


class Node:
    """One of the two servers, as a client sees it."""

    def __init__(self, http: httpx.Client) -> None:
        self._http = http

    def ask(self, status: int, method: str, path: str, **given: Any) -> Any:
        response = self._http.request(method, f"/v1/spaces{path}", **given)
        assert response.status_code == status, response.text
        return response.json() if response.content else None

    def add(self, space: str, content: str) -> str:
        return self.ask(201, "POST", f"/{space}/memories", json={"content": content})["id"]

    def search(self, space: str, word: str) -> list[str]:
        found = self.ask(200, "POST", f"/{space}/search", json={"query": word, "mode": "keyword"})
        return [hit["memory"]["id"] for hit in found["hits"]]


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
        there.ask(200, "PATCH", f"/default/memories/{added}", json={"content": f"note {second}"})
        assert here.search("default", first) == []
        assert here.search("default", second) == [added]
        here.ask(204, "DELETE", f"/default/memories/{added}")
        assert there.search("default", second) == []


def test_the_other_server_sees_that_a_space_was_made_anew(nodes: tuple[Node, Node]):
    nodes[0].ask(201, "POST", "", json={"name": "notes"})
    for number in range(ROUNDS // 4):
        here, there = nodes if number % 2 else reversed(nodes)
        word = rare_word(number)
        old = here.add("notes", f"note {word}")
        assert there.search("notes", word) == [old]
        here.ask(200, "DELETE", "/notes", params={"confirm": "notes"})
        there.ask(201, "POST", "", json={"name": "notes"})
        assert here.search("notes", word) == there.search("notes", word) == []
        new = there.add("notes", f"note {word}")
        assert here.search("notes", word) == there.search("notes", word) == [new]
