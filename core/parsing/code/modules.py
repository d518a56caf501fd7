"""Which files the name of a module means, by the rules of each language and the settings of projects.

A file of settings (`tsconfig.json`, `package.json`) is read into a record, so that it is kept and compared as source
files are. In it `exports` are aliases, or what a package shows. `stars` are the settings that it extends, and `package`
is its name.

Files and names meet in keys. A file has the keys of all names that may mean it; a name in a file asks for keys in
order. So a file that comes or goes concerns exactly the files that asked for one of its keys.
"""

import json
import posixpath
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

from muisti.core.parsing.code.records import Export, Record
from muisti.core.support.regex import regex

PROJECT = "project"  # of the records
LARGEST = 100_000  # characters of settings that are read
ALIASES = 500  # aliases or exports of one file
DEEPEST = 8  # conditions in conditions
_BASE = ""  # the alias that `baseUrl` is
ENDINGS = (".d.ts", ".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_BUILT = frozenset(("dist", "lib", "build", "out", "esm", "cjs"))  # folders of what is made from `src`
_ENTRIES = ("source", "types", "typings", "module", "main")
_SETTINGS = regex(r"(?:ts|js)config(?:\.[\w-]+)*\.json")
_COMMENT = regex(r'("(?:[^"\\]|\\[\s\S])*+"?)|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?')
_COMMA = regex(r'("(?:[^"\\]|\\[\s\S])*+"?)|,(?=\s*+[}\]])')


def is_settings(path: str) -> bool:
    """Return whether a file of this name has settings of a project.

    >>> is_settings("web/tsconfig.app.json"), is_settings("package.json"), is_settings("data.json")
    (True, True, False)
    """
    name = posixpath.basename(path)
    return name == "package.json" or _SETTINGS.fullmatch(name) is not None


def read_settings(path: str, source: bytes) -> Record:
    """Return the record of a file of settings, empty for a broken one."""
    text = source.decode("utf-8", "replace")
    try:
        plain = _COMMA.sub(r"\1", _COMMENT.sub(r"\1", text.removeprefix("\ufeff"))) if len(text) <= LARGEST else "null"
        given = json.loads(plain)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        return Record(path, PROJECT)
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
    return Record(path, PROJECT, stars=above, exports=tuple(found[:ALIASES]))


def _package(path: str, settings: dict[str, Any]) -> Record:
    name, folder = settings.get("name"), posixpath.dirname(path)
    if not isinstance(name, str):
        return Record(path, PROJECT)
    shown = settings.get("exports")
    by_place: dict[str, Any] = cast(dict[str, Any], shown) if isinstance(shown, dict) else {".": shown}
    if not all(one.startswith(".") for one in by_place):
        by_place = {".": cast(Any, shown)}
    found = [(place, target) for place, value in by_place.items() for target in _targets(value)]
    found += [(".", one) for entry in _ENTRIES if isinstance(one := settings.get(entry), str)]
    exports = tuple(Export(place, _joined(folder, target)) for place, target in found[:ALIASES])
    return Record(path, PROJECT, exports=exports, package=name)


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
        for record in sorted((one for one in records if one.language == PROJECT), key=lambda one: one.path):
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


def settings_keys(path: str, package: str) -> list[str]:
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


_SCRIPTS = ("javascript", "typescript", "tsx")
_ORDER = {
    ending: number for number, ending in enumerate((".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"))
}
_RUST_ROOTS = ("lib", "main", "mod")


def family(language: str) -> str:
    """Return the language whose modules a language shares: those of TypeScript are those of JavaScript."""
    return "script" if language in _SCRIPTS else language


class Modules:
    """The source files of a project by their keys. Instances never change."""

    def __init__(self, files: Iterable[tuple[str, str, str]], settings: Projects | None = None) -> None:
        """`files` are the path, language and package of each file; `settings` are those of their projects."""
        self._files = [*files]
        self._settings = settings or Projects(())
        self._packages: set[str] = {
            posixpath.dirname(path)
            for path, language, _ in self._files
            if language == "python" and posixpath.basename(path) in ("__init__.py", "__init__.pyi")
        }
        self._by_key: dict[str, list[str]] = {}
        self.languages: dict[str, str] = {}
        self._by_folder: dict[str, list[str]] = {}
        for path, language, package in sorted(self._files):
            self.languages[path] = language
            self._by_folder.setdefault(posixpath.dirname(path), []).append(path)
            for key in () if language == PROJECT else self.keys(path, language, package):
                self._by_key.setdefault(key, []).append(path)

    def keys(self, path: str, language: str, package: str = "") -> list[str]:
        """Return the keys by which names find a file."""
        if language == "python":
            return [f"python:{name}" for name in dict.fromkeys(self._python_names(path)) if name]
        if language in _SCRIPTS:
            name = bare(path)
            above = [posixpath.dirname(name)] if posixpath.basename(name) == "index" else []
            return [f"script:{one}" for one in (name, *above)]
        if language == "go":
            folder = posixpath.dirname(path)
            return [f"go:{end}" for end in _ends(folder.split("/"))] if folder else ["go:"]
        if language == "rust":
            return [f"rust:{name}" for name in _rust_names(path)]
        if language == PROJECT:
            return settings_keys(path, package)
        if language == "java":
            stem = posixpath.splitext(posixpath.basename(path))[0]
            return [f"java:{package}.{stem}" if package else f"java:{stem}", f"java:{package}.*"]
        return [f"{language}:{end}" for end in _ends(path.split("/"))]

    def find(self, module: str, importer: str, language: str) -> tuple[list[str], list[str]]:
        """Return the files that a name of a module means in a file, the best first, and the keys it was asked by."""
        asked: list[str] = []
        for key in self._asked(module, importer, language):
            asked.append(key)
            if found := self._by_key.get(key):
                if family(language) == "python":
                    found = [path for path in found if self._reaches(path, module, importer)]
                if found:
                    return sorted(found, key=lambda path: (_rank(path), -_shared(path, importer), path)), asked
        return [], asked

    def siblings(self, path: str, language: str) -> list[str]:
        """Return the files of one package: those of the same folder and language."""
        folder = posixpath.dirname(path)
        return [one for one in self._by_folder.get(folder, ()) if self.languages[one] == language]

    def _asked(self, module: str, importer: str, language: str) -> Iterator[str]:
        here = posixpath.dirname(importer)
        if language == "python":
            yield f"python:{self._absolute(module, importer)}"
        elif language in _SCRIPTS:
            if module.startswith("."):
                yield f"script:{bare(posixpath.normpath(posixpath.join(here, module)))}"
            else:
                yield from self._settings.asked(module, importer)
                yield f"script:{bare(module)}"
        elif language == "rust":
            yield f"rust:{_absolute_rust(module, importer)}"
        elif language in ("go", "java"):
            yield f"{language}:{module}"
            if language == "go":
                for end in _ends(module.split("/")):
                    yield f"go:{end}"
        else:
            yield f"{language}:{posixpath.normpath(posixpath.join(here, module))}"
            yield f"{language}:{module}"

    def _absolute(self, module: str, importer: str) -> str:
        """Return the full name of a module of Python, whose relative name begins with dots."""
        name = module.lstrip(".")
        dots = len(module) - len(name)
        if not dots:
            return name
        folder = posixpath.dirname(importer)
        for _ in range(dots - 1):
            folder = posixpath.dirname(folder)
        base = folder.replace("/", ".")
        return f"{base}.{name}" if base and name else base or name

    def _python_names(self, path: str) -> Iterator[str]:
        parts = posixpath.splitext(path)[0].split("/")
        folder = posixpath.dirname(path)
        if parts[-1] == "__init__":
            parts.pop()
        root, outer = folder, posixpath.dirname(folder)
        while root in self._packages and outer != root:
            root, outer = outer, posixpath.dirname(outer)
        above = len(root.split("/")) if root else 0
        for start in range(above + 1):  # folders without `__init__.py` are packages too, of any of these roots
            yield ".".join(parts[start:])

    def _reaches(self, path: str, module: str, importer: str) -> bool:
        """Tell whether a file can be what a module of Python is called in another, and is no namesake elsewhere."""
        folder = posixpath.dirname(path)
        if module.startswith("."):
            return True
        if module.partition(".")[0] in sys.stdlib_module_names:
            return folder == posixpath.dirname(importer) and folder not in self._packages
        named = module.split(".")
        parts = posixpath.splitext(path)[0].removesuffix("/__init__").split("/")
        root = "/".join(parts[: len(parts) - len(named)])
        if not root or "/".join((root, named[0])) in self._packages:
            return True
        return importer.startswith(f"{root}/") or posixpath.basename(root) in ("src", "lib")


def _ends(parts: Sequence[str]) -> list[str]:
    return ["/".join(parts[number:]) for number in range(len(parts))]


def _rust_names(path: str) -> list[str]:
    """Return the paths of a module within its crate, `crate` for the root of one."""
    parts = posixpath.splitext(path)[0].split("/")
    start = len(parts) - 1 - parts[::-1].index("src") if "src" in parts[:-1] else -1
    inner = parts[start + 1 :]
    if inner[-1] in _RUST_ROOTS:
        inner = inner[:-1]
    crate = parts[start - 1] if start > 0 else ""
    names = ["::".join(("crate", *inner))]
    return [*names, "::".join((crate.replace("-", "_"), *inner))] if crate else names


def _absolute_rust(module: str, importer: str) -> str:
    """Return the path within the crate of a module that is named with `self` or `super`."""
    parts = module.split("::")
    if parts[0] not in ("self", "super"):
        return module
    here = _rust_names(importer)[0].split("::")
    while parts and parts[0] in ("self", "super"):
        here = here[:-1] if parts.pop(0) == "super" else here
    return "::".join((*here, *parts))


def _rank(path: str) -> int:
    stem = posixpath.splitext(posixpath.basename(path))[0]
    return _ORDER.get(posixpath.splitext(path)[1], 0) + (20 if stem == "index" else 0)


def _shared(path: str, other: str) -> int:
    """Return how many folders two files have in common."""
    number = 0
    for one, two in zip(path.split("/")[:-1], other.split("/")[:-1], strict=False):
        if one != two:
            break
        number += 1
    return number
