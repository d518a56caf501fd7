"""Muisti's own server."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from deploy.cluster.ports import free_ports
from loadtests.bed import Bed
from loadtests.checkout import THIS, Checkout
from loadtests.fill import SPACE
from loadtests.http_load import Request
from loadtests.services.process import running
from loadtests.services.service import Running, Service

FILTER = {"metadata.a": {"lt": 10}}


def service(bed: Bed) -> Service:
    path, seconds = bed.database()
    return Service("Muisti", partial(serving, model=bed.model), path, seconds, searches=1_000, writes=400)


@contextmanager
def serving(
    database: Path | str,
    model: str | None = None,
    *,
    workers: int = 1,
    log: Path | None = None,
    code: Checkout = THIS,
    extra: Mapping[str, str] | None = None,
) -> Iterator[Running]:
    """Run a server on `database`, a file or the URL of a database server. With `log` it writes debug logs there.

    `code` is the tree that runs, and `extra` has more settings.
    """
    (port,) = free_ports(1)
    settings = {
        "MUISTI_PORT": str(port),
        "MUISTI_DATABASE_URL": f"file:{database}" if isinstance(database, Path) else database,
        "MUISTI_LOG_FORMAT": "json",
        "MUISTI_LOG_LEVEL": "warning" if log is None else "debug",
        "MUISTI_WORKERS": str(workers),
        "MUISTI_INDEX_MEMORY": "8GB",
        **code.environment,
        **(extra or {}),
    }
    if isinstance(database, str):
        settings["MUISTI_DATABASE_NAMESPACE"] = "default"
    if model is not None:
        settings["MUISTI_MODEL"] = model
    ready = f"http://127.0.0.1:{port}/readyz"
    with running([sys.executable, "-m", code.service], settings, ready, log or Path(os.devnull)) as process:
        yield Running(
            port,
            process.pid,
            lambda question, _: search(question),
            lambda question, _: search(question, filter=FILTER),
            {
                "keep": lambda _number, text, _direction: write(text, "keep"),
                "reject": lambda _number, text, _direction: write(text, "reject"),
            },
        )


def search(question: str, **options: object) -> Request:
    return Request(f"/v1/spaces/{SPACE}/search", json.dumps({"query": question, **options}).encode(), 200)


def context(question: str) -> Request:
    return Request(f"/v1/spaces/{SPACE}/context", json.dumps({"query": question}).encode(), 200)


def write(text: str, on_conflict: str) -> Request:
    body = {"content": text, "on_conflict": on_conflict, "metadata": {"a": 1}}
    return Request(f"/v1/spaces/{SPACE}/memories", json.dumps(body).encode(), 201)
