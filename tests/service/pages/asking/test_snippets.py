"""Copied requests ask the same question: each text is run against a server and finds the same hits.

`make clients-test` does that with those of TypeScript.
"""

import json
import shlex
import subprocess
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from muisti.service.cli import main
from muisti.service.mcp.tools import TOOLS
from muisti.service.pages.ask import CONTEXT, GROUP_OF, SEARCH, TOOL_FIELDS, Server, snippets
from muisti.service.pages.asking.settings import asked_of, wanted_of
from muisti.service.settings.tool_groups import USUAL
from tests.durability import server as running
from tests.service.mcp_client import answer

NOTES = [
    {"content": 'We deploy on Tuesdays; don\'t ask "why"', "category": "rules", "tags": ["release"]},
    {"content": "Deploy with make release", "category": "rules", "importance": "high"},
    {"content": "The lake is 5 °C — cold", "author": "Ann"},
    {"content": "Nobody deploys on Fridays", "tags": ["release", "team"]},
]
ASKED: list[dict[str, str]] = [
    {"q": "when do we deploy?"}, {"q": 'don\'t "ask" $HOME `why`', "limit": "2"},
    {"q": "--deploy", "mode": "keyword", "match": "any", "tags": "release"},
    {
        "q": "deploy", "category": "rules", "filter": '{"importance": {"gte": "high"}}', "recency": "0.3",
        "half_life": "7",
    },
    {"q": "lake 5 °C", "trust": "0.2", "fusion": "rrf", "alpha": "0.3", "diversity": "0.2", "min_evidence": "weak"},
    {"q": "deploy", "preset": "balanced", "graph": "0.5"},
    {"mode": "recent", "limit": "3"},
]  # fmt: skip


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running.Server(tmp_path_factory.mktemp("server") / "muisti.db") as server:
        added = httpx.post(
            f"{server.url}/v1/spaces/default/memories/batch", json={"memories": NOTES, "on_conflict": "keep"}
        )
        assert added.status_code == 201, added.text
        yield server.url


def texts(url: str, operation: Any, body: dict[str, Any], *, keyed: bool = False) -> dict[str, str]:
    return {one.name: one.text for one in snippets(Server(url, "default", keyed), operation, body)}


def by_curl(text: str) -> Any:
    return json.loads(subprocess.run(["sh", "-c", text], capture_output=True, check=True, timeout=30).stdout)


def by_python(text: str) -> Any:
    names: dict[str, Any] = {}
    exec(text, names)
    return names["found"].to_dict()


def by_command(text: str) -> Any:
    words = shlex.split(text)
    done = CliRunner().invoke(main, ["--json", *words[1:]], prog_name=words[0])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def ids(found: Any) -> list[tuple[str, float]]:
    return [(hit["memory"]["id"], round(hit["score"], 6)) for hit in found["hits"]]


@pytest.mark.parametrize("params", ASKED)
def test_a_search_that_was_copied_finds_the_same(url: str, params: dict[str, str]):
    body = asked_of(params).body()
    wanted = httpx.post(f"{url}/v1/spaces/default/search", json=body)
    assert wanted.status_code == 200, wanted.text
    expected = ids(wanted.json())
    told = texts(url, SEARCH, body)
    assert ids(by_curl(told["curl"])) == expected
    assert ids(by_python(told["Python"])) == expected
    assert ids(by_command(told["Command line"])) == expected


def test_a_copied_tool_call_finds_the_same_where_the_tool_has_the_options(url: str):
    body = asked_of({"q": "when do we deploy?", "tags": "release", "recency": "0.3", "mode": "keyword"}).body()
    expected = ids(httpx.post(f"{url}/v1/spaces/default/search", json=body).json())
    (told,) = [one for one in snippets(Server(url, "default", keyed=False), SEARCH, body) if one.name == "MCP"]
    call = json.loads(told.text)["params"]
    with httpx.Client(base_url=url) as client:
        found = answer(client, call["name"], **call["arguments"])
    assert [one["id"] for one in found["memories"]] == [one for one, _ in expected] and not told.note


def test_a_tool_call_names_what_it_leaves_out():
    body = asked_of({"q": "tea", "fusion": "rrf", "alpha": "0.3"}).body()
    (told,) = [one for one in snippets(Server("http://x", "s", keyed=False), SEARCH, body) if one.name == "MCP"]
    assert told.note == "The tool recall leaves out: alpha, fusion."


def test_a_tool_that_is_not_offered_as_a_rule_says_where_it_is():
    body = wanted_of({"q": "tea"}).body()
    (told,) = [one for one in snippets(Server("http://x", "s", keyed=False), CONTEXT, body) if one.name == "MCP"]
    assert told.note.startswith("The tool get_context is offered at /mcp?tools=memory,conversations.")
    groups = {tool.name: tool.group for tool in TOOLS}
    assert {one: group for one, group in groups.items() if one in TOOL_FIELDS and group != USUAL} == GROUP_OF


@pytest.mark.parametrize(
    "params", [{"q": "deploy"}, {"q": "deploy", "budget": "60", "s.profile": "on", "s.memories": "on"}]
)
def test_a_context_that_was_copied_has_the_same_text(url: str, params: dict[str, str]):
    body = wanted_of(params).body()
    expected = httpx.post(f"{url}/v1/spaces/default/context", json=body).json()["text"]
    told = texts(url, CONTEXT, body)
    assert by_curl(told["curl"])["text"] == expected
    assert by_python(told["Python"])["text"] == expected
    assert by_command(told["Command line"])["text"] == expected


def test_no_text_holds_a_key_and_each_says_where_it_comes_from():
    told = texts("https://m.example", SEARCH, asked_of({"q": "tea"}).body(), keyed=True)
    assert all("MUISTI_KEY" in told[name] for name in ("curl", "Python", "TypeScript"))
    assert not any("MUISTI_KEY" in one for one in texts("http://x", SEARCH, {"query": "tea"}).values())
