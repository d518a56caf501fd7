"""Choose some of the files of a folder: those in certain programming languages, and none that are tests."""

import os
import re
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from muisti.core.model.errors import InvalidInput
from muisti.core.parsing.code.grammars import GRAMMARS, language_of
from muisti.service.folders import git, walking

# The files of a folder, without those that git ignores

PATH_MAX = 900  # characters, which leaves room for the path of the folder


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
    return stated(folder, sorted(walking.files(folder) if known is None else known), most)


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
    """Return why a file is left out, None if it is not."""
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
    """Return the language of a grammar: TypeScript has two."""
    return "typescript" if grammar == "tsx" else grammar or ""


def is_test(path: str) -> bool:
    """Return whether a file of a repository is a test, by its name or by a folder above it.

    >>> is_test("tests/app.py"), is_test("src/app.test.ts"), is_test("app_test.go"), is_test("src/latest.py")
    (True, True, True, False)
    """
    *above, name = path.split("/")
    return any(one.lower() in _FOLDERS for one in above) or _NAMES.fullmatch(name) is not None
