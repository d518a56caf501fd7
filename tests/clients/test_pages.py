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


# What runs the programs of a page, and the beginnings of those that nothing runs, with the reason.
RUN = {
    "README.md": "tests/test_readme.py", "clients/python/README.md": "tests/clients/test_pages.py",
    "clients/typescript/README.md": "tests/clients/typescript.py",
    "docs/concepts/graph.md": "tests/clients/test_pages.py", "docs/how-to/clients.md": "tests/clients/typescript.py",
    "docs/how-to/frameworks.md": "tests/frameworks/__main__.py",
    "docs/how-to/integrations.md": "tests/integrations/test_examples.py",
    "docs/how-to/recipes.md": "tests/test_recipes.py", "docs/reference/library.md": "tests/clients/test_pages.py",
    "docs/start/tutorial.md": "tests/test_recipes.py", "docs/why/architecture.md": "tests/test_architecture.py",
}  # fmt: skip
NOT_RUN = {
    "import os\n\nimport httpx2": "needs a key; tests/service/mcp/test_groups.py uses this client",
    "from agents": "the Agents SDK is no package of the tests; make integrations-test tries our session with it",
    "from langchain_mcp_adapters": "LangChain's adapters are no package of the tests",
    "graph = engine.seen_by(caller)": "shows calls side by side; tests/graph tries each",
    "from standardwebhooks": "one line; tests/service/webhooks verifies signatures with this package",
    '$ muisti add "We deploy': "commands without answers; tests/service/test_pages.py reads each",
    "$ muisti context": "a shortened answer; tests/service/cli/test_context.py compares the whole",
}
PROGRAM = re.compile(r"^```(?:python|js|ts|console)\b[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)


def test_every_program_of_the_documents_is_run_or_says_why_not():
    pages = [path for path in (ROOT / "docs").rglob("*.md")] + [ROOT / name for name in RUN if "README" in name]
    blocks = [(page.relative_to(ROOT).as_posix(), code) for page in pages for code in PROGRAM.findall(page.read_text())]
    apart = [head for _, code in blocks for head in NOT_RUN if head in code[:80]]
    left = {page for page, code in blocks if page not in RUN and not any(head in code[:80] for head in NOT_RUN)}
    assert left == set() and sorted(apart) == sorted(NOT_RUN)
    for page, by in RUN.items():
        assert Path(page).name in (ROOT / by).read_text("utf-8"), f"{by} names {page}"


@pytest.mark.parametrize(("page", "head", "printed"), [
    ("docs/how-to/clients.md", "import muisti\n", "Deploys go out on Fridays.\n"),
    ("docs/concepts/graph.md", "from muisti.core.graph.entities.recogniser", "organisation"),
])  # fmt: skip
def test_a_program_that_stands_alone_runs(
    page: str, head: str, printed: str, url: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("MUISTI_KEY", raising=False)
    found = next(code for code in PROGRAM.findall((ROOT / page).read_text("utf-8")) if code.startswith(head))
    said = io.StringIO()
    with redirect_stdout(said):
        exec(compile(found.replace(USUAL, url), page, "exec"), {"__name__": "page"})  # as a reader runs it
    assert printed in said.getvalue()
