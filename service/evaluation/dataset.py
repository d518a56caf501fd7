"""Judged data: a folder of documents, queries, and which documents answer which query.

    corpus.jsonl    {"id", "text", "group", "meta"}     `group` is "all" when missing, `meta` may be missing
    queries.jsonl   {"id", "text", "group", "category"}
    qrels.tsv       query-id, corpus-id, score          with this header; a score above 0 is relevant, more is better

Other fields are allowed. A query is asked within its own group.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from muisti.core.model.choices import CONTENT_MAX
from muisti.core.model.values import QUERY_MAX

HEADER = ["query-id", "corpus-id", "score"]
SPLIT_WITHIN = 5_000  # characters before the limit in which a good place to split is looked for

_PLACES = (re.compile(r"\n\s*\n"), re.compile(r"\n"), re.compile(r"[.!?]\s+|[。！？]"), re.compile(r"\s"))


class DatasetError(Exception):
    """The folder is not in the format. The message names the file, and the line where there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A text to store. A long document is stored as several parts (0, 1, …), which share its judged `id`."""

    id: str
    part: int
    text: str
    meta: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A text to search for, within the documents of its group; `answer` is the expected one, empty if not given."""

    id: str
    text: str
    group: str
    category: str
    answer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Documents and queries by group, relevance (above 0) by query and document, and what was not taken as it is.

    A group has documents; it may have no queries. `notes` are sentences for the user: skipped, split, shortened.
    A ranking of parts becomes one of documents by keeping the first of each id; the metrics do so.
    """

    name: str
    documents: Mapping[str, tuple[Document, ...]]
    queries: Mapping[str, tuple[Query, ...]]
    qrels: Mapping[str, Mapping[str, float]]
    notes: tuple[str, ...]


class _Text(msgspec.Struct):
    id: str | int
    text: str
    group: str | int = "all"
    category: str | None = None
    meta: dict[str, Any] | None = None
    answer: Any = None


@dataclass(frozen=True, slots=True)
class _Line:
    """A record with its file and its line number."""

    path: Path
    number: int
    id: str
    group: str
    record: _Text


def load(folder: Path) -> Dataset:
    """Read a folder.

    Raises:
        DatasetError: a file is missing or unreadable, or a line is not as it should be.
    """
    corpus, asked = _texts(folder / "corpus.jsonl"), _texts(folder / "queries.jsonl")
    qrels = _qrels(folder / "qrels.tsv", corpus, asked)
    notes: list[str] = []
    documents: dict[str, list[Document]] = {}
    for line in corpus.values():
        documents.setdefault(line.group, []).extend(_documents(line, notes))
    queries: dict[str, list[Query]] = {}
    for line in asked.values():
        queries.setdefault(line.group, []).extend(_queries(line, qrels, notes))
    if not any(queries.values()):
        raise DatasetError(f"{folder}: no query has a relevant document")
    return Dataset(
        name=folder.resolve().name,
        documents={group: tuple(found) for group, found in documents.items() if found},
        queries={group: tuple(found) for group, found in queries.items() if found},
        qrels={query: judged for query, judged in qrels.items() if judged},
        notes=tuple(notes),
    )


def split(text: str, limit: int = CONTENT_MAX) -> list[str]:
    """Pieces of at most `limit` characters that join back to `text`, cut after paragraphs, lines or sentences.

    >>> split("One. Two. Three.", limit=10)
    ['One. Two. ', 'Three.']
    """
    pieces: list[str] = []
    while len(text) > limit:
        window = max(limit - SPLIT_WITHIN, limit // 2)
        ends = (max((m.end() for m in place.finditer(text, window, limit)), default=0) for place in _PLACES)
        cut = next((end for end in ends if end), limit)
        pieces.append(text[:cut])
        text = text[cut:]
    return [*pieces, text]


def _documents(line: _Line, notes: list[str]) -> list[Document]:
    parts = [part for part in split(line.record.text) if part.strip()]
    if not parts:
        notes.append(f"document {line.id} is empty and was skipped")
    elif len(line.record.text) > CONTENT_MAX:
        notes.append(f"document {line.id} has {len(line.record.text):,} characters and was split into {len(parts)}")
    meta = line.record.meta or {}
    return [Document(id=line.id, part=number, text=part, meta=meta) for number, part in enumerate(parts)]


def _queries(line: _Line, qrels: Mapping[str, Mapping[str, float]], notes: list[str]) -> list[Query]:
    text = line.record.text
    if not text.strip():
        notes.append(f"query {line.id} is empty and was skipped")
        return []
    if not qrels.get(line.id):
        notes.append(f"query {line.id} has no relevant document and was skipped")
        return []
    if len(text) > QUERY_MAX:
        notes.append(f"query {line.id} has {len(text):,} characters and was shortened to {QUERY_MAX:,}")
    answer = "" if line.record.answer is None else str(line.record.answer)
    category = line.record.category or ""
    return [Query(id=line.id, text=text[:QUERY_MAX], group=line.group, category=category, answer=answer)]


def _texts(path: Path) -> dict[str, _Line]:
    found: dict[str, _Line] = {}
    for number, raw in _lines(path):
        record = _decoded(path, number, raw)
        line = _Line(path, number, str(record.id), str(record.group), record)
        if line.id in found:
            raise DatasetError(f"{path}:{number}: id {line.id!r} is taken by line {found[line.id].number}")
        if "\0" in record.text:
            raise DatasetError(f"{path}:{number}: the text of {line.id!r} has a NUL character, which nothing can store")
        found[line.id] = line
    if not found:
        raise DatasetError(f"{path}: is empty")
    return found


def _decoded(path: Path, number: int, raw: bytes) -> _Text:
    try:
        return msgspec.json.decode(raw, type=_Text)
    except ValueError as error:  # bad JSON, bad UTF-8, or a field of another type
        raise DatasetError(f"{path}:{number}: {error}") from error


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Lines with their numbers, from 1, without empty ones."""
    try:
        lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    except OSError as error:
        raise DatasetError(f"{path}: cannot be read: {error.strerror}") from error
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield number, line.rstrip(b"\r")


def _qrels(path: Path, corpus: Mapping[str, _Line], asked: Mapping[str, _Line]) -> dict[str, dict[str, float]]:
    """Relevance by query and document, all judgements read, those above 0 kept."""
    lines = _lines(path)
    _, header = next(lines, (1, b""))
    if header.decode("utf-8", "replace").strip().lower().split("\t") != HEADER:
        raise DatasetError(f"{path}:1: expected the header {' '.join(HEADER)}, with tabs between")
    judged: dict[tuple[str, str], float] = {}
    for number, raw in lines:
        query, document, score = _judgement(path, number, raw)
        if query not in asked:
            raise DatasetError(f"{path}:{number}: there is no query {query!r}")
        if document not in corpus:
            raise DatasetError(f"{path}:{number}: there is no document {document!r}")
        if score > 0 and asked[query].group != corpus[document].group:
            raise DatasetError(f"{path}:{number}: query {query!r} and document {document!r} are of different groups")
        if judged.setdefault((query, document), score) != score:
            raise DatasetError(f"{path}:{number}: query {query!r} and document {document!r} are judged already, unlike")
    kept: dict[str, dict[str, float]] = {}
    for (query, document), score in judged.items():
        if score > 0:
            kept.setdefault(query, {})[document] = score
    return kept


def _judgement(path: Path, number: int, raw: bytes) -> tuple[str, str, float]:
    try:
        query, document, score = raw.decode("utf-8").split("\t")
        gain = float(score)
    except ValueError as error:
        raise DatasetError(f"{path}:{number}: expected a query, a document and a number, with tabs between") from error
    if not math.isfinite(gain):
        raise DatasetError(f"{path}:{number}: the score is {score}; expected a finite number")
    return query, document, gain
