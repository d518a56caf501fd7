"""Measure the search for code by questions: code as plain text beside code with headers, in the same store and model.

    python -m loadtests.quality.code_search DATA [--half tuning|report|all]

DATA is a folder of judged data whose documents are functions of Python. They are stored as documents of one chunk,
once as plain text and once as code, with their docstrings and without. Questions belong to one of two halves by a hash
of their ids. Constants were chosen on the half `tuning`. The half `report` is for reporting. A gain has its interval of
95 %, by a paired bootstrap over the questions.
"""

import argparse
import ast
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
from rich.console import Console
from rich.table import Table

from loadtests.quality.contexts import opened
from muisti.core.documents.model import FileFacts, NewDocument
from muisti.core.documents.view import TOGETHER, Cuts, Incoming
from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.engine import Engine
from muisti.core.model.spaces import CONTENT_ONLY
from muisti.core.parsing.pieces import Cut
from muisti.core.query import filters
from muisti.core.query.query import Query
from muisti.service.evaluation.dataset import load
from muisti.service.evaluation.metrics import bootstrap, ndcg, recall

LANGUAGE, ENDING = "python", ".py"
RESAMPLES = 10_000


def without_docstrings(code: str) -> str:
    """Return code of Python without its docstrings; code that Python does not parse stays as it is."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return code
    lines = code.split("\n")
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef) or not node.body:
            continue
        first = node.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            for number in range(first.lineno - 1, first.end_lineno or first.lineno):
                lines[number] = ""
    return "\n".join(line for line in lines if line.strip())


def half_of(query: str) -> str:
    """Return the half that a question belongs to."""
    return "tuning" if crc32(query.encode()) % 2 else "report"


def store(engine: Engine, space: str, texts: Mapping[str, str], language: str | None) -> None:
    """Store each text as a document of one chunk."""
    engine.spaces.create(space, CONTENT_ONLY)
    engine.spaces.set_policy(space, {"secrets": "allow", "personal_data": "allow"})
    paths = list(texts)
    for start in range(0, len(paths), TOGETHER):
        incoming = [
            Incoming(
                new=NewDocument(
                    path=path + (ENDING if language else ".txt"),
                    facts=FileFacts(sha256=hashlib.sha256(texts[path].encode()).hexdigest(), size=0),
                ),
                cuts=Cuts([Cut(text=texts[path], kind="code", language=language)]),
            )
            for path in paths[start : start + TOGETHER]
        ]
        engine.owner.documents.put(space, incoming)


def ranked(engine: Engine, space: str, question: str) -> list[str]:
    """Return the paths of the documents that are found first."""
    query = Query(text=question, limit=10, filter=filters.parse({"kind": "chunk"}))
    hits = engine.owner.read.search(space, query).hits
    return [str(hit.memory.document).rpartition(".")[0] for hit in hits]


def gain_of(after: Sequence[float], before: Sequence[float]) -> str:
    """Return the mean gain of a measure over questions, with its interval of 95 %."""
    gain = bootstrap(np.subtract(after, before), resamples=RESAMPLES)
    return f"{gain.mean:+.4f} [{gain.low:+.4f}, {gain.high:+.4f}]"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--half", choices=("tuning", "report", "all"), default="all")
    options = parser.parse_args()
    data = load(options.data)
    texts = {one.id: one.text for found in data.documents.values() for one in found}
    questions = [
        one
        for found in data.queries.values()
        for one in found
        if options.half in ("all", half_of(one.id)) and data.qrels.get(one.id)
    ]
    table = Table("docstrings", "stored as", "questions", "nDCG@10", "recall@10", "gain")
    for name, own in (("kept", texts), ("removed", {key: without_docstrings(one) for key, one in texts.items()})):
        plain: list[float] = []
        for stored_as, language in (("plain text", None), ("code", LANGUAGE)):
            with opened(StaticEncoder()) as engine:
                store(engine, "code", own, language)
                found: Sequence[tuple[list[str], Mapping[str, float]]] = [
                    (ranked(engine, "code", one.text), data.qrels[one.id]) for one in questions
                ]
            gains = [ndcg(order, wanted) for order, wanted in found]
            caught = sum(recall(order, wanted, 10) for order, wanted in found) / len(found)
            difference = gain_of(gains, plain) if language else ""
            plain = plain or gains
            table.add_row(name, stored_as, f"{len(found)}", f"{np.mean(gains):.4f}", f"{caught:.4f}", difference)
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
