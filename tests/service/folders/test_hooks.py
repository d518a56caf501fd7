"""Hooks of git: added beside what is there, run after a commit, and removed without a trace."""

import time
from pathlib import Path

import pytest

from muisti.service.folders import git
from muisti.service.folders.git import HOOKS, HookRefused, install_hooks, remove_hooks
from tests.service.folders.trees import make, run


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    make(tmp_path, {"a"}, {}, "\n")
    return tmp_path


@pytest.fixture
def hooks(repository: Path) -> Path:
    folder = git.hooks_folder(repository)
    assert folder is not None
    return folder


def outcomes(done: list) -> dict[str, str]:
    return {one.name: one.outcome for one in done}


def test_hooks_run_the_command_after_a_commit(repository: Path, hooks: Path):
    assert outcomes(install_hooks(hooks, f"touch '{repository}/ran'")) == dict.fromkeys(HOOKS, "added")
    run(repository, "add", "a")
    run(repository, "commit", "-qm", "one")
    for _ in range(200):
        if (repository / "ran").exists():
            return
        time.sleep(0.02)
    pytest.fail("the hook did not run")


def test_installing_twice_changes_nothing_and_another_command_replaces_the_first(hooks: Path):
    install_hooks(hooks, "one")
    assert set(outcomes(install_hooks(hooks, "one")).values()) == {"unchanged"}
    assert set(outcomes(install_hooks(hooks, "two")).values()) == {"changed"}
    text = (hooks / HOOKS[0]).read_text()
    assert "two" in text and "one" not in text


def test_a_hook_that_is_there_keeps_its_lines(hooks: Path):
    hooks.mkdir(exist_ok=True)
    mine = hooks / HOOKS[0]
    mine.write_text("#!/usr/bin/env bash\necho mine\nexit 0\n")
    mine.chmod(0o750)
    install_hooks(hooks, "theirs")
    assert mine.read_text().startswith("#!/usr/bin/env bash\n") and mine.read_text().endswith("echo mine\nexit 0\n")
    assert outcomes(remove_hooks(hooks))[HOOKS[0]] == "removed"
    assert mine.read_text() == "#!/usr/bin/env bash\necho mine\nexit 0\n"
    assert mine.stat().st_mode & 0o777 == 0o751


def test_hooks_of_ours_alone_are_deleted(hooks: Path):
    install_hooks(hooks, "ours")
    assert set(outcomes(remove_hooks(hooks)).values()) == {"removed"}
    assert not any((hooks / name).exists() for name in HOOKS)
    assert set(outcomes(remove_hooks(hooks)).values()) == {"absent"}


def test_a_hook_in_another_language_is_refused_and_none_is_changed(hooks: Path):
    hooks.mkdir(exist_ok=True)
    (hooks / HOOKS[-1]).write_text("#!/usr/bin/python3\nprint()\n")
    with pytest.raises(HookRefused):
        install_hooks(hooks, "ours")
    assert not (hooks / HOOKS[0]).exists()
