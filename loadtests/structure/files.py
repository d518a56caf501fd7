"""Figures of a Python package, read from its files: sizes, names, cycles, handlers, imports and docstrings."""

import ast
import re
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

LONG_FUNCTION = 40  # lines
TWIN = 5  # lines from which functions of one shape count as twins

TWO = """
def one(a):
    b = a + 1
    c = b * 2
    if c:
        return b
    return c
def other(x):
    y = x + 1
    z = y * 2
    if z:
        return y
    return z
"""
Function = ast.FunctionDef | ast.AsyncFunctionDef
Named = Function | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Module:
    """A parsed file. `name` has the dots of an import; a `package` is the `__init__.py` of its folder."""

    name: str
    package: bool
    lines: int
    tree: ast.Module


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of one package; `functions` and the like are counts, `documented` is a share of public names.

    `cyclic_modules` counts imports at the top of modules, `cyclic_folders` all imports between folders, those by
    strings too. `hidden_own` are imports by strings of the package's own modules. `twins` counts functions whose code
    an earlier one has too, but for the names of arguments and variables.
    """

    modules: int
    lines: int
    median_lines: float
    largest_lines: int
    functions: int
    long_functions: int
    public_names: float
    cyclic_modules: int
    cyclic_folders: int
    handlers: int
    blanket_handlers: int
    late_imports: int
    hidden_imports: int
    hidden_own: int
    documented: float
    twins: int
    test_lines: int


def figures(folders: Sequence[Path], tests: Path, package: str) -> Figures:
    """Read the modules of a package in some folders; `tests` is a folder too, of which only lines are counted.

    `package` is the import name that goes before those of the folders; empty where the folder is the package.
    """
    modules = [module for folder in folders for module in read(folder, package)]
    trees = [module.tree for module in modules]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    functions = [node for node in nodes if isinstance(node, Function)]
    handlers = [node for node in nodes if isinstance(node, ast.ExceptHandler)]
    named = [node for tree in trees for node in public(tree)]
    sizes = [module.lines for module in modules]
    return Figures(
        modules=len(modules),
        lines=sum(sizes),
        median_lines=statistics.median(sizes),
        largest_lines=max(sizes),
        functions=len(functions),
        long_functions=sum((node.end_lineno or node.lineno) - node.lineno + 1 > LONG_FUNCTION for node in functions),
        public_names=statistics.mean(len(list(names(tree))) for tree in trees),
        cyclic_modules=len(cyclic(modules)),
        cyclic_folders=len(cyclic_folders(modules, package)),
        handlers=len(handlers),
        blanket_handlers=sum(is_blanket(node) for node in handlers),
        late_imports=sum(is_import(node) for function in functions for node in ast.walk(function)),
        hidden_imports=sum(is_hidden_import(node) for node in nodes),
        hidden_own=sum(
            is_hidden_import(node) and is_own(name, modules) for tree in trees for node, name in imports_by_string(tree)
        ),
        documented=statistics.mean(ast.get_docstring(node) is not None for node in named),
        twins=twins(functions),
        test_lines=sum(len(path.read_text().splitlines()) for path in tests.rglob("*.py")),
    )


def twins(functions: Iterable[Function]) -> int:
    """Count functions of at least `TWIN` lines whose code an earlier one has too, whatever its own names are.

    >>> twins(node for node in ast.parse(TWO).body if isinstance(node, Function))
    1
    """
    shapes = [
        _shape(node) for node in functions if (node.end_lineno or 0) - node.body[0].lineno + 1 >= TWIN and _works(node)
    ]
    return len(shapes) - len(set(shapes))


def _works(node: Function) -> bool:
    """Check whether a function has more than a docstring and one statement."""
    return len(node.body) - (ast.get_docstring(node) is not None) > 1


def _shape(node: Function) -> str:
    """Return a function's code without its docstring, its own names numbered in their order."""
    own = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    own |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    numbers: dict[str, str] = {}
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    text = "\n".join(ast.unparse(each) for each in body)
    return re.sub(
        r"\b[A-Za-z_]\w*\b",
        lambda found: numbers.setdefault(found[0], f"v{len(numbers)}") if found[0] in own else found[0],
        text,
    )


def words(folders: Iterable[Path]) -> int:
    """Count the words of the Markdown files of some folders, or of single files."""
    pages = (page for each in folders for page in ([each] if each.is_file() else each.rglob("*.md")))
    return sum(len(page.read_text().split()) for page in pages)


def spread(root: Path, capabilities: Sequence[str]) -> dict[str, list[str]]:
    """Return the folders that have a file, or that are a folder, with a capability as a word of its name."""
    paths = [path.relative_to(root) for top in ("core", "service", "tests") for path in (root / top).rglob("*.py")]
    return {
        name: sorted({_place(path, name) for path in paths if any(_names(part, name) for part in path.parts)})
        for name in capabilities
    }


def _names(part: str, name: str) -> bool:
    """Check whether a word of a part of a path, or its plural, is a name: `opendocument` is no document.

    >>> [_names(part, "graph") for part in ("graph", "test_graphs.py", "test_langgraph.py")]
    [True, True, False]
    """
    return not {name, f"{name}s"}.isdisjoint(part.removesuffix(".py").split("_"))


def _place(path: Path, name: str) -> str:
    """Return the topmost folder of a path that is named for a capability; the folder of the file if none is."""
    named = [at for at, part in enumerate(path.parts[:-1]) if _names(part, name)]
    return "/".join(path.parts[: named[0] + 1] if named else path.parts[:-1])


def read(folder: Path, package: str) -> Iterator[Module]:
    """Parse the files of a folder, but those without a line of code."""
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text()
        tree = ast.parse(text)
        if tree.body:
            parts = path.relative_to(folder.parent).with_suffix("").parts
            dotted = ".".join(part for part in (package, *parts) if part and part != "__init__")
            yield Module(dotted, path.name == "__init__.py", len(text.splitlines()), tree)


def names(tree: ast.Module) -> Iterator[Named]:
    """Functions and classes that a module offers to others."""
    yield from (node for node in tree.body if isinstance(node, Named) and not node.name.startswith("_"))


def public(tree: ast.Module) -> Iterator[Named]:
    """Yield the public definitions of a module, with the public methods of its classes."""
    for node in names(tree):
        yield node
        inner = node.body if isinstance(node, ast.ClassDef) else ()
        yield from (each for each in inner if isinstance(each, Function) and not each.name.startswith("_"))


def cyclic(modules: Sequence[Module]) -> set[str]:
    """Find modules that import each other in a circle when they are loaded."""
    known = {module.name for module in modules}
    return _circular({module.name: set(_imports(module, module.tree.body, known)) for module in modules})


def cyclic_folders(modules: Sequence[Module], package: str) -> set[str]:
    """Find folders that import each other in a circle, by any import: at the top, late, for types or by a string.

    A folder is one below the package, with all in it; a module beside the folders counts as one.
    """
    known = {module.name for module in modules}
    top = len(package.split(".")) if package else 0  # dots in the name of the folder that was read
    graph: dict[str, set[str]] = {}
    for module in modules:
        by_string = {name for _, name in imports_by_string(module.tree)} & known
        used = {*_imports(module, ast.walk(module.tree), known), *by_string}
        graph.setdefault(_folder(module.name, top), set()).update(_folder(name, top) for name in used)
    return _circular({name: graph[name] - {root for root in graph if root.count(".") <= top} for name in graph})


def _folder(name: str, top: int) -> str:
    return ".".join(name.split(".")[: top + 2])


def _circular(graph: dict[str, set[str]]) -> set[str]:
    """Return the names on circles: those that lead back to themselves."""
    return {name for name in graph if name in _reached(graph, name)}


def _reached(graph: dict[str, set[str]], name: str) -> set[str]:
    """Return all names to which others of the graph lead from a name, in one step or several."""
    found, ahead = set[str](), list(graph[name] - {name})
    while ahead:
        one = ahead.pop()
        if one not in found:
            found.add(one)
            ahead += graph.get(one, set())
    return found


def _imports(module: Module, nodes: Iterable[ast.AST], known: set[str]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            origin = _origin(module, node)
            inner = {f"{origin}.{alias.name}" for alias in node.names}
            yield from inner & known
            yield from {origin} & known if inner - known else ()


def _origin(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    above = module.name.split(".")[: (1 - node.level if module.package else -node.level) or None]
    return ".".join([*above, *([node.module] if node.module else [])])


def is_blanket(handler: ast.ExceptHandler) -> bool:
    """Check whether a handler takes any exception."""
    return handler.type is None or (
        isinstance(handler.type, ast.Name) and handler.type.id in {"Exception", "BaseException"}
    )


def is_import(node: ast.AST) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def is_hidden_import(node: ast.AST) -> bool:
    """Check whether a call imports by a name in a string, which tools do not see."""
    if not isinstance(node, ast.Call):
        return False
    return re.fullmatch(r"(importlib\.)?import_module|__import__", ast.unparse(node.func)) is not None


def imports_by_string(tree: ast.Module) -> Iterator[tuple[ast.Call, str]]:
    """Yield calls that import what their first argument names, `Lazy` of our own too, with that name.

    >>> [name for _, name in imports_by_string(ast.parse('import_module("a.b"); Lazy("c"); len("d")'))]
    ['a.b', 'c']
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (is_hidden_import(node) or ast.unparse(node.func) == "Lazy"):
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield node, first.value


def is_own(name: str, modules: Sequence[Module]) -> bool:
    return name in {module.name for module in modules}
