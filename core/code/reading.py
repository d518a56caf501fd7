"""Reading of a source file of any language into its record."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from muisti.core.code import python, script
from muisti.core.code.modules import Modules
from muisti.core.code.records import Record
from muisti.core.code.resolving import Resolved, Resolver

_READERS: Mapping[str, Callable[[str, bytes], Record]] = {
    "python": python.read,
    **{name: partial(script.read, language=name) for name in ("javascript", "typescript", "tsx")},
}
LANGUAGES = tuple(_READERS)


def read(path: str, text: str | bytes, language: str) -> Record:
    """Return the record of a source file; that of a language without a reader is empty.

    Raises:
        GrammarMissing: the grammar of the language is not installed.
    """
    source = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    reader = _READERS.get(language)
    return Record(path, language) if reader is None else reader(path, source)


def resolve_all(records: Iterable[Record]) -> dict[str, Resolved]:
    """Return the edges of all files of a project, by path."""
    by_path = {one.path: one for one in records}
    modules = Modules((one.path, one.language, one.package) for one in by_path.values())
    resolver = Resolver(modules, by_path.__getitem__)
    return {path: resolver.resolve(path) for path in by_path}
