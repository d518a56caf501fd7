"""Questions to git, which runs no programs that a repository names."""

import os
import subprocess
from pathlib import Path

SECONDS = 120.0
# A hook sets these variables to its own repository; fsmonitor is a program that a repository may name.
_FOREIGN = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR")
_SAFE = ("-c", "core.fsmonitor=false", "-c", "core.quotepath=false")


def files(folder: Path) -> set[str] | None:
    """Return the files of a folder that git tracks or does not ignore, relative to it.

    None where the folder is in no repository, git refuses it, or git is not installed.
    """
    said = ask(folder, "ls-files", "-co", "--exclude-standard", "-z")
    if said is None:
        return None
    return {os.fsdecode(name).rstrip("/") for name in said.split(b"\0") if name}


def hooks_folder(folder: Path) -> Path | None:
    """Return the folder of the hooks of the repository that a folder is in, None without one."""
    said = ask(folder, "rev-parse", "--path-format=absolute", "--git-path", "hooks")
    return None if said is None else Path(os.fsdecode(said.rstrip(b"\n")))


def top(folder: Path) -> Path | None:
    """Return the top folder of the repository that a folder is in, None without one."""
    said = ask(folder, "rev-parse", "--show-toplevel")
    return None if said is None else Path(os.fsdecode(said.rstrip(b"\n")))


def ask(folder: Path, *command: str) -> bytes | None:
    """Run git in a folder and return what it prints; None when it is not installed or fails."""
    environ = {name: value for name, value in os.environ.items() if name not in _FOREIGN}
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *_SAFE, *command], capture_output=True, env=environ, timeout=SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout
