"""A card of the server and a catalogue, when the settings ask for them: valid, public, cacheable."""

from typing import Any

import httpx
import jsonschema
import pytest
from litestar.testing import TestClient

from deploy import manifests
from muisti.core.engine import Engine
from muisti.service.app.app import create_app
from muisti.service.mcp.cards import CARD, CARDS, CATALOG
from muisti.service.mcp.messages import REVISIONS
from muisti.service.settings import Settings
from tests.service.mcp_client import TASKS, modern
from tests.service.pages.forms import ADMIN

URL = "https://memory.example/base"
NAME = {"type": "string", "minLength": 3, "maxLength": 200, "pattern": r"^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$"}
SCHEMA: dict[str, Any] = {  # what the draft's schema demands of these fields
    "required": ["$schema", "name", "version", "description"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"pattern": r"^https://static\.modelcontextprotocol\.io/schemas/v1/server-card\.schema\.json$"},
        "name": NAME, "version": {"maxLength": 255}, "title": {"minLength": 1, "maxLength": 100},
        "description": {"minLength": 1, "maxLength": 100}, "websiteUrl": {"pattern": "^https://"},
        "repository": {"required": ["url", "source"]},
        "remotes": {
            "items": {
                "required": ["type", "url"],
                "properties": {"type": {"enum": ["streamable-http", "sse"]}, "url": {"pattern": "^https?://"}},
            }
        },
    },
}  # fmt: skip


def served(engine: Engine, **settings: Any) -> TestClient[Any]:
    return TestClient(create_app(Settings(server_card=True, **settings), engine=engine))


def test_the_catalogue_names_the_card_and_the_card_the_server(engine: Engine):
    with served(engine, public_url=URL, admin_key=ADMIN) as client:
        (entry,) = client.get(CATALOG).json()["entries"]
        assert entry == {"identifier": "urn:air:memory.example:mcp:muisti", "type": CARDS[CARD], "url": URL + CARD}
        answer = client.get(CARD)
        card = answer.json()
        jsonschema.validate(card, SCHEMA)
        (remote,) = card["remotes"]
        assert (remote["url"], remote["headers"][0]["isRequired"]) == (f"{URL}/mcp", True)
        assert answer.headers["content-type"] == CARDS[CARD]
        assert client.get(CATALOG).headers["content-type"] == CARDS[CATALOG]
        assert ADMIN not in answer.text


def test_the_card_says_what_the_registries_and_the_server_say(engine: Engine):
    with served(engine) as client:
        card, server = client.get(CARD).json(), manifests.server()
        assert {name: card[name] for name in ("name", "title", "description", "websiteUrl", "repository")} == {
            name: server[name] for name in ("name", "title", "description", "websiteUrl", "repository")
        }
        found = modern(client, "server/discover", TASKS)
        info = found["_meta"]["io.modelcontextprotocol/serverInfo"]
        assert (card["title"], card["version"]) == (info["title"], info["version"])
        versions = card["remotes"][0]["supportedProtocolVersions"]
        assert versions == [*REVISIONS] and {*found["supportedVersions"]} <= {*versions}
        assert card["remotes"][0]["headers"][0]["isRequired"] is False


@pytest.mark.parametrize("path", CARDS)
def test_any_page_may_read_it_and_ask_whether_it_has_changed(engine: Engine, path: str):
    with served(engine, admin_key=ADMIN) as client:
        asked = {"Origin": "https://elsewhere.example", "Sec-Fetch-Site": "cross-site"}
        found = client.get(path, headers=asked)
        assert found.status_code == 200 and found.headers["access-control-allow-origin"] == "*"
        assert "max-age" in found.headers["cache-control"] and found.headers["access-control-expose-headers"] == "ETag"
        for tag in (found.headers["etag"], f'W/{found.headers["etag"]}, "x"', "*"):
            same = client.get(path, headers={**asked, "If-None-Match": tag})
            assert (same.status_code, same.content) == (304, b"")
        assert client.get(path, headers={"If-None-Match": '"x"'}).status_code == 200
        preflight = client.options(path, headers={**asked, "Access-Control-Request-Method": "GET"})
        assert preflight.status_code == 204 and "GET" in preflight.headers["access-control-allow-methods"]
        head = client.head(path)
        assert head.content == b"" and head.headers["content-length"] == found.headers["content-length"]
        assert client.post(path, headers=asked).status_code == 405


def test_a_host_that_is_none_is_not_repeated(engine: Engine):
    with served(engine) as client:
        for host in ('evil.example"><script>', "a b", "x" * 300 + "/"):
            assert "http://localhost/mcp" in client.get(CARD, headers={"Host": host}).text


def test_it_is_off_by_default(client: httpx.Client):
    for path in CARDS:
        assert client.get(path).status_code == 404
