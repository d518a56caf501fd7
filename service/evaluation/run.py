"""Load judged data into spaces of a service, ask its queries, and judge the rankings."""

import random
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from muisti.client import calls
from muisti.core.model.choices import OFF
from muisti.core.model.hits import LATER
from muisti.core.model.values import NAME_MAX, QUERY_MAX
from muisti.core.text.terms import tokenize
from muisti.service.evaluation.dataset import Dataset, DatasetError, Document, Query
from muisti.service.evaluation.metrics import Result, Run, judge
from muisti.service.terminal.client import ApiError, Client, Reply, Unreachable

PREFIX = "eval"
LIMIT = 10  # the metrics look no deeper
BATCH_MEMORIES = 500
BATCH_CHARACTERS = 2_000_000  # below the body limit even when every character takes four bytes
PATIENCE = 300.0  # seconds without any progress after which the wait for vectors ends
PAUSE = 0.2  # seconds between two looks
CONTENT_ONLY = {"lexical_weights": {"content": 1.0}, "embedded_fields": ["content"]}

Progress = Callable[[str, int, int], None]
"""Called with the name of a stage, the number of its steps that are done, and their total."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The mode and the parameters of all searches of a run. None means the default of the service."""

    mode: str
    fusion: str | None = None
    alpha: float | None = None

    @property
    def name(self) -> str:
        """The name of a run, which distinguishes it from others over the same data.

        >>> Plan(mode="hybrid", fusion="rrf").name
        'hybrid:rrf'
        """
        alpha = None if self.alpha is None else f"{self.alpha:g}"
        return ":".join(part for part in (self.mode, self.fusion, alpha) if part)

    def body(self, query: str, limit: int) -> dict[str, Any]:
        given = {"query": query, "limit": limit, "mode": self.mode, "fusion": self.fusion, "alpha": self.alpha}
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Stored:
    """A dataset in a service: the space of each group, and the document that each memory holds."""

    dataset: Dataset
    spaces: Mapping[str, str]
    documents: Mapping[str, Document]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lost:
    """A document that its own text did not find first; `first` is what it found, None for nothing."""

    id: str
    first: str | None


@contextmanager
def stored(client: Client, dataset: Dataset, progress: Progress) -> Iterator[Stored]:
    """Store a dataset in spaces of its own, one for each group; the spaces are deleted when the context ends."""
    run = secrets.token_hex(4)
    spaces = {group: f"{PREFIX}-{run}-{number}" for number, group in enumerate(dataset.documents, start=1)}
    made: list[str] = []
    try:
        documents: dict[str, Document] = {}
        notes: list[str] = []
        total = sum(len(found) for found in dataset.documents.values())
        for group, space in spaces.items():
            made.append(space)  # first: an answer that is lost may have made it
            client.send(calls.create_space({"name": space, "settings": CONTENT_ONLY}))
            # Judged as it was written.
            client.send(calls.set_policy(space, {"secrets": "allow", "personal_data": "allow"}))
            for batch in _batches(dataset.documents[group]):
                documents |= _store(client, space, batch, notes)
                progress("storing", len(documents), total)
        wait_for_vectors(client, spaces.values(), progress)
        yield Stored(dataset, spaces, documents, tuple(notes))
    finally:
        for number, space in enumerate(made, start=1):
            with suppress(ApiError, Unreachable):  # was never made, or the server is gone: nothing left to do here
                client.send(calls.delete_space(space, confirm=space))
            progress("cleaning up", number, len(made))


def wait_for_vectors(client: Client, spaces: Iterable[str], progress: Progress, patience: float = PATIENCE) -> None:
    """Wait until searches in each space lack no vectors that are to follow, also those of a second model.

    Raises:
        DatasetError: nothing has followed for `patience` seconds.
    """
    named = list(spaces)
    second = client.send(calls.get_readiness()).data["embeddings"]["second"] != OFF
    for number, space in enumerate(named, start=1):
        progress("embedding", number, len(named))
        _wait(lambda space=space: _lacking(client, space), patience)
        if second:
            _wait(lambda space=space: _lacking_second(client, space), patience)


def _wait(lacking: Callable[[], str | None], patience: float) -> None:
    """Wait until nothing is `lacking`, which says in words what is; its words change while the work goes on."""
    seen, until = "", time.monotonic() + patience
    while (lacks := lacking()) is not None:
        if lacks != seen:
            seen, until = lacks, time.monotonic() + patience
        if time.monotonic() > until:
            raise DatasetError(f"the vectors do not come: {lacks}")
        time.sleep(PAUSE)


def _lacking(client: Client, space: str) -> str | None:
    """Return what a search lacks that is to follow, None for nothing."""
    found = client.send(calls.search(space, {"query": "a", "mode": "semantic", "limit": 1})).data["degraded"]
    return next((reason for reason in found if LATER in reason), None)


def _lacking_second(client: Client, space: str) -> str | None:
    """Return how many passages of a space lack vectors of its second model, None for no passage."""
    found = client.send(calls.list_generations(space)).data["items"]
    second = [one for one in found if one["role"] == "second"]
    if not second:
        return f"space {space!r} has no second model yet" if any(one["passages"] for one in found) else None
    missing = second[0]["missing"]
    return f"{missing:,} passages have no vector of the second model" if missing else None


def measure(client: Client, held: Stored, plan: Plan, progress: Progress) -> tuple[Run, tuple[str, ...]]:
    """Ask every query in its own group; return the run, and the reasons of degraded answers.

    The first query of a group is asked once before it is timed, so that loading an index is not taken for searching.
    Time words ("last week") count from the latest time of the group's documents, where they have one.
    """
    latest = {held.spaces[group]: reference(found) for group, found in held.dataset.documents.items()}
    asked = [(space, query) for group, space in held.spaces.items() for query in held.dataset.queries.get(group, ())]
    warm = set[str]()
    results: list[Result] = []
    degraded: dict[str, None] = {}
    for number, (space, query) in enumerate(asked, start=1):
        body = plan.body(query.text, LIMIT) | latest[space]
        if space not in warm:
            client.send(calls.search(space, body))
            warm.add(space)
        started = time.perf_counter()
        reply = client.send(calls.search(space, body))
        results.append(_judged(held, query, reply, (time.perf_counter() - started) * 1e3))
        degraded |= dict.fromkeys(reply.data["degraded"])
        progress(plan.name, number, len(asked))
    return Run(dataset=held.dataset.name, mode=plan.name, queries=tuple(results)), tuple(degraded)


def find_lost(client: Client, held: Stored, progress: Progress) -> tuple[int, list[Lost]]:
    """Search every stored text by keyword, with itself as the query. Return the number of texts, and those not found.

    A text is found when it ranks first, or another memory with the same words: words alone cannot distinguish them. A
    text that is longer than a query may be is cut.
    """
    lost: list[Lost] = []
    parts = [(held.spaces[group], part) for group, found in held.dataset.documents.items() for part in found]
    for number, (space, part) in enumerate(parts, start=1):
        hits = client.send(calls.search(space, Plan(mode="keyword").body(part.text[:QUERY_MAX], 1))).data["hits"]
        first = held.documents[hits[0]["memory"]["id"]] if hits else None
        if first is None or (first.id != part.id and _words(first.text) != _words(part.text)):
            lost.append(Lost(part.id, first.id if first else None))
        progress("every text by itself", number, len(parts))
    return len(parts), lost


def sample(dataset: Dataset, size: int, *, seed: int = 0) -> Dataset:
    """Return the dataset with at most `size` of its queries, the same ones every time."""
    every = [query for queries in dataset.queries.values() for query in queries]
    kept = {query.id for query in random.Random(seed).sample(every, min(size, len(every)))}
    chosen = {group: tuple(q for q in queries if q.id in kept) for group, queries in dataset.queries.items()}
    return replace(dataset, queries=chosen)


def as_memory(document: Document, notes: list[str]) -> dict[str, Any]:
    """Turn a document into a memory: dialogue, speaker and time in their fields, the id as its source."""
    meta = document.meta
    metadata = {name: meta[name] for name in ("session", "turn") if isinstance(meta.get(name), str | int | float)}
    if document.part:
        metadata["part"] = document.part
    memory: dict[str, Any] = {"content": document.text, "metadata": metadata}
    if len(document.id) <= NAME_MAX:
        memory["source"] = document.id
    speaker = meta.get("speaker")
    if isinstance(speaker, str) and speaker.strip():
        memory["author"] = speaker[:NAME_MAX]
    if meta.get("timestamp"):
        at = _event_at(document)
        if at is None:
            notes.append(f"document {document.id}: the timestamp {str(meta['timestamp'])[:40]!r} is none; left out")
        else:
            memory["event_at"] = at.isoformat()
    return memory


def _event_at(document: Document) -> datetime | None:
    """Return the document's time, in UTC where it names no zone; None when it has no readable time."""
    try:
        at = datetime.fromisoformat(str(document.meta.get("timestamp")))
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def latest_time(documents: Sequence[Document]) -> datetime | None:
    """Return the latest time of a group, from which its searches measure age; None for a group without times."""
    return max((at for document in documents if (at := _event_at(document)) is not None), default=None)


def reference(documents: Sequence[Document]) -> dict[str, str]:
    """Return the `reference_time` of a group, for the body of its searches; empty for a group without times."""
    latest = latest_time(documents)
    return {} if latest is None else {"reference_time": latest.isoformat()}


def _batches(documents: Sequence[Document]) -> Iterator[list[Document]]:
    batch: list[Document] = []
    size = 0
    for document in documents:
        if batch and (len(batch) == BATCH_MEMORIES or size + len(document.text) > BATCH_CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(document)
        size += len(document.text)
    if batch:
        yield batch


def _store(client: Client, space: str, batch: Sequence[Document], notes: list[str]) -> dict[str, Document]:
    body = {"memories": [as_memory(document, notes) for document in batch]}
    reply = client.send(calls.add_memories(space, body, atomic=True, on_conflict="keep"))
    return {item["id"]: document for item, document in zip(reply.data["items"], batch, strict=True)}


def _judged(held: Stored, query: Query, reply: Reply, elapsed: float) -> Result:
    ranked = [held.documents[hit["memory"]["id"]].id for hit in reply.data["hits"]]
    measured = _milliseconds(reply.headers)
    ms = elapsed if measured is None else measured
    relevant = held.dataset.qrels[query.id]
    return judge(ranked, relevant, id=query.id, group=query.group, category=query.category, ms=ms)


def _milliseconds(headers: Mapping[str, str]) -> float | None:
    """Return the time that the server took, from `Server-Timing`: its `total`, else the sum; None when it tells none.

    >>> _milliseconds({"Server-Timing": "embed;dur=0.5, total;dur=2.5"})
    2.5
    """
    times: dict[str, float] = {}
    for entry in headers.get("Server-Timing", "").split(","):
        name, *parameters = (part.strip() for part in entry.split(";"))
        for parameter in parameters:
            if parameter.startswith("dur="):
                times[name] = float(parameter.removeprefix("dur="))
    return times.get("total", sum(times.values())) if times else None


def _words(text: str) -> Counter[str]:
    return Counter(tokenize(text))
