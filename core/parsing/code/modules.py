"""Which files the name of a module means, by the rules of each language.

Files and names meet in keys. A file has the keys of all names that may mean it; a name in a file asks for keys in
order. So a file that comes or goes concerns exactly the files that asked for one of its keys.
"""

import posixpath
import sys
from collections.abc import Iterable, Iterator, Sequence

from muisti.core.parsing.code import projects
from muisti.core.parsing.code.projects import Projects, bare

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
            for key in () if language == projects.LANGUAGE else self.keys(path, language, package):
                self._by_key.setdefault(key, []).append(path)

    def keys(self, path: str, language: str, package: str = "") -> list[str]:
        """Return the keys by which names find a file."""
        if language == "python":
            return [f"python:{name}" for name in dict.fromkeys(self._python_names(path)) if name]
        if language in _SCRIPTS:
            return [f"script:{name}" for name in _script_names(path)]
        if language == "go":
            folder = posixpath.dirname(path)
            return [f"go:{end}" for end in _ends(folder.split("/"))] if folder else ["go:"]
        if language == "rust":
            return [f"rust:{name}" for name in _rust_names(path)]
        if language == projects.LANGUAGE:
            return projects.keys(path, package)
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


def _script_names(path: str) -> list[str]:
    name = bare(path)
    return [name, posixpath.dirname(name)] if posixpath.basename(name) == "index" else [name]


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
