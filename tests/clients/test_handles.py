"""Handles on the parts of a space: a verb for each operation, names in signatures, and results in notebooks."""

import asyncio
import inspect
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

import muisti
from clients.python.generate import groups
from muisti.client import Call, Reply, replies, results
from muisti.client._async_space import AsyncSpace
from muisti.client._html import rows_of
from muisti.client._named import UNSET
from muisti.client._result import Rows
from muisti.client._sync_space import Space

DOCUMENT = json.loads((Path(__file__).parents[2] / "docs" / "openapi.json").read_text("utf-8"))
VERBS = [
    (group, verb, operation)
    for group, verbs in groups.grouped(DOCUMENT).items()
    for verb, (_, operation) in verbs.items()
]
PATHS = {
    one["operationId"]: (method.upper(), path)
    for path, item in DOCUMENT["paths"].items()
    for method, one in item.items()
}
HOSTILE = '<script>alert("x")</script>'


class Recording:
    """A sender that keeps each request, and answers with an empty page."""

    closed = False

    def __init__(self) -> None:
        self.sent = list[Call]()

    def send(self, request: Call) -> Reply:
        self.sent.append(request)
        return Reply(b'{"items":[],"next_cursor":null}' if request.method == "GET" else b"", {})


class Awaited(Recording):
    async def send(self, request: Call) -> Reply:  # pyright: ignore[reportIncompatibleMethodOverride]
        return super().send(request)


async def _all(found: Any) -> None:
    if inspect.isasyncgen(found):
        assert [one async for one in found] == []
    else:
        await found


def test_every_operation_on_a_part_of_a_space_has_a_verb_of_its_own():
    tags = {*groups.GROUPS} - {"sessions"}
    wanted = {
        one["operationId"]
        for path, item in DOCUMENT["paths"].items()
        for one in item.values()
        if path.startswith(groups.SPACE) and one["tags"][0] in tags
    }
    assert wanted - {one["operationId"] for _, _, one in VERBS} == {"followTask"}  # a stream of events
    assert len({(group, verb) for group, verb, _ in VERBS}) == len(VERBS) == len(wanted) - 1


@pytest.mark.parametrize(("group", "verb", "operation"), VERBS, ids=lambda one: one if isinstance(one, str) else "")
def test_a_verb_sends_its_operation_with_all_that_it_is_given(group: str, verb: str, operation: Mapping[str, Any]):
    sent = list[Call]()
    for kind, sender in ((Space, Recording()), (AsyncSpace, Awaited())):
        call = getattr(getattr(kind(sender, "here"), group), verb)
        given = {name: f"{name}/x" for name in inspect.signature(call).parameters} | {"limit": 7}
        given = {name: value for name, value in given.items() if name in inspect.signature(call).parameters}
        try:
            found = call(**given)
            asyncio.run(_all(found)) if kind is AsyncSpace else [*(found if inspect.isgenerator(found) else ())]
        except msgspec.ValidationError:
            pass  # the answer is that of a list
        sent += sender.sent
    assert sent[0] == sent[1]
    method, path = PATHS[operation["operationId"]]
    assert sent[0].method == method
    assert re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", path), sent[0].path)
    shown = json.dumps([sent[0].path, dict(sent[0].params), dict(sent[0].headers), sent[0].body]).replace("%2F", "/")
    assert all(str(value) in shown for value in given.values())


def test_results_of_groups_can_be_decoded():
    for kind in vars(replies).values():
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            msgspec.json.Decoder(kind)


@pytest.mark.parametrize(
    ("verb", "option", "meant"),
    [("remember", "katgory", "category"), ("search", "limt", "limit"), ("list", "taggs", "tags")]
    + [("checkpoints.create", "nmae", "name"), ("documents.list", "folde", "folder")],
)
def test_an_unknown_option_is_refused_with_the_nearest_one(verb: str, option: str, meant: str):
    sender = Recording()
    with pytest.raises(TypeError, match=f"no option {option!r}; did you mean {meant!r}"):
        call: Any = Space(sender, "here")  # pyright: ignore[reportArgumentType]
        for part in verb.split("."):
            call = getattr(call, part)
        call(**{option: "x"})
    assert sender.sent == []


@pytest.mark.parametrize("kind", [Space, AsyncSpace])
def test_signatures_name_every_option(kind: type[Any]):
    shown = inspect.signature(kind.search)
    assert {"query", "limit", "mode", "category", "after"} <= {*shown.parameters}
    assert str(shown.parameters["limit"]) == "limit: int = ..." and shown.parameters["limit"].default is UNSET
    assert all(one.kind is not one.VAR_KEYWORD for one in shown.parameters.values())


def test_whatever_a_result_holds_is_escaped_in_a_notebook_and_bounded():
    with muisti.open(":memory:") as memory:
        memory.remember_many([f"{HOSTILE} parcel {n}" for n in range(60)], on_conflict="keep")
        memory.conversations.add_exchanges("c", [{"user": HOSTILE}])
        first = next(memory.list(category=None))
        shown = [
            first._repr_html_(),
            Rows(memory.list(limit=60))._repr_html_(),
            memory.search("parcel")._repr_html_(),
            memory.context("parcel")._repr_html_(),
            memory.recall("parcel")._repr_html_(),  # pyright: ignore[reportAttributeAccessIssue]
            rows_of([*memory.conversations.list_exchanges("c")]),
        ]
    assert all("<script" not in one and "&lt;script&gt;" in one for one in shown)
    assert shown[1].count("<tr>") == 51 and "60 in all" in shown[1]


def test_a_file_of_bytes_is_a_document_and_reads_back_in_process():
    with muisti.open(":memory:") as memory:
        put = memory.documents.add("a.txt", content=b"Deploys go out on Fridays.", tags=["release"])
        assert isinstance(put, replies.Put) and put.tags == ["release"]
        assert memory.documents.get_text("a.txt") == "Deploys go out on Fridays."
        assert [one.path for one in memory.documents.list()] == ["a.txt"]
        with pytest.raises(TypeError, match="goes without author"):
            memory.documents.add("b.txt", content=b"x", author="ann")


def test_a_missing_space_has_nothing_and_the_first_text_creates_it():
    with muisti.open(":memory:") as memory:
        other = memory.space("other")
        assert [*other.documents.list()] == [*other.conversations.list()] == [*other.checkpoints.list()] == []
        with pytest.raises(muisti.NotFound):
            other.checkpoints.create("before")
        other.conversations.add_exchanges("c", [{"user": "I live in Turku."}])
        assert [one.turns for one in other.conversations.list()] == [1]
        assert other.conversations.summarise_exchange("c", 1).text
        assert isinstance(other.conversations.delete("c", purge=True), results.Erasure)
