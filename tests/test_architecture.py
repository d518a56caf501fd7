"""The map and the guide name what there is: folders and files exist, no folder is left out, and the surface holds."""

import ast
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PAGES = {name: (ROOT / name).read_text("utf-8") for name in ("docs/why/architecture.md", "CONTRIBUTING.md")}
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
    absent = sorted(folders() - set(NAMED.findall(PAGES["docs/why/architecture.md"])))
    assert absent == [], "docs/why/architecture.md has a row for each folder"


def test_the_map_says_where_to_begin_for_twenty_changes():
    table = PAGES["docs/why/architecture.md"].partition("## I want to change")[2]
    rows = [line for line in table.splitlines() if line.startswith("| ") and "`" in line]
    assert len(rows) >= ROWS and all(NAMED.search(row) for row in rows)


def surface() -> list[str]:
    """The paths that the contract lets service import."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    (held,) = (one for one in contracts if one["type"] == "protected")
    assert (held["protected_modules"], held["allowed_importers"]) == (["muisti.core"], ["muisti.core"])
    lines = [line for line in held["ignore_imports"] if line.startswith("muisti.service")]
    modules = [line.partition(" -> muisti.")[2] for line in lines]
    return [
        name.rstrip(".*").replace(".", "/") if name.endswith("*") else f"{name.replace('.', '/')}.py"
        for name in modules
    ]


def test_the_map_names_the_surface_that_the_contract_holds():
    section = PAGES["docs/why/architecture.md"].partition("## The surface of")[2].partition("```")[0]
    rows = [NAMED.findall(line)[0] for line in section.splitlines() if line.startswith("| `")]
    assert sorted(rows) == sorted(surface())


def test_the_example_of_the_surface_runs_and_keeps_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    code = PAGES["docs/why/architecture.md"].partition("```python\n")[2].partition("```")[0]
    monkeypatch.chdir(tmp_path)
    made: dict[str, Any] = {}
    exec(code, made)
    assert [hit.memory.content for hit in made["answer"].hits] == ["We deploy on Tuesdays"]
    named = [node.module for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ImportFrom)]
    taken = [str(name).removeprefix("muisti.").replace(".", "/") for name in named if str(name).startswith("muisti.")]
    assert taken and all(any(f"{path}.py" == one or path.startswith(f"{one}/") for one in surface()) for path in taken)


def test_service_takes_no_private_names_of_core():
    trees = [ast.parse(path.read_text("utf-8")) for path in (ROOT / "service").rglob("*.py")]
    taken = [
        f"{node.module}.{alias.name}"
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("muisti.core")
        for alias in node.names
    ]
    assert len(taken) > 100 and [name for name in taken if "._" in name] == []


def test_tests_mirror_the_folders():
    """A capability has its tests in one folder, such as `tests/graph`; others mirror the folders of the code.

    Deeper folders may have their tests in the folder above, or in `tests/remote` or `tests/durability`.
    """
    tests = {path.parent.relative_to(ROOT / "tests").as_posix() for path in (ROOT / "tests").rglob("test_*.py")}
    mirrored = {name for name in tests if name.partition("/")[0] in ("core", "service")}
    capabilities = {f"{top}/{name}" for top in ("core", "service") for name in tests}
    assert sorted(name for name in mirrored if not (ROOT / name).is_dir()) == []
    rooms = {name for name in folders() if name.count("/") == 1 and any(ROOT.glob(f"{name}/[!_]*.py"))}
    assert len(rooms) > 30 and sorted(rooms - mirrored - capabilities) == []
    assert sorted(mirrored & capabilities) == []
