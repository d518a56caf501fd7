"""A text that shows nothing is refused by every door."""

import unicodedata

import httpx
import pytest

from muisti.core.model.values import is_blank
from tests.service.mcp_client import call

INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad"
SPACE = "/v1/spaces/default"


def test_every_space_and_format_character_alone_is_blank():
    seen = {0x600, 0x601, 0x602, 0x603, 0x604, 0x605, 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
    for code in range(0x110000):
        if unicodedata.category(chr(code)) in {"Zs", "Zl", "Zp"}:
            assert is_blank(chr(code)), hex(code)
    assert not [hex(code) for code in seen if is_blank(chr(code))]  # marks that scripts show
    assert is_blank("") and is_blank(f" {INVISIBLE}\n") and not is_blank(f"{INVISIBLE}x")
    assert not is_blank("\u1f44d") and not is_blank("\u263a\ufe0f")


@pytest.mark.one_store
def test_no_door_takes_a_text_that_shows_nothing(client: httpx.Client):
    for blank in (INVISIBLE, "\u200b", "\u3164 \ufeff"):
        memory = {"content": blank}
        assert client.post(f"{SPACE}/memories", json=memory).status_code == 422
        client.post(f"{SPACE}/memories:batch", json={"items": [{"op": "add", **memory}]})
        exchange = {"conversation": "c", "items": [{"user": blank, "system": "yes"}]}
        assert call(client, "remember", content=blank)["isError"]
        call(client, "add_exchanges", **exchange)
        call(client, "add_document", path="a.txt", content=blank)
        assert client.get(f"{SPACE}/memories").json()["items"] == []
