"""The figures of a small package equal those counted by hand, and this project has no import cycle."""

from pathlib import Path

import pytest

from loadtests.structure import files, steps
from loadtests.structure.files import figures

ROOT = Path(__file__).parents[2]
ONE = '''"""A docstring."""
from made import two
def f():
    """Documented."""
    import os
    return os
def _hidden(): return __import__("json")
class C:
    def g(self):
        try:
            return 1
        except Exception:
            return 2
'''


@pytest.fixture
def made(tmp_path: Path) -> Path:
    package = tmp_path / "made"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "one.py").write_text(ONE)
    (package / "two.py").write_text("from .three import x\ntry:\n    pass\nexcept ValueError:\n    pass\n")
    (package / "three.py").write_text("import made.one\nx = 1\n")
    (package / "four.py").write_text("from made.one import f\n" + "def long():\n" + "    pass\n" * 40)
    return package


def test_figures_of_a_made_package(made: Path):
    found = figures([made], made, "")
    assert (found.modules, found.largest_lines, found.test_lines) == (4, 42, found.lines)
    assert (found.functions, found.long_functions, found.public_names) == (4, 1, 3 / 4)
    assert (found.handlers, found.blanket_handlers) == (2, 1)
    assert (found.late_imports, found.hidden_imports, found.documented) == (1, 1, 1 / 4)


def test_the_folders_of_a_capability_are_its_own_and_those_of_single_files(tmp_path: Path):
    for name in (
        "core/tea/sql/rows.py",
        "core/tea/cup.py",
        "service/routes/tea.py",
        "service/routes/cup.py",
        "tests/a.py",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert files.spread(tmp_path, ["tea", "milk"]) == {"tea": ["core/tea", "service/routes"], "milk": []}


def test_a_circle_of_imports_is_found_and_what_only_leads_to_it_is_not(made: Path):
    assert files.cyclic(list(files.read(made, ""))) == {"made.one", "made.two", "made.three"}


def test_a_circle_of_folders_is_found_though_one_of_its_imports_is_a_string(tmp_path: Path):
    texts = {
        "a/one.py": 'import_module("made.b.two")\nimport_module("json")\n',
        "a/three.py": "x = 1\n",
        "b/two.py": "def late():\n    from made.a.three import x\n",
        "c/four.py": "from made.a import three\n",
    }
    for name, text in texts.items():
        path = tmp_path / "made" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    modules = list(files.read(tmp_path / "made", ""))
    assert files.cyclic_folders(modules, "") == {"made.a", "made.b"} and files.cyclic(modules) == set()
    found = figures([tmp_path / "made"], tmp_path, "")
    assert (found.hidden_imports, found.hidden_own, found.cyclic_folders) == (2, 1, 2)


def test_this_project_has_no_circle_and_hides_no_import_of_its_own():
    found = figures([ROOT / "core", ROOT / "service"], ROOT / "tests", "muisti")
    assert found.cyclic_modules == found.cyclic_folders == found.hidden_own == 0 and found.modules > 500


def test_the_steps_of_a_request_are_counted_in_a_server(long: bool):
    if not long:
        pytest.skip("starts a server that counts every call, which takes long")
    add, search = steps.count()
    for each in (add, search):
        assert 20 < each.modules <= each.switches < each.calls < 1_000
