"""Reading of a source file of any language into its record."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from muisti.core.code import grammars, plain, projects, python, script
from muisti.core.code.modules import Modules
from muisti.core.code.projects import Projects
from muisti.core.code.records import Record
from muisti.core.code.resolving import Resolved, Resolver

_READERS: Mapping[str, Callable[[str, bytes], Record]] = {
    "python": python.read,
    **{name: partial(script.read, language=name) for name in ("javascript", "typescript", "tsx")},
    **{name: partial(plain.read, language=name) for name in plain.LANGUAGES},
}
LANGUAGES = tuple(_READERS)
_UNNAMED = frozenset(("elsewhere", "constructor"))  # flags of definitions that no name refers to


def source_language(path: str) -> str | None:
    """Return the language in which a file is read, by its name; None for a file that is not read.

    >>> source_language("src/app.py"), source_language("tsconfig.json"), source_language("notes.md")
    ('python', 'project', None)
    """
    if projects.is_settings(path):
        return projects.LANGUAGE
    language = grammars.language_of(path)
    return language if language in LANGUAGES and grammars.is_available(language or "") else None


def read(path: str, text: str | bytes, language: str) -> Record:
    """Return the record of a source file; that of a language without a reader is empty.

    Raises:
        GrammarMissing: the grammar of the language is not installed.
    """
    source = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    reader = projects.read if language == projects.LANGUAGE else _READERS.get(language)
    return Record(path, language) if reader is None else reader(path, source)


def names(text: str, language: str) -> list[str]:
    """Return the names that the record of a text defines, without those of constants; in order, some of them empty.

    Raises:
        GrammarMissing: the grammar of the language is not installed.
    """
    if language == "python":  # in a fraction of the time
        return python.names(text.encode("utf-8", "surrogatepass"))
    return [one.name for one in read("", text, language).definitions if one.kind != "constant"]


def only(records: Iterable[Record]) -> "Only":
    """Return the definitions whose names are unique among the functions, methods and types of a language."""
    found = Only()
    for record in records:
        found.add(record)
    return found


class Only:
    """Definitions by language and name, as far as there is one alone."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], tuple[str, str] | None] = {}

    def add(self, record: Record) -> None:
        """Take in the definitions of a file."""
        for one in record.definitions:
            if one.name and one.kind != "constant" and not _UNNAMED & {*one.flags}:
                self.put(record.language, one.name, record.path, one.qualified)

    def put(self, language: str, name: str, path: str, qualified: str) -> None:
        """Take in a definition."""
        key = (language, name)
        self._found[key] = None if key in self._found else (path, qualified)

    def get(self, language: str, name: str) -> tuple[str, str] | None:
        """Return the path and the qualified name of the only definition of a name."""
        return self._found.get((language, name))


def resolve_all(records: Iterable[Record]) -> dict[str, Resolved]:
    """Return the edges of all files of a project, by path."""
    by_path = {one.path: one for one in records}
    files = ((one.path, one.language, one.package) for one in by_path.values())
    modules = Modules(files, Projects(by_path.values()))
    resolver = Resolver(modules, by_path.__getitem__, only(by_path.values()).get)
    return {path: resolver.resolve(path) for path in by_path}
