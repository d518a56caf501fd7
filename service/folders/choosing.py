"""Choose some of the files of a folder: those in certain programming languages, and none that are tests."""

import re
from collections.abc import Sequence

from msgspec import Struct

from muisti.core.code.grammars import GRAMMARS, language_of
from muisti.core.model.errors import InvalidInput
from muisti.service.folders.files import Files, Skipped

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
