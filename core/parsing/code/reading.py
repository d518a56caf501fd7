"""Reading of a source file of any language into its record."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Literal, NamedTuple

from muisti.core.parsing.code import grammars, plain, python, script
from muisti.core.parsing.code.modules import PROJECT, Modules, Projects, is_settings, read_settings
from muisti.core.parsing.code.records import TOP, Chain, Record, Use
from muisti.core.parsing.code.things import Source
from muisti.core.parsing.code.values import Values

# Resolution of the names in source files, by scopes, imports, declared types and the values that are assigned

CELLS = "python"  # language of the cells of notebooks that are read
_COMMAND = re.compile(r"\s*[%!?]|[^#\"']*\?\s*$")
FOLLOWED = ("python", "javascript", "typescript", "tsx")  # a name that is left over gets no edge
DECLARED = ("java", "c")  # members of types from elsewhere have no edge

Certainty = Literal["certain", "probable"]
EdgeKind = Literal["calls", "inherits", "imports", "references"]
_KINDS: Mapping[Use, EdgeKind] = {"call": "calls", "inherit": "inherits", "reference": "references"}


class Edge(NamedTuple):
    """A use in a file of a definition, which is named by its file and its qualified name.

    `scope` is the number of the definition that uses it, `TOP` for the file itself. A target without a name is a file.
    """

    scope: int
    kind: EdgeKind
    path: str
    name: str
    line: int
    column: int
    certainty: Certainty = "certain"


class Resolved(NamedTuple):
    """Edges of a file, the number of uses without one, and the keys of the files that they depend on."""

    edges: list[Edge]
    unresolved: int
    keys: frozenset[str]


class Resolver:
    """Resolves the files of one project. `load` returns the record of a path; the records must not change meanwhile."""

    def __init__(
        self,
        modules: Modules,
        load: Callable[[str], Record],
        named: Callable[[str, str], tuple[str, str] | None] | None = None,
    ) -> None:
        """`named` returns the path and qualified name of the only definition of a name in a language."""
        self._values, self._named = Values(modules, load), named

    def resolve(self, path: str) -> Resolved:
        """Return the edges of a file."""
        trail = self._values.trail
        trail.begin()
        source = self._values.source(path)
        edges: dict[Edge, None] = {}
        unresolved = 0
        for module, line in source.record.imports:
            found = self._values.module(source, module)
            if found is not None and found.source is not None and found.source is not source:
                edges[Edge(TOP, "imports", found.source.path, "", line, 0)] = None
        for one in source.record.mentions:
            found, certainty = self._found(source, one.scope, one.chain)
            if found is None:
                unresolved += 1
            else:
                edges[Edge(one.scope, _KINDS[one.use], *found, one.line, one.column, certainty)] = None
        return Resolved([*edges], unresolved, frozenset(trail.keys))

    def _found(self, source: Source, scope: int, chain: Chain) -> tuple[tuple[str, str] | None, Certainty]:
        thing = None if chain[0] == "?" else self._values.value(source, scope, chain)
        definition = None if thing is None or thing.form != "definition" else thing.definition
        if definition is not None and "elsewhere" not in definition.flags and thing is not None and thing.source:
            return (thing.source.path, definition.qualified), "certain"
        if self._named is None or source.record.language in FOLLOWED or chain[-1] in ("()", "[]", "@new"):
            return None, "certain"
        outside = thing is not None and thing.form == "outside" and bool(chain[1:])
        if outside and source.record.language in DECLARED:
            return None, "certain"  # a member of what comes from elsewhere
        self._values.trail.add((f"name:{chain[-1]}",))
        return self._named(source.record.language, chain[-1]), "probable"


_READERS: Mapping[str, Callable[[str, bytes], Record]] = {
    "python": python.read,
    **{name: partial(script.read, language=name) for name in ("javascript", "typescript", "tsx")},
    **{name: partial(plain.read, language=name) for name in plain.LANGUAGES},
}
LANGUAGES = tuple(_READERS)
_UNNAMED = frozenset(("elsewhere", "constructor"))  # flags of definitions that no name refers to


def is_notebook(path: str) -> bool:
    """Return whether a file of this name is a notebook of Jupyter."""
    return path.lower().endswith(".ipynb")


def cell_code(text: str) -> str:
    r"""Return the code in the text of a notebook, each line where it is there, and blanks for all other characters.

    Commands of the notebook, such as `%matplotlib` and `!pip`, are blanks, too.

    >>> cell_code("About\n```python\n%time\nx = 1\n```\n```\n1\n```").split("\n")
    ['     ', '         ', '     ', 'x = 1', '   ', '   ', ' ', '   ']
    """
    lines: list[str] = []
    is_code = False
    for line in text.split("\n"):
        is_mark = line.startswith("```")
        is_kept = is_code and not is_mark and not _COMMAND.match(line)
        lines.append(line if is_kept else " " * len(line))
        if is_mark:
            is_code = not is_code and line[3:].lower().startswith(("python", "ipython"))
    return "\n".join(lines)


def source_language(path: str) -> str | None:
    """Return the language in which a file is read, by its name; None for a file that is not read.

    >>> source_language("src/app.py"), source_language("tsconfig.json"), source_language("notes.md")
    ('python', 'project', None)
    """
    if is_settings(path):
        return PROJECT
    language = CELLS if is_notebook(path) else grammars.language_of(path)
    return language if language in LANGUAGES and grammars.is_available(language or "") else None


def read(path: str, text: str | bytes, language: str) -> Record:
    """Return the record of a source file; that of a language without a reader is empty.

    Raises:
        GrammarMissing: the grammar of the language is not installed.
    """
    source = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    reader = read_settings if language == PROJECT else _READERS.get(language)
    return Record(path, language) if reader is None else reader(path, source)


def names(text: str, language: str) -> list[str]:
    """Return the names that the record of a text defines, without those of constants; in order, some of them empty.

    Raises:
        GrammarMissing: the grammar of the language is not installed.
    """
    if language == "python":  # in a fraction of the time
        return python.names(text.encode("utf-8", "surrogatepass"))
    return [one.name for one in read("", text, language).definitions if one.kind != "constant"]


def only(records: Iterable[Record]) -> Callable[[str, str], tuple[str, str] | None]:
    """Return what gives the path and qualified name of the only function, method or type of a language with a name."""
    found: dict[tuple[str, str], tuple[str, str] | None] = {}
    for record in records:
        for one in record.definitions:
            if one.name and one.kind != "constant" and not _UNNAMED & {*one.flags}:
                key = record.language, one.name
                found[key] = None if key in found else (record.path, one.qualified)
    return lambda language, name: found.get((language, name))


def resolve_all(records: Iterable[Record]) -> dict[str, Resolved]:
    """Return the edges of all files of a project, by path."""
    by_path = {one.path: one for one in records}
    files = ((one.path, one.language, one.package) for one in by_path.values())
    modules = Modules(files, Projects(by_path.values()))
    resolver = Resolver(modules, by_path.__getitem__, only(by_path.values()))
    return {path: resolver.resolve(path) for path in by_path}
