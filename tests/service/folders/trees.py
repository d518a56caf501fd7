"""Trees of files with ignore files, as strategies and on disk, and what git says of them."""

import subprocess
from pathlib import Path

from hypothesis import strategies as st

NAMES = ("a", "b.log", "keep.log", "build", "x.py", "ä ö", "!odd", "#note", "sub")
PATTERNS = (
    "*.log", "!keep.log", "build/", "/build", "sub/*.log", "a", "/a", "!a", "**/x.py", "sub/**", "!sub/x.py", "*",
    "!*/", "!.gitignore", "\\!odd", "\\#note", "# comment", "", "build/*", "!build/a", "sub/", "ä*", "[ab]*", "b.?og",
    "a/", "**/sub/a", "x.py ", "/sub/build/", "!build/",
)  # fmt: skip
paths = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map("/".join)
ignores = st.lists(st.sampled_from(PATTERNS), min_size=1, max_size=4).map(lambda lines: "\n".join(lines) + "\n")
folders = st.sampled_from(("", "sub/", "build/", "sub/build/", "a/"))
trees = st.tuples(st.sets(paths, min_size=1, max_size=14), st.dictionaries(folders, ignores, max_size=3), ignores)


def make(top: Path, files: set[str], rules: dict[str, str], exclude: str) -> None:
    """Write a repository with these files, ignore files by folder, and lines of `.git/info/exclude`."""
    run(top, "init", "-q")
    (top / ".git/info").mkdir(exist_ok=True)
    (top / ".git/info/exclude").write_text(exclude, "utf-8")
    named = {f"{folder}.gitignore": text for folder, text in rules.items()}
    for path, text in [*((path, "x") for path in sorted(files)), *named.items()]:
        place = top / path
        if place.is_dir() or any(parent.is_file() for parent in place.parents):
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")


def listed(top: Path) -> set[str]:
    """Return what git lists below a folder."""
    said = run(top, "ls-files", "-co", "--exclude-standard", "-z")
    return {name.rstrip("/") for name in said.split("\0") if name}


def run(top: Path, *command: str) -> str:
    names = ("-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", "-C", str(top), *names, *command], capture_output=True, check=True)
    return done.stdout.decode()
