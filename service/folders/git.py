"""Questions to git, which runs no programs that a repository names; and hooks of git, which run a command of ours."""

import os
import stat
import subprocess
from pathlib import Path

from msgspec import Struct

SECONDS = 120.0
# A hook sets these variables to its own repository; fsmonitor is a program that a repository may name.
_FOREIGN = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR")
_SAFE = ("-c", "core.fsmonitor=false", "-c", "core.quotepath=false")
HOOKS = ("post-commit", "post-merge", "post-checkout", "post-rewrite")
BEGIN, END = "# muisti: begin", "# muisti: end"
SHELLS = ("sh", "bash", "dash", "zsh", "ksh")
NEW = "#!/bin/sh\n"


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


class HookRefused(Exception):
    """A hook that is there is no script of a shell, so that no lines can be added. The message names it."""


class Hooked(Struct, frozen=True):
    """A hook, and what became of it: `added`, `changed`, `unchanged`, `removed`, `absent`."""

    name: str
    outcome: str


def install_hooks(folder: Path, command: str) -> list[Hooked]:
    """Make each hook in a folder of hooks run a shell command in the background, before its other lines.

    Raises:
        HookRefused: a hook is no script of a shell; then none is changed.
        OSError: the folder cannot be written.
    """
    texts = {name: _text(folder / name) for name in HOOKS}
    for name, text in texts.items():
        if text is not None and not _is_shell(text):
            raise HookRefused(f"{folder / name} is no shell script; call `{command}` in it yourself")
    folder.mkdir(parents=True, exist_ok=True)
    done: list[Hooked] = []
    for name, text in texts.items():
        first, rest = _divided(NEW if text is None else _without(text))
        new = f"{first}{BEGIN}\n({command}) </dev/null >/dev/null 2>&1 &\n{END}\n{rest}"
        if new == text:
            done.append(Hooked(name, "unchanged"))
            continue
        _write(folder / name, new)
        done.append(Hooked(name, "added" if text is None or BEGIN not in text else "changed"))
    return done


def remove_hooks(folder: Path) -> list[Hooked]:
    """Take the lines of `install_hooks` out of each hook, and delete the hooks that have no others.

    Raises:
        OSError: the folder cannot be written.
    """
    done: list[Hooked] = []
    for name in HOOKS:
        path = folder / name
        text = _text(path)
        if text is None or BEGIN not in text:
            done.append(Hooked(name, "absent"))
            continue
        left = _without(text)
        if left == NEW:
            path.unlink()
        else:
            _write(path, left)
        done.append(Hooked(name, "removed"))
    return done


def _text(path: Path) -> str | None:
    try:
        return path.read_text("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None


def _is_shell(text: str) -> bool:
    words = text.partition("\n")[0].removeprefix("#!").split()
    return text.startswith("#!") and bool({word.rpartition("/")[2] for word in words} & set(SHELLS))


def _divided(text: str) -> tuple[str, str]:
    first, _, rest = text.partition("\n")
    return f"{first}\n", rest


def _without(text: str) -> str:
    before, _, inside = text.partition(f"{BEGIN}\n")
    return before + inside.partition(f"{END}\n")[2]


def _write(path: Path, text: str) -> None:
    """Replace a hook as one step, and make it executable."""
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o644
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    unfinished.write_text(text, "utf-8", "surrogateescape")
    unfinished.chmod(mode | 0o111)
    unfinished.replace(path)
