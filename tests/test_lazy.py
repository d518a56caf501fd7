"""Muisti's modules are imported plainly, except for those that are listed here, which load through `Lazy`."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOOR = "core/support/lazy.py"
GRAMMARS = "core/parsing/code/grammars.py"  # packages of other people, in a table of names
# Outside the command line, whose modules say themselves why: what loads late, and what that saves at the start.
LATE = {
    ("clients/python/muisti/__init__.py", "muisti._opening"): "600 ms: the application, when a file is opened",
    ("core/databases.py", "muisti.core.store.remote.database"): "100 ms, which a file needs not",
    ("core/databases.py", "muisti.core.store.remote.http_client"): "100 ms, which a file needs not",
    **{
        ("core/parsing/formats/__init__.py", f"muisti.core.parsing.formats.{name}"): "a worker loads it with a file"
        for name in (
            "calendar",
            "doc",
            "docx",
            "html",
            "image",
            "mail",
            "msg",
            "notebook",
            "ods",
            "one_file",
            "opendocument",
            "pdf",
            "ppt",
            "pptx",
            "rtf",
            "xls",
            "xlsx",
        )  # fmt: skip
    },
    ("core/parsing/encodings.py", "muisti.core.parsing.encoding_guess"): "tables of languages, which few texts need",
    (
        "core/operations/compiled_kernels.py",
        "muisti.core.kernels.making",
    ): "a second: numba, which a library spares",
    (
        "service/app/__init__.py",
        "muisti.service.app.server",
    ): "all of the service, when another ASGI server asks for it",
    ("service/app/app.py", "muisti.service.auth.tokens"): "250 ms, only where the settings speak of tokens",
    ("service/app/app.py", "muisti.service.app.rest"): "300 ms: Litestar and all routes, which the fast path spares",
    ("service/app/rest.py", "muisti.service.openapi.specification"): "20 ms, when somebody asks for it",
    ("service/app/starting.py", "muisti.service.app.server"): "loaded while nobody looks for garbage",
    ("service/pages/mount.py", "muisti.service.pages.app"): "200 ms, when somebody opens a page",
    ("service/mcp/route.py", "muisti.service.mcp.manager"): "900 ms: the SDK, which plain calls do without",
    ("service/metrics/scrape.py", "muisti.service.metrics.exposition"): "30 ms, on a thread",
    ("service/observability/tracing.py", "muisti.service.observability.otel"): "100 ms, packages that may be missing",
    ("service/erasure/routes.py", "muisti.service.auth.signing"): "45 ms: cryptography",
    ("service/background/backup_targets.py", "muisti.core.operations.whole_database"): "60 ms, with a backup",
    ("service/background/upkeep.py", "muisti.service.auth.signing"): "45 ms: cryptography",
}

COMMAND_LINE = re.compile(r"service/(cli|terminal)/|.*commands\.py$")


@cache
def modules() -> list[tuple[str, str, ast.Module]]:
    """The place, the text and the tree of each module."""
    folders = ("core", "service", "clients/python/muisti")
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    texts = [(path.relative_to(ROOT).as_posix(), path.read_text("utf-8")) for path in paths]
    return [(place, text, ast.parse(text)) for place, text in texts if "import_module" in text or "Lazy" in text]


def called(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    """Calls of a function by its own name, or as an attribute."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = node.func
            if name in (getattr(function, "id", None), getattr(function, "attr", None)):
                yield node


def named(call: ast.Call) -> str | None:
    """The text of the first argument, as far as it is written out."""
    first = call.args[0] if call.args else None
    if isinstance(first, ast.JoinedStr) and first.values:
        first = first.values[0]
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None


def seen_by_types(tree: ast.Module) -> dict[str, str]:
    """Return what is imported for types alone, by its local name."""
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for block in tree.body
        if isinstance(block, ast.If) and getattr(block.test, "id", None) == "TYPE_CHECKING"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def lazy(tree: ast.Module) -> dict[str, str]:
    """Return what is loaded lazily, by its name in the module."""
    return {
        str(getattr(node.targets[0], "id", None)): str(named(node.value))
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and [*called(node.value, "Lazy")]
    }


def test_no_module_of_ours_is_imported_as_a_string():
    for place, _, tree in modules():
        if place in (DOOR, GRAMMARS):
            continue
        for call in called(tree, "import_module"):
            name = named(call)
            assert name is not None, f"{place}:{call.lineno} imports what it does not name"
            assert not name.startswith("muisti"), f"{place}:{call.lineno} imports {name} as a string"


def test_what_loads_late_is_what_types_see():
    found = 0
    for place, _, tree in modules():
        late, types = lazy(tree), seen_by_types(tree)
        assert late.items() <= types.items(), place
        doors = [
            call for call in called(tree, "Lazy") if place != "service/terminal/base.py" or named(call) is not None
        ]
        assert len(doors) == len(late), f"{place} loads something late that types do not see"
        found += len(late)
    assert found > len(LATE)


def test_what_loads_late_says_why():
    for place, text, _ in modules():
        if place == DOOR:
            continue
        blocks = len(re.findall(r'^    \w+ = Lazy\("', text, re.MULTILINE))
        assert not blocks or re.search(r'^else:  # \w.*\n(    \w+ = Lazy\("\S+"\)\n)+', text, re.MULTILINE), place


def test_outside_the_command_line_only_these_load_late():
    found = {
        (place, name) for place, _, tree in modules() if not COMMAND_LINE.match(place) for name in lazy(tree).values()
    }
    assert found == LATE.keys()
