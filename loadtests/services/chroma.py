"""Chroma's server: `chroma run`, cosine HNSW with its default settings.

It ranks by vectors only and does not encode, so the client sends the question's vector.
"""

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from deploy.cluster.ports import free_ports
from loadtests import http_load
from loadtests.bed import Bed
from loadtests.fill import group_of
from loadtests.http_load import Request
from loadtests.services.process import running
from loadtests.services.service import Direction, Running, Service
from muisti.core.embedding.vectors import Vectors

PROGRAM = Path("build/chroma/bin/chroma")
COLLECTIONS = "/api/v2/tenants/default_tenant/databases/default_database/collections"
NAME = "bench"
BATCH = 2_000


def service(bed: Bed) -> Service | None:
    if not PROGRAM.exists():
        return None
    vectors = bed.vectors()
    data, seconds = bed.embedded.kept("chroma", lambda path: _load(path, bed.texts, vectors))
    return Service("chroma", serving, data, seconds, searches=400, writes=100)


@contextmanager
def serving(data: Path) -> Iterator[Running]:
    with _server(data) as (port, pid):
        found = http_load.run(port, [_collection()], 1).bodies[0]
        base = f"{COLLECTIONS}/{json.loads(found)['id']}"
        yield Running(
            port,
            pid,
            lambda _, direction: _query(base, direction),
            lambda _, direction: _query(base, direction, where={"a": {"$lt": 10}}),
            {"add": lambda number, text, direction: _add(base, [f"new {number}"], [text], direction[None, :], [1])},
        )


def hits(body: bytes) -> list[int]:
    """The memories' numbers in an answer."""
    return [int(found) for found in json.loads(body)["ids"][0] if found.isdigit()]


@contextmanager
def _server(data: Path) -> Iterator[tuple[int, int]]:
    (port,) = free_ports(1)
    command = [str(PROGRAM), "run", "--path", str(data), "--host", "127.0.0.1", "--port", str(port)]
    with running(command, {"ANONYMIZED_TELEMETRY": "False"}, f"http://127.0.0.1:{port}/api/v2/heartbeat") as process:
        yield port, process.pid


def _load(data: Path, texts: Sequence[str], vectors: Vectors) -> None:
    data.mkdir(parents=True)
    with _server(data) as (port, _):
        base = f"{COLLECTIONS}/{json.loads(http_load.run(port, [_collection()], 1).bodies[0])['id']}"
        for batch in range(math.ceil(len(texts) / BATCH)):
            rows = range(batch * BATCH, min((batch + 1) * BATCH, len(texts)))
            ids, groups = [str(row) for row in rows], [group_of(row) for row in rows]
            added = http_load.run(port, [_add(base, ids, [texts[row] for row in rows], vectors[rows], groups)], 1)
            if added.failures:
                raise RuntimeError(f"chroma refused a batch: {added.bodies[0]!r:.200}")


def _collection() -> Request:
    body = {"name": NAME, "get_or_create": True, "configuration": {"hnsw": {"space": "cosine"}}}
    return Request(COLLECTIONS, json.dumps(body).encode(), 200)


def _query(base: str, direction: Direction, **options: object) -> Request:
    body = {
        "query_embeddings": [_rounded(direction)],
        "n_results": 10,
        "include": ["documents", "metadatas", "distances"],
        **options,
    }
    return Request(f"{base}/query", json.dumps(body).encode(), 200)


def _add(base: str, ids: Sequence[str], texts: Sequence[str], vectors: Vectors, groups: Sequence[int]) -> Request:
    body = {
        "ids": ids,
        "documents": texts,
        "embeddings": [_rounded(vector) for vector in vectors],
        "metadatas": [{"a": group} for group in groups],
    }
    return Request(f"{base}/add", json.dumps(body).encode(), 201)


def _rounded(vector: Direction) -> list[float]:
    return [float(value) for value in np.round(vector.astype(np.float64), 7)]
