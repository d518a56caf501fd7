"""The Python of the pages about the library and the client runs, and prints what they say."""

import io
import re
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from loadtests.services.muisti import serving
from tests.clients.targets import thin

ROOT = Path(__file__).parents[2]
PAGES = ("docs/reference/library.md", "clients/python/README.md")
BLOCK = re.compile(r"```python\n(?P<code>.*?)```\n(?:\n```text\n(?P<printed>.*?)```)?", re.DOTALL)
USUAL = "http://127.0.0.1:8321"


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    with serving(tmp_path / "server.db") as running:
        yield f"http://127.0.0.1:{running.port}"


@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_of_a_page_print_what_it_says(page: str, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MUISTI_URL", url)
    monkeypatch.setitem(sys.modules, "muisti_client", thin())
    blocks = [*BLOCK.finditer((ROOT / page).read_text("utf-8"))]
    assert len(blocks) > 2
    names: dict[str, Any] = {"__name__": "page"}
    for block in blocks:
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(block["code"].replace(USUAL, url), page, "exec"), names)
        assert printed.getvalue()
        assert block["printed"] in (None, printed.getvalue())
