"""The graph: entities, facts with their evidence, the picture, paths; and where it is off."""

from typing import get_args

import httpx
import pytest
from selectolax.lexbor import LexborHTMLParser

from muisti.core.model.graph_terms import ENTITIES_MAX, EntityKind
from muisti.service.console.pages.graph import FORMATS, KINDS, MOST
from muisti.service.formats.graphs.formats import GRAPH_FORMATS
from tests.service.console.forms import SPACE

pytestmark = pytest.mark.one_store
PAGE = f"/console/spaces/{SPACE}/graph"


def test_kinds_formats_and_limits_are_those_of_the_api():
    assert set(KINDS) == set(get_args(EntityKind))
    assert set(FORMATS) == set(GRAPH_FORMATS)
    assert MOST == ENTITIES_MAX


def test_an_entity_is_found_with_its_picture_and_its_memories(client: httpx.Client):
    add = {"content": "Ann Smith lives in Berlin. Ann Smith works for Siemens."}
    memory = client.post(f"/v1/spaces/{SPACE}/memories", json=add).json()["id"]
    client.post(f"/v1/spaces/{SPACE}/graph/build", json={})
    if not client.get(f"/v1/spaces/{SPACE}/graph").json()["entities"]:
        assert "Graph" in client.get(PAGE).text
        pytest.skip("the graph of these servers reads nothing")
    row = LexborHTMLParser(client.get(PAGE, params={"prefix": "ann"}).text).css_first("tbody a")
    html = client.get(row.attributes["href"] or "").text
    assert "Ann Smith" in html and f"memories/{memory}" in html
    for image in LexborHTMLParser(html).css("img.picture"):
        assert client.get(image.attributes["src"] or "").headers["Content-Type"].startswith("image/svg+xml")
