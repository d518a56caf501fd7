"""Modules of `core` and `service` that read text, found in the source, and those that a reader of the table runs.

A module reads text when it imports a library that does, or has a function of a text. A new one fails the test until a
row of `READERS` runs it, or `ELSEWHERE` says why no long text of a user reaches it.
"""

import ast
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import FrameType
from typing import Any

from loadtests.adversarial.patterns import ROOT, files
from loadtests.adversarial.readers import OF_WORKERS, READERS
from loadtests.adversarial.texts import FAMILIES

LIBRARIES = frozenset(
    {
        *("Stemmer", "bz2", "codecs", "csv", "difflib", "email", "fnmatch", "html", "ijson", "lzma", "markdown_it"),
        *("multipart", "nh3", "pathspec", "pypdfium2", "selectolax", "shlex", "spacy", "string", "tarfile", "textwrap"),
        *("tiktoken", "tokenizers", "tomlkit", "tomllib", "trafilatura", "tree_sitter", "unicodedata", "xml", "yaml"),
        "zipfile",
    }
)
TEXTS = frozenset(["content", "line", "lines", "markup", "phrase", "question", "sentence", "text"])
KINDS = frozenset({"str", "str | bytes", "bytes", "bytes | bytearray", "str | None", "Iterable[str]"})
OF_OPERATORS = (
    *("service/cli/", "service/connect/", "service/evaluation/", "service/settings/", "service/terminal/"),
    *("core/store/", "core/kernels/", "core/tasks/sql/", "core/operations/webhooks.py", "service/openapi/"),
)

HANDS_ON = "hands a text on to readers of the table, or puts it between others"
SHORT = "a text of bounded length"
OWN = "a file of the person who runs the command"
WORKER = "a worker process reads it: `python -m loadtests.adversarial.files`"
OURS = "what this server or a model that it asks has written"
ELSEWHERE: Mapping[str, Sequence[str]] = {
    HANDS_ON: [
        *(
            "core/write/conflicts/check.py",
            "core/conversations/context/builder.py",
            "core/conversations/context/weights.py",
            "core/documents/files.py",
            "core/operations/spaces/registry.py",
            "service/agents/recalling.py",
            "service/memory_stores/schemas.py",
            "core/documents/batches.py",
            "core/embedding/cache.py",
        ),
        *("core/embedding/onnx.py", "core/graph/entities/pipelines.py"),
        *(
            "core/operations/erasure/purge_task.py",
            "core/graph/extraction.py",
            "core/graph/pagerank.py",
            "core/model/tasks.py",
        ),
        *(
            "core/graph/answers.py",
            "core/search/applied.py",
            "service/agents/answering.py",
            "service/agents/formats.py",
        ),
        *("service/formats/importers/telegram.py", "service/formats/importers/discord.py"),
        *("core/search/expected.py", "core/search/query_vectors.py", "core/search/lifted.py"),
        *(
            "core/operations/spaces/checkpoints.py",
            "core/documents/symbols/indexing.py",
            "core/operations/transfer/importing/importer.py",
        ),
        *("core/operations/transfer/importing/lines.py", "core/write/intake.py", "core/write/prepare.py"),
        *("service/pages/asking/settings.py", "service/pages/ask.py", "service/console/filter_form.py"),
        *("service/pages/imports.py", "service/documents/pages.py", "service/console/render.py"),
        *("service/console/answers.py",),
        *("service/graph/formats.py", "service/graph/svg.py", "service/graph/layout.py"),
        *("service/formats/importers/plain_json.py", "service/formats/importers/shapes.py"),
        *("service/formats/importers/shares.py", "service/formats/importers/zapomni.py"),
        *("service/formats/importers/shapes.py", "service/http/uploads.py", "service/documents/tools.py"),
        *("service/tools/rendering.py", "service/mcp/resources.py", "service/mcp/stdio.py"),
        *("service/mcp/writes.py", "service/observability/logs.py", "service/providers/posting.py"),
        *("service/providers/endpoint.py", "service/runtime/models.py"),
    ],
    SHORT: [
        *(
            "core/graph/groups.py",
            "core/graph/reading.py",
            "core/documents/anchors.py",
            "core/model/anchors.py",
            "service/mcp/tasks.py",
            "service/memory_stores/names.py",
            "core/graph/model.py",
            "core/index/selections.py",
            "core/model/ids.py",
            "core/query/query.py",
        ),
        *("core/conversations/context/rendering.py", "core/views/review.py"),
        *("service/pages/keys.py", "service/pages/memory.py", "service/pages/settings.py", "service/pages/timeline.py"),
        *("service/mcp/tools.py", "service/providers/posting.py"),
        *("service/routes/changes.py", "service/receipts/routes.py", "service/routes/tasks.py"),
        *("service/routes/code.py", "service/routes/lint.py", "service/schemas/tasks.py"),
    ],
    OWN: [
        "service/documents/citing.py",
        "service/folders/choosing.py",
        "service/folders/git.py",
        "service/formats/importers/source_files.py",
    ],
    WORKER: [
        *(
            "core/parsing/code/plain.py",
            "core/parsing/code/records.py",
            "core/parsing/code/worker.py",
            "core/parsing/archives.py",
            "core/parsing/decompressing.py",
            "core/parsing/formats/calendar.py",
            "core/parsing/formats/rtf.py",
        ),
        *("core/parsing/formats/doc.py", "core/parsing/formats/msg.py", "core/parsing/formats/one_file.py"),
        "core/parsing/formats/xls.py",
    ],
    OURS: [
        *("core/operations/transfer/importing/moving.py", "core/placement/rows.py", "service/console/early.py"),
        "core/support/regex.py",
        "service/console/render.py",
    ],
}


@cache
def modules() -> Mapping[str, str]:
    """Return why each module reads text: the libraries that it imports, or the first function of a text."""
    found = {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text("utf-8")) for path in files()}
    of_users = {name: tree for name, tree in found.items() if not name.startswith(OF_OPERATORS)}
    return {name: reason for name, tree in of_users.items() if name[-11:] != "commands.py" and (reason := why(tree))}


def run() -> set[str]:
    """Return the modules that readers run, with short texts."""
    seen: set[str] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            seen.add(frame.f_code.co_filename)

    texts = [*EXAMPLES, *(family(60) for family in [*FAMILIES.values()][::8])]
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        for reader in (*READERS, *OF_WORKERS):
            for text in texts:
                reader.call(text[: reader.top])
    finally:
        sys.setprofile(before)
    return {os.path.relpath(os.path.realpath(path), ROOT) for path in seen}


EXAMPLES = (
    "On Monday Ann Lee moved to Turku. She always prefers tea, doesn't she?",
    "import a from 'b';\nclass A { int f(int b) { return c(b); } }\n",
    "def f(a: list[int]) -> str:\n    return g(a)\n",
)


def why(tree: ast.Module) -> str:
    libraries = sorted({name for node in ast.walk(tree) for name in _imported(node) if name in LIBRARIES})
    if libraries:
        return ", ".join(libraries)
    return next((node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and _takes_text(node)), "")


def _imported(node: ast.AST) -> Iterator[str]:
    names: Sequence[str] = ()
    match node:
        case ast.Import():
            names = [one.name for one in node.names]
        case ast.ImportFrom(module=str(name), level=0):
            names = [name]
        case ast.Call(func=ast.Name(id="import_module"), args=[ast.Constant(value=str(name)), *_]):
            names = [name]
        case _:
            pass
    yield from (name.partition(".")[0] for name in names)


def _takes_text(function: ast.FunctionDef) -> bool:
    given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return any(one.arg in TEXTS and one.annotation and ast.unparse(one.annotation) in KINDS for one in given)
