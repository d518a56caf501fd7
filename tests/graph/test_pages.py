"""The graph: entities, facts with their evidence, the picture, paths; and where it is off."""

from typing import get_args

import httpx
import pytest
from selectolax.lexbor import LexborHTMLParser

from muisti.core.engine import Engine
from muisti.core.model.choices import ENTITIES_MAX, EntityKind
from muisti.service.graph.formats import GRAPH_FORMATS
from muisti.service.graph.pages import FORMATS, KINDS, MOST
from tests.service.pages.forms import SPACE

pytestmark = pytest.mark.one_store
PAGE = f"/console/spaces/{SPACE}/graph"


def test_kinds_formats_and_limits_are_those_of_the_api():
    assert set(KINDS) == set(get_args(EntityKind))
    assert set(FORMATS) == set(GRAPH_FORMATS)
    assert MOST == ENTITIES_MAX


def test_an_entity_is_found_with_its_facts_picture_and_memories(client: httpx.Client, engine: Engine):
    add = {"content": "Ann Smith lives in Berlin. Ann Smith works for Siemens.", "author": "Ann Smith"}
    memory = client.post(f"/v1/spaces/{SPACE}/memories", json=add).json()["id"]
    while engine.extend_graph(SPACE, 100):
        pass
    rows = LexborHTMLParser(client.get(PAGE, params={"prefix": "ann"}).text).css("tbody a")
    assert [row.text() for row in rows] == ["Ann Smith"]
    assert f'hx-get="{PAGE}/groups"' in client.get(PAGE).text
    assert "No names belong together yet" in client.get(f"{PAGE}/groups").text
    html = client.get(rows[0].attributes["href"] or "").text
    assert "Ann Smith" in html and f"memories/{memory}" in html
    images = LexborHTMLParser(html).css("img.picture")
    assert images
    for image in images:
        assert client.get(image.attributes["src"] or "").headers["Content-Type"].startswith("image/svg+xml")
