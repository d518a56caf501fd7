"""The tools of conversations: turns come in, objects are listed and changed, and keys see only what they may use."""

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.service.app.app import create_app
from muisti.service.settings import Settings
from tests.service.keyed import administrator, with_mode
from tests.service.mcp_client import answer, call, schemas

pytestmark = pytest.mark.one_store

ITEMS = [{"turn": 1, "user": "I moved to Turku.", "system": "Noted!"}, {"author": "Ann", "content": "By the river"}]
SECRET = f"token gh{'p_a8Kd02LmQ7xZp4Rt9VbN3cYw6HsJ1gFu5EoT'}"


def test_turns_come_in_once_and_are_recalled(client: httpx.Client):
    first = answer(client, "add_exchanges", conversation="c", items=ITEMS, session="s")
    assert (first["turns"], first["created"], first["next_turn"]) == ([1, 2], 2, 3)
    assert answer(client, "add_exchanges", conversation="c", items=ITEMS[:1])["created"] == 0
    found = answer(client, "recall", query="Turku", filter={"conversation": "c"})
    assert [one["content"] for one in found["memories"]][:1] == ["I moved to Turku.\n\nNoted!"]
    for arguments, code in (
        ({"items": [{"turn": 1, "content": "else", "author": "Ann"}]}, "place_taken"),
        ({"items": [{"content": SECRET, "author": "Ann"}]}, "sensitive_content"),
        ({"items": [{"turn": 3}]}, "invalid_input"),
    ):
        refused = call(client, "add_exchanges", conversation="c", **arguments)
        assert refused["isError"] and refused["structuredContent"]["code"] == code
    dry = answer(client, "add_exchanges", conversation="d", items=ITEMS, dry_run=True)
    assert dry["dry_run"] and answer(client, "conversations", action="list")["total"] == 1


def test_conversations_are_read_and_changed_by_action(client: httpx.Client):
    answer(client, "add_exchanges", conversation="c", items=ITEMS, session="s")

    def act(action: str, **more: object) -> dict[str, object]:
        return answer(client, "conversations", action=action, conversation="c", **more)["conversation"]

    assert act("get")["turns"] == 2
    assert act("rename", title="The move")["title"] == "The move"
    assert act("move", session="t")["session"] == "t"
    assert act("close")["state"] == "closed"
    assert call(client, "add_exchanges", conversation="c", items=ITEMS[1:])["structuredContent"]["code"] == (
        "conversation_closed"
    )
    assert act("reopen")["state"] == "open"
    topic = answer(client, "conversations", action="topic", conversation="c", title="Flat", turns=[1, 2])["topic"]
    assert (topic["name"], topic["turns"]) == ("t2", 2)  # it takes the turns of t1, which closing has found
    assert answer(client, "conversations", action="list", session="t")["total"] == 1
    assert answer(client, "conversations", action="delete", conversation="c", dry_run=True)["counts"] == {
        "conversation": 1, "exchange": 2, "summary": 2, "topic": 1,
    }  # fmt: skip
    answer(client, "conversations", action="delete", conversation="c")
    assert call(client, "conversations", action="get", conversation="c")["structuredContent"]["code"] == "not_found"
    refused = call(client, "conversations", action="rename", conversation="c", title=SECRET)
    assert refused["isError"]


def test_a_key_is_offered_the_actions_that_it_may_take(engine: Engine):
    administrator(engine)
    with TestClient(create_app(Settings(), engine=engine)) as client:
        offered = {
            mode: schemas(client, with_mode(engine, mode, "*").headers)["conversations"]["properties"]["action"]["enum"]
            for mode in ("full", "append-only", "read-only")
        }
        assert {*offered["read-only"]} == {"list", "get"}
        assert {*offered["append-only"]} == {"list", "get", "topic"}
        assert "delete" in offered["full"]
        reader = with_mode(engine, "read-only", "*")
        refused = call(client, "conversations", reader.headers, action="delete", conversation="c")
        assert refused["structuredContent"]["code"] == "forbidden"
