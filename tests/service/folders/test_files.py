"""The files of a folder are those that git lists, asked and computed."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given

from muisti.service.folders import git
from muisti.service.folders.choosing import files, walked
from tests.examples import examples
from tests.service.folders.trees import listed, make, run, trees


@given(trees)
@examples(30)
def test_walking_finds_what_git_lists(tree: tuple[set[str], dict[str, str], str]):
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder).resolve()
        make(top, *tree)
        assert set(walked(top)) == listed(top)
        for inner in (path for path in top.rglob("*") if path.is_dir() and ".git" not in path.parts):
            assert set(walked(inner)) == listed(inner)


@pytest.fixture
def top(tmp_path: Path) -> Path:
    make(tmp_path, {"a.py", "sub/b.py", "sub/deep/c.log", "build/d"}, {"": "*.log\nbuild/\n"}, "\n")
    return tmp_path


def test_tracked_files_are_listed_although_they_are_ignored(top: Path):
    run(top, "add", "-f", "sub/deep/c.log")
    assert set(files(top).found) == listed(top) == {".gitignore", "a.py", "sub/b.py", "sub/deep/c.log"}


def test_deleted_files_that_git_still_tracks_are_not_found(top: Path):
    run(top, "add", ".")
    (top / "a.py").unlink()
    assert "a.py" in listed(top)
    assert "a.py" not in files(top).found


def test_a_hook_of_another_repository_does_not_mislead_git(top: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    assert set(files(top).found) == {".gitignore", "a.py", "sub/b.py"}


def test_a_program_that_a_repository_names_is_not_run(top: Path):
    run(top, "config", "core.fsmonitor", f"touch {top}/ran; false")
    assert set(files(top).found) == {".gitignore", "a.py", "sub/b.py"}


def test_a_folder_without_a_repository_obeys_its_ignore_files(tmp_path: Path):
    (tmp_path / "in").mkdir()
    for path, text in (
        (".gitignore", "*.log\n"), ("a.log", ""), ("b", ""), ("in/.gitignore", "!c.log"), ("in/c.log", ""),
    ):  # fmt: skip
        (tmp_path / path).write_text(text)
    if git.top(tmp_path) is None:
        assert set(files(tmp_path).found) == {".gitignore", "b", "in/.gitignore", "in/c.log"}


def test_links_large_files_and_pipes_are_left_out_with_a_reason(top: Path):
    (top / "out").symlink_to("/etc/passwd")
    (top / "folder").symlink_to("/etc")
    (top / "large").write_text("x" * 2_000)
    os.mkfifo(top / "pipe")
    seen = files(top, most=1_000)
    assert {one.path: one.reason for one in seen.skipped if one.path != "pipe"} == {
        "out": "is a symbolic link",
        "folder": "is a symbolic link",
        "large": "has 2,000 bytes; 1,000 are allowed",
    }
    assert not {"out", "folder", "large", "pipe"} & set(seen.found)


def test_another_repository_inside_is_left_out(top: Path):
    (top / "vendor").mkdir()
    make(top / "vendor", {"z.py"}, {}, "\n")
    assert set(walked(top)) == listed(top)
    assert [one.reason for one in files(top).skipped] == ["is another repository"]


def test_sizes_and_times_are_told(top: Path):
    os.utime(top / "a.py", ns=(5, 1_700_000_000_123_456_789))
    found = files(top).found["a.py"]
    assert (found.size, found.mtime, found.place.read_text()) == (1, 1_700_000_000_123_456, "x")


def test_a_worktree_obeys_what_its_repository_excludes(top: Path, tmp_path: Path):
    place = tmp_path / "worktree"
    (top / ".git" / "info").mkdir(exist_ok=True)
    (top / ".git" / "info" / "exclude").write_text("*.secret\n")
    run(top, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "first")
    run(top, "worktree", "add", "-q", str(place))
    (place / "x.secret").write_text("x")
    (place / "y.txt").write_text("y")
    found = set(walked(place))
    assert found == listed(place) and "y.txt" in found and "x.secret" not in found
