"""The command: what it prints, and when it fails."""

from pathlib import Path

import pytest

from tests.language.__main__ import main
from tests.language.tree import read


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small repository with one finding in its README, and one in a docstring."""
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "a.py").write_text('"""What is here."""\n')
    (tmp_path / "README.md").write_text("All is told.\n")
    return tmp_path


def run(root: Path, *arguments: str) -> int:
    return main([*arguments, "--root", str(root), "--allowed", str(root / "allowed.json")])


def test_it_fails_when_a_count_grew_and_asks_for_a_lower_number_when_it_fell(
    root: Path, capsys: pytest.CaptureFixture[str]
):
    assert run(root, "--update") == run(root) == 0
    for text, code in (("All is told.\n\nAnd told again.\n", 1), ("All is reported.\n", 0)):
        (root / "README.md").write_text(text)
        capsys.readouterr()
        assert run(root) == code
        assert ("README.md:3: told" if code else "--update") in capsys.readouterr().out
    run(root, "--update")
    capsys.readouterr()
    assert run(root) == 0 and "--update" not in capsys.readouterr().out


def test_a_list_has_each_finding_or_those_of_one_folder(root: Path, capsys: pytest.CaptureFixture[str]):
    assert run(root, "--list") == 0
    assert capsys.readouterr().out.count("\n") == 2
    run(root, "core")
    assert [line.partition(" ")[0] for line in capsys.readouterr().out.splitlines()] == ["core/a.py:1:"]


def test_kinds_follow_from_paths_and_generated_files_are_not_read(root: Path):
    generated = root / "clients" / "python" / "muisti_client"
    generated.mkdir(parents=True)
    (generated / "_sync_client.py").write_text('"""What was told."""\n')
    found = {one.path.as_posix(): one.kind for one in read(root)}
    assert found == {"README.md": "docs", "core/a.py": "docstrings of core"}
