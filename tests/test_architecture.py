"""The map and the guide name what there is: folders and files exist, and no folder is left out."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = {name: (ROOT / name).read_text("utf-8") for name in ("docs/architecture.md", "CONTRIBUTING.md")}
NAMED = re.compile(r"`((?:core|service|tests|docs|deploy|clients)/[\w./-]+)`")
ROWS = 20
DEPTH = 3


def folders() -> set[str]:
    """Packages of core and service down to the third level; deeper ones belong to a single command or importer."""
    found = {path.parent.relative_to(ROOT) for top in ("core", "service") for path in (ROOT / top).rglob("__init__.py")}
    return {path.as_posix() for path in found if 1 < len(path.parts) <= DEPTH}


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_names_is_there(page: str):
    named = NAMED.findall(PAGES[page])
    assert len(named) > ROWS
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_folder_has_its_place_on_the_map():
    assert sorted(folders() - set(NAMED.findall(PAGES["docs/architecture.md"]))) == []


def test_the_map_says_where_to_begin_for_twenty_changes():
    table = PAGES["docs/architecture.md"].partition("## I want to change")[2]
    rows = [line for line in table.splitlines() if line.startswith("| ") and "`" in line]
    assert len(rows) >= ROWS and all(NAMED.search(row) for row in rows)
