import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.model.errors import InvalidInput
from muisti.service.terminal.project import NAME, choose, remote_path, space_name

segments = st.lists(st.text(min_size=1).filter(lambda s: "/" not in s), min_size=1, max_size=2)
alike = st.lists(st.text("aB.-é ", min_size=1, max_size=3), min_size=1, max_size=2)
plain = st.lists(st.from_regex(r"[a-z0-9][a-z0-9_-]{0,20}", fullmatch=True), min_size=1, max_size=2)


def repository(folder: Path, config: str = "") -> Path:
    """Create the files of a git repository from which a project's name is read."""
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / ".git" / "config").write_text(config)
    return folder


def remote(url: str) -> str:
    return f'[core]\n\tbare = false\n[remote "upstream"]\n\turl = git@h:other/other\n[remote "origin"]\n\turl = {url}\n'


def git(folder: Path, *arguments: str) -> None:
    """Run the real git without the developer's own settings."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    names = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always")
    subprocess.run(["git", *names, *arguments], cwd=folder, env=environ, check=True, capture_output=True, timeout=60)


def test_the_flag_beats_the_variable_which_beats_the_repository(tmp_path: Path):
    repository(tmp_path, remote("git@github.com:acme/web.git"))
    assert choose("mine", {"MUISTI_SPACE": "theirs"}, tmp_path).space == "mine"
    assert choose(None, {"MUISTI_SPACE": "theirs"}, tmp_path).space == "theirs"
    assert choose(None, {"MUISTI_SPACE": ""}, tmp_path).space == "acme.web"


def test_the_choice_says_why(tmp_path: Path):
    home = tmp_path / "notes"
    home.mkdir()
    assert choose("a", {}, home).why == "--space"
    assert choose(None, {"MUISTI_SPACE": "a"}, home).why == "MUISTI_SPACE"
    assert choose(None, {}, home).why == "working directory, 'notes'"
    repository(home)
    assert choose(None, {}, home).why == "folder of the git repository, 'notes'"
    (home / ".git" / "config").write_text(remote("https://me:s3cret@github.com/Acme/Web.git"))
    assert choose(None, {}, home).why == "git remote origin, 'Acme/Web'"


def test_a_loop_of_links_is_a_folder_as_any_other(tmp_path: Path):
    (tmp_path / "web").symlink_to(tmp_path / "web")
    assert choose(None, {}, tmp_path / "web").space == "web"
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / ".git").write_text("gitdir: ../web/worktrees/x")
    with pytest.raises(InvalidInput):
        choose(None, {}, tmp_path / "app")


@pytest.mark.parametrize("name", ["", "Web", "-web", "a b", "a/b", "x" * 64, "web\n", "é"])
def test_a_name_that_breaks_the_rule_is_refused_with_its_source(name: str, tmp_path: Path):
    with pytest.raises(InvalidInput, match="--space is"):
        choose(name, {}, tmp_path)
    if name:
        with pytest.raises(InvalidInput, match="MUISTI_SPACE is"):
            choose(None, {"MUISTI_SPACE": name}, tmp_path)


@pytest.mark.parametrize("url", [
    "https://github.com/acme/web", "https://github.com/acme/web.git", "https://github.com/Acme/Web.git/",
    "https://me:s3cret@github.com/acme/web.git",
    "https://s3cret@github.com:8443/deep/er/acme/web.git?token=s3cret#s3cret",
    "https://me:s3/cret@github.com/acme/web", "ssh://git@github.com:22/acme/web.git", "ssh://git@[::1]:22/acme/web",
    "git@github.com:acme/web.git", "git@[::1]:acme/web.git", "me:s3cret@github.com:acme/web.git",
    "github.com:acme/web", "git://example.org/acme/web.git", "file:///srv/git/acme/web.git",
    "/srv/git/acme/web.git", "../../acme/web", "/srv/acme/web/.git", "C:\\src\\acme\\web.git",
    "https://dev.azure.com/org/acme/_git/web",
])  # fmt: skip
def test_a_remote_gives_its_last_two_segments_in_every_form(url: str):
    path = remote_path(url)
    assert (space_name(path), "s3cret" in "/".join(path)) == ("acme.web", False)


@pytest.mark.parametrize("url", ["", "https://github.com", "https://github.com/", "ext::ssh -i s3cret host", "."])
def test_a_remote_without_a_path_gives_nothing_and_the_folder_decides(url: str, tmp_path: Path):
    assert remote_path(url) == ()
    assert choose(None, {}, repository(tmp_path / "web", remote(url))).space == "web"


@given(
    st.sampled_from(["https://{}@host/acme/web.git", "ssh://{}@host:22/acme/web", "{}@host:acme/web.git"]),
    st.text("abcXYZ019-_./:%@+=", min_size=8).map(lambda text: f"S3CRET{text}S3CRET"),
)
def test_no_part_of_the_credentials_ever_enters_the_name(form: str, credentials: str):
    assert "S3CRET" not in "/".join(remote_path(form.format(credentials)))


@given(st.text())
def test_any_url_gives_at_most_two_segments(url: str):
    assert len(remote_path(url)) <= 2


@given(segments)
def test_any_path_gives_a_valid_name(path: list[str]):
    assert NAME.fullmatch(space_name(path))


@given(plain)
def test_a_plain_path_keeps_its_name_and_gets_no_hash(path: list[str]):
    assert space_name(path) == ".".join(path)


@given(alike, alike)
def test_different_paths_get_different_names_unless_only_case_differs(one: list[str], other: list[str]):
    same = "/".join(one).lower() == "/".join(other).lower()
    assert (space_name(one) == space_name(other)) == same


def test_a_dot_a_replaced_character_and_a_cut_are_told_apart_by_a_hash():
    assert space_name(["a.b", "c"]) != space_name(["a", "b.c"])
    assert space_name(["my notes"]) != space_name(["my-notes"]) == "my-notes"
    assert space_name(["x" * 80, "a"]) != space_name(["x" * 80, "b"])
    assert len(space_name(["x" * 80, "a"])) == 63


def test_a_folder_inside_the_repository_belongs_to_it(tmp_path: Path):
    inside = repository(tmp_path, remote("git@h:acme/web")) / "src" / "deep"
    inside.mkdir(parents=True)
    assert choose(None, {}, inside).space == "acme.web"


@pytest.mark.parametrize("config", [
    '[remote "origin"]\n\turl = git@h:acme/web.git\n\turl = git@h:second/url\n',
    '[REMOTE "origin"] URL=git@h:acme/web ; a comment\n',
    '\ufeff[remote "origin"]\r\n\turl = "git@h:acme/web" # a comment\r\n',
    '[remote "origin"]\n\turl = git@h:\\\nacme/web\n',
    '[remote "Origin"]\n\turl = git@h:other/one\n[remote "origin"]\n\tpushurl = x:y/z\n\turl = h:acme/web\n',
    '# url = a:b/c\n[url "git@h:"]\n\tinsteadOf = x\n[remote "origin"]\n\turl = git@h:acme/web\n',
])  # fmt: skip
def test_the_configuration_of_git_is_read_as_git_reads_it(config: str, tmp_path: Path):
    assert choose(None, {}, repository(tmp_path, config)).space == "acme.web"


def test_a_folder_without_a_repository_gives_its_own_name(tmp_path: Path):
    (tmp_path / "my notes").mkdir()
    assert choose(None, {}, tmp_path / "my notes").space == space_name(["my notes"])


def test_at_the_root_of_the_file_system_the_space_is_default():
    assert choose(None, {}, Path("/")).space == "default"


def test_a_worktree_shares_the_space_of_its_repository(tmp_path: Path):
    main = tmp_path / "web"
    main.mkdir()
    git(main, "init")
    git(main, "commit", "--allow-empty", "-m", "first")
    git(main, "worktree", "add", "../feature")
    assert choose(None, {}, tmp_path / "feature").space == "web"
    git(main, "remote", "add", "origin", "https://me:s3cret@example.org/acme/web.git")
    assert choose(None, {}, tmp_path / "feature").space == choose(None, {}, main).space == "acme.web"


def test_a_submodule_has_a_space_of_its_own(tmp_path: Path):
    for name in ("part", "whole"):
        (tmp_path / name).mkdir()
        git(tmp_path / name, "init")
        git(tmp_path / name, "commit", "--allow-empty", "-m", "first")
    git(tmp_path / "whole", "submodule", "add", str(tmp_path / "part"), "inner")
    inner = tmp_path / "whole" / "inner"
    assert (inner / ".git").is_file()
    assert choose(None, {}, inner).space == space_name([tmp_path.name, "part"])
    git(inner, "remote", "remove", "origin")
    assert choose(None, {}, inner).space == "inner"


def test_a_folder_named_git_without_a_repository_in_it_is_passed_over(tmp_path: Path):
    repository(tmp_path, remote("git@h:acme/web"))
    (tmp_path / "src" / ".git").mkdir(parents=True)
    assert choose(None, {}, tmp_path / "src").space == "acme.web"


def test_a_repository_that_cannot_be_read_is_an_error_and_not_another_space(tmp_path: Path):
    (repository(tmp_path) / ".git" / "config").unlink()
    (tmp_path / ".git" / "config").mkdir()
    with pytest.raises(InvalidInput, match="cannot be read .* name a space with --space"):
        choose(None, {}, tmp_path)
