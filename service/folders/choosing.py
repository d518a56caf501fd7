"""The files of a folder that git does not ignore, asked of git or by its rules, and which of them are wanted."""

import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct
from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from muisti.core.model.errors import InvalidInput
from muisti.core.parsing.code.grammars import GRAMMARS, language_of
from muisti.service.folders import git

PATH_MAX = 900  # characters, which leaves room for the path of the folder
IGNORE = ".gitignore"
GIT = ".git"


class Found(Struct, frozen=True):
    """A file. `path` is relative to the folder, with `/`; `mtime` is in microseconds since 1970."""

    path: str
    size: int
    mtime: int
    place: Path


class Skipped(Struct, frozen=True):
    """A file that is left out, and why."""

    path: str
    reason: str


class Files(Struct, frozen=True):
    """The files of a folder by their paths, and those that are left out."""

    found: dict[str, Found]
    skipped: list[Skipped]


def files(folder: Path, most: int | None = None) -> Files:
    """List the files of a folder that git does not ignore. Files of more than `most` bytes are left out.

    In a repository git itself is asked, where it is installed. Symbolic links are not followed.

    Raises:
        OSError: the folder cannot be read.
    """
    known = git.files(folder)
    return stated(folder, sorted(walked(folder) if known is None else known), most)


def stated(folder: Path, paths: Iterable[str], most: int | None = None) -> Files:
    """Look at some files of a folder. Those that do not exist are neither found nor left out."""
    found: dict[str, Found] = {}
    skipped: list[Skipped] = []
    for path in paths:
        place = folder / path
        try:
            status = os.lstat(place)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            skipped.append(Skipped(path, f"cannot be read: {error.strerror}"))
            continue
        reason = _reason(path, status, most)
        if reason:
            skipped.append(Skipped(path, reason))
        else:
            found[path] = Found(path, status.st_size, status.st_mtime_ns // 1_000, place)
    return Files(found, skipped)


def _reason(path: str, status: os.stat_result, most: int | None) -> str | None:
    if stat.S_ISLNK(status.st_mode):
        return "is a symbolic link"
    if stat.S_ISDIR(status.st_mode):
        return "is another repository"
    if not stat.S_ISREG(status.st_mode):
        return "is no regular file"
    if most is not None and status.st_size > most:
        return f"has {status.st_size:,} bytes; {most:,} are allowed"
    if not path.isprintable() or "\\" in path:
        return "has a name with a backslash or control characters, or one that is not UTF-8"
    if len(path) > PATH_MAX:
        return f"has a path of more than {PATH_MAX} characters"
    return None


_FOLDERS = frozenset(("test", "tests", "__tests__", "spec", "specs", "testdata"))
_NAMES = re.compile(r"(test_.*|.*_test|.*[.-](test|spec)|conftest|.*(Test|Tests|Spec|IT))\.[A-Za-z]+")


class Choice(Struct, frozen=True):
    """Which files are wanted: those of the languages, all when there are none; tests unless `tests` is False."""

    languages: Sequence[str] = ()
    tests: bool = True

    def of(self, files: Files) -> Files:
        """Return the files that are chosen; all others are left out, each with the reason."""
        reasons = {path: reason for path in files.found if (reason := self._reason(path)) is not None}
        found = {path: file for path, file in files.found.items() if path not in reasons}
        return Files(found, [*files.skipped, *(Skipped(*one) for one in reasons.items())])

    def _reason(self, path: str) -> str | None:
        if self.languages and _name(language_of(path)) not in self.languages:
            return "is in none of the languages"
        return "is a test" if not self.tests and is_test(path) else None


def check_languages(languages: Sequence[str]) -> None:
    """Raise `InvalidInput` unless each name is that of a programming language."""
    known = sorted(dict.fromkeys(map(_name, GRAMMARS)))
    for language in languages:
        if language not in known:
            raise InvalidInput.at("$.language", f"{language[:40]!r} is none of {', '.join(known)}")


def _name(grammar: str | None) -> str:
    return "typescript" if grammar == "tsx" else grammar or ""


def is_test(path: str) -> bool:
    """Return whether a file of a repository is a test, by its name or by a folder above it.

    >>> is_test("tests/app.py"), is_test("src/app.test.ts"), is_test("app_test.go"), is_test("src/latest.py")
    (True, True, True, False)
    """
    *above, name = path.split("/")
    return any(one.lower() in _FOLDERS for one in above) or _NAMES.fullmatch(name) is not None


class _Rules(NamedTuple):
    """The patterns of a file, which hold below the folder whose path has `length` characters, the last `/` included."""

    length: int
    patterns: Sequence[GitIgnoreSpecPattern]


def walked(folder: Path) -> Iterator[str]:
    """Yield the paths of files below a folder, relative to it and in no order. Ignored folders are not entered.

    The patterns of a folder come after those of the folders around it; the last one that fits decides.
    """
    top = os.path.realpath(folder)
    start = len(top) + 1 if top != os.sep else 1
    around = _around(Path(top))
    todo: list[tuple[str, Sequence[_Rules]]] = [] if around is None else [(top, around)]
    while todo:
        inside, rules = todo.pop()
        rules = [*_read(os.path.join(inside, IGNORE), inside), *rules]
        for entry in _entries(inside):
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.name == GIT or _is_ignored(entry.path, is_folder, rules):
                continue
            if not is_folder:
                yield entry.path[start:].replace(os.sep, "/")
            elif os.path.lexists(os.path.join(entry.path, GIT)):
                yield entry.path[start:].replace(os.sep, "/")  # another repository
            else:
                todo.append((entry.path, rules))


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except (PermissionError, FileNotFoundError, NotADirectoryError):
        return []


def _around(folder: Path) -> list[_Rules] | None:
    """Return the patterns of the folders around one in its repository, the innermost first; None if it is ignored."""
    repository = next((place for place in (folder, *folder.parents) if (place / GIT).exists()), None)
    if repository is None:
        return []
    rules = _read(os.path.join(_common(repository / GIT), "info", "exclude"), str(repository))
    for place in (*reversed(folder.parents), folder):
        if place == repository or not place.is_relative_to(repository):
            continue
        rules = [*_read(os.path.join(place.parent, IGNORE), str(place.parent)), *rules]
        if _is_ignored(str(place), True, rules):
            return None
    return rules


def _common(place: Path) -> Path:
    """Return the folder of a repository's own files. In a worktree or a submodule `.git` is a file that names it."""
    if not place.is_file():
        return place
    folder = place.parent / place.read_text("utf-8", "surrogateescape").removeprefix("gitdir:").strip()
    shared = folder / "commondir"  # which a worktree has, and a submodule has not
    return folder / shared.read_text("utf-8", "surrogateescape").strip() if shared.is_file() else folder


def _read(path: str, folder: str) -> list[_Rules]:
    if os.path.islink(path):
        return []
    try:
        with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="\n") as file:
            lines = file.read().split("\n")
    except OSError:
        return []
    patterns = [one for one in GitIgnoreSpec.from_lines(lines).patterns if isinstance(one, GitIgnoreSpecPattern)]
    return [_Rules(len(folder.rstrip(os.sep)) + 1, [one for one in patterns if one.include is not None])]


def _is_ignored(path: str, is_folder: bool, rules: Sequence[_Rules]) -> bool:
    """Return whether a file or folder itself is ignored; the folders around it are not."""
    for one in rules:
        inside = path[one.length :].replace(os.sep, "/") + ("/" if is_folder else "")
        for pattern in reversed(one.patterns):
            if pattern.regex is not None and _fits(pattern.regex, inside):
                return pattern.include is True
    return False


def _fits(regex: re.Pattern[str], path: str) -> bool:
    """Return whether a pattern fits the path itself. pathspec's patterns fit what is in a folder as well.

    The group `ps_d` is the slash after a folder. A pattern that ends with `/**` fits no folder itself.
    """
    for found in regex.finditer(path):
        if "ps_d" in regex.groupindex:
            if found.end("ps_d") in (-1, len(path)):
                return True
        elif found.end() < len(path) or not found[0].endswith("/"):
            return True
    return False
