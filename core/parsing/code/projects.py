"""Settings of JavaScript and TypeScript projects: aliases in `tsconfig.json`, and packages by name in `package.json`.

A file of settings is read into a record, so that it is kept and compared as source files are. In it `exports` are
aliases, or what a package shows. `stars` are the settings that it extends, and `package` is its name.
"""

import json
import posixpath
import re
from collections.abc import Iterable, Iterator
from typing import Any, cast

from muisti.core.parsing.code.records import Export, Record

LANGUAGE = "project"  # of the records
LARGEST = 100_000  # characters of settings that are read
ALIASES = 500  # aliases or exports of one file
DEEPEST = 8  # conditions in conditions
_BASE = ""  # the alias that `baseUrl` is
ENDINGS = (".d.ts", ".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_BUILT = frozenset(("dist", "lib", "build", "out", "esm", "cjs"))  # folders of what is made from `src`
_ENTRIES = ("source", "types", "typings", "module", "main")
_SETTINGS = re.compile(r"(?:ts|js)config(?:\.[\w-]+)*\.json")
_COMMENT = re.compile(r'("(?:[^"\\]|\\[\s\S])*+"?)|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?')
_COMMA = re.compile(r'("(?:[^"\\]|\\[\s\S])*+"?)|,(?=\s*+[}\]])')


def is_settings(path: str) -> bool:
    """Return whether a file of this name has settings of a project.

    >>> is_settings("web/tsconfig.app.json"), is_settings("package.json"), is_settings("data.json")
    (True, True, False)
    """
    name = posixpath.basename(path)
    return name == "package.json" or _SETTINGS.fullmatch(name) is not None


def read(path: str, source: bytes) -> Record:
    """Return the record of a file of settings, empty for a broken one."""
    text = source.decode("utf-8", "replace")
    try:
        plain = _COMMA.sub(r"\1", _COMMENT.sub(r"\1", text.removeprefix("\ufeff"))) if len(text) <= LARGEST else "null"
        given = json.loads(plain)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        return Record(path, LANGUAGE)
    settings = cast(dict[str, Any], given)
    return _package(path, settings) if posixpath.basename(path) == "package.json" else _aliases(path, settings)


def _aliases(path: str, settings: dict[str, Any]) -> Record:
    options = settings.get("compilerOptions")
    options = cast(dict[str, Any], options) if isinstance(options, dict) else {}
    base, paths = options.get("baseUrl"), options.get("paths")
    folder = posixpath.dirname(path)
    root = _joined(folder, base) if isinstance(base, str) else None
    found = [] if root is None else [Export(_BASE, root)]
    for pattern, targets in cast(dict[str, Any], paths).items() if isinstance(paths, dict) else ():
        for target in cast(list[Any], targets) if isinstance(targets, list) else ():
            if isinstance(target, str):
                found.append(Export(pattern, _joined(folder if root is None else root, target)))
    extended = settings.get("extends")
    extended = cast(list[Any], extended) if isinstance(extended, list) else [extended]
    above = tuple(_joined(folder, one) for one in extended if isinstance(one, str) and one.startswith("."))
    return Record(path, LANGUAGE, stars=above, exports=tuple(found[:ALIASES]))


def _package(path: str, settings: dict[str, Any]) -> Record:
    name, folder = settings.get("name"), posixpath.dirname(path)
    if not isinstance(name, str):
        return Record(path, LANGUAGE)
    shown = settings.get("exports")
    by_place: dict[str, Any] = cast(dict[str, Any], shown) if isinstance(shown, dict) else {".": shown}
    if not all(one.startswith(".") for one in by_place):
        by_place = {".": cast(Any, shown)}
    found = [(place, target) for place, value in by_place.items() for target in _targets(value)]
    found += [(".", one) for entry in _ENTRIES if isinstance(one := settings.get(entry), str)]
    exports = tuple(Export(place, _joined(folder, target)) for place, target in found[:ALIASES])
    return Record(path, LANGUAGE, exports=exports, package=name)


def _targets(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield the files that conditions name."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict) and depth < DEEPEST:
        for one in cast(dict[str, Any], value).values():
            yield from _targets(one, depth + 1)


class Projects:
    """The settings of all projects of a repository. Instances never change."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._settings: dict[str, Record] = {}
        self._packages: dict[str, Record] = {}
        self._by_folder: dict[str, list[Record]] = {}
        for record in sorted((one for one in records if one.language == LANGUAGE), key=lambda one: one.path):
            if record.package:
                self._packages.setdefault(record.package, record)
            elif posixpath.basename(record.path) != "package.json":
                self._settings[record.path] = record
                self._by_folder.setdefault(posixpath.dirname(record.path), []).append(record)
        for found in self._by_folder.values():
            found.sort(key=lambda one: len(one.path))  # `tsconfig.json` first

    def asked(self, module: str, importer: str) -> Iterator[str]:
        """Yield the keys of the files that an absolute module may mean in a file, the best first.

        Keys of settings are among them, because a file depends on those that were looked at, or that may come.
        """
        folder = posixpath.dirname(importer)
        while True:
            yield f"settings:{folder}"
            seen: set[str] = set()
            for record in self._by_folder.get(folder, ()):
                yield from self._aliased(record, module, seen)
            if folder in self._by_folder or folder == (folder := posixpath.dirname(folder)):
                break
        yield from self._packaged(module)

    def _aliased(self, record: Record, module: str, seen: set[str]) -> Iterator[str]:
        if record.path in seen:
            return
        seen.add(record.path)
        yield f"path:{record.path}"
        for one in sorted(record.exports, key=lambda one: -len(one.name)):
            rest = module if one.name == _BASE else _matched(one.name, module)
            if rest is not None:
                yield _script(_joined(one.local, module) if one.name == _BASE else one.local.replace("*", rest, 1))
        for above in record.stars:
            for path in (above, f"{above}.json", f"{above}/tsconfig.json"):
                yield f"settings:{posixpath.dirname(path)}"
                if path in self._settings:
                    yield from self._aliased(self._settings[path], module, seen)
                    break

    def _packaged(self, module: str) -> Iterator[str]:
        parts = module.split("/")
        most = 2 if module.startswith("@") else 1
        name, inner = "/".join(parts[:most]), "/".join((".", *parts[most:]))
        yield f"package:{name}"
        record = self._packages.get(name)
        if record is None:
            return
        yield f"path:{record.path}"
        folder = posixpath.dirname(record.path)
        for one in record.exports:
            if (rest := _matched(one.name, inner)) is not None:
                path = one.local.replace("*", rest, 1)
                yield from map(_script, (path, *_sources(path, folder)))
        for place in ("src", ""):
            yield _script(_joined(folder, posixpath.join(place, inner if inner != "." else "index")))


def keys(path: str, package: str) -> list[str]:
    """Return the keys by which modules find a file of settings."""
    return [f"settings:{posixpath.dirname(path)}", *([f"package:{package}"] if package else [])]


def bare(path: str) -> str:
    """Return a path without the ending of a script.

    >>> bare("web/app.d.ts"), bare("web/app.css")
    ('web/app', 'web/app.css')
    """
    return next((path[: -len(ending)] for ending in ENDINGS if path.endswith(ending)), path)


def _script(path: str) -> str:
    return f"script:{bare(path)}"


def _matched(pattern: str, module: str) -> str | None:
    """Return the text that `*` matches, None when the pattern does not match."""
    before, star, after = pattern.partition("*")
    if not star:
        return "" if pattern == module else None
    matches = len(module) >= len(before) + len(after) and module.startswith(before) and module.endswith(after)
    return module[len(before) : len(module) - len(after)] if matches else None


def _sources(path: str, folder: str) -> Iterator[str]:
    """Yield the places of the sources of a built file."""
    parts = path.removeprefix(f"{folder}/").split("/")
    built = [number for number, part in enumerate(parts[:-1]) if part in _BUILT]
    for source in ("src", "") if built else ():
        yield _joined(folder, posixpath.join(*parts[: built[0]], source, *parts[built[-1] + 1 :]))


def _joined(folder: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(folder, path))
