"""docs/reference/http.md is complete, and its examples are true."""

import json
import re
from pathlib import Path

import httpx

from muisti.service.openapi.words import HEADERS
from muisti.service.schemas.search_requests import SearchBody
from tests import curl

TEXT = (Path(__file__).parents[3] / "docs" / "reference" / "http.md").read_text("utf-8")
EXAMPLES = re.findall(r"```sh\n(.*?)\n```\n\n```json\n(.*?)\n```", TEXT, re.DOTALL)


def test_every_header_and_field_of_a_search_is_documented():
    names = [
        *HEADERS, "Muisti-Min-Seq", "Muisti-Freshness", "Idempotency-Key", "If-Match", "If-None-Match",
        *SearchBody.__struct_fields__,
    ]  # fmt: skip
    assert [name for name in names if f"`{name}`" not in TEXT] == []


def test_the_examples_are_true_in_their_order(client: httpx.Client):
    assert len(EXAMPLES) == TEXT.count("```sh")
    for line, shown in EXAMPLES:
        curl.check(json.loads(shown), curl.read(line, Path()).send(client).json())
