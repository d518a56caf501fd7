"""Judged data for contexts: questions with their candidates, and how much of the evidence a choice keeps."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from loadtests.quality.packing import Asked, Kept
from muisti.core.conversations.context.choosing import candidate
from muisti.core.conversations.context.counting import USUAL, counter
from muisti.core.conversations.context.weights import body, measure
from muisti.core.databases import open_file
from muisti.core.embedding.encoder import Encoder
from muisti.core.engine import Engine
from muisti.core.model.context import Context
from muisti.core.model.spaces import CONTENT_ONLY
from muisti.core.model.times import system_clock, to_us
from muisti.core.model.values import Draft, Memory
from muisti.core.text.sentences import pieces
from muisti.core.text.terms import query_terms, tokenize
from muisti.core.views.read import Request
from muisti.service.evaluation.dataset import Dataset, Document, Query
from muisti.service.evaluation.run import BATCH_MEMORIES, as_memory, latest_time
from muisti.service.runtime.models import thresholds_of
from muisti.service.settings import Settings

# Groups on which constants of the packing were chosen; of other data every other group, by name.
TUNED: Mapping[str, frozenset[str]] = {
    "locomo": frozenset({"conv-26", "conv-30", "conv-41"}),
    "beam100k": frozenset(f"beam100k_{number}" for number in range(1, 6)),
}
MOST = 4_000  # tokens; as many candidates as for this budget


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A judged question: its candidates, the ids of relevant memories by document, and the words of the answer."""

    query: Query
    asked: Asked
    relevant: Mapping[str, frozenset[str]]
    answer: frozenset[str]


@dataclass(frozen=True, slots=True)
class Share:
    """The share of the evidence that is kept: `whole`, `credit`, and the share of the answer's words."""

    whole: float
    credit: float
    words: float


def is_tuned(dataset: Dataset, group: str) -> bool:
    """Return whether a group belongs to the tuning half of its data."""
    own = TUNED.get(dataset.name)
    return group in own if own is not None else sorted(dataset.documents).index(group) % 2 == 0


def groups(dataset: Dataset, half: str) -> list[str]:
    """Return the groups with questions of a half: `tune`, `report` or `all`."""
    every = [group for group, queries in dataset.queries.items() if queries]
    return [group for group in every if half == "all" or is_tuned(dataset, group) == (half == "tune")]


@contextmanager
def opened(encoder: Encoder) -> Iterator[Engine]:
    """Open an engine on a database of its own."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Engine(
            open_file(Path(folder) / "context.db"), encoder, system_clock, calibration=thresholds_of(Settings())
        ) as engine,
    ):
        yield engine


def store(engine: Engine, space: str, documents: Sequence[Document]) -> list[tuple[Memory, Document]]:
    """Store documents in a new space, as they are judged: by their content alone."""
    engine.spaces.create(space, CONTENT_ONLY)
    engine.spaces.set_policy(space, {"secrets": "allow", "personal_data": "allow"})
    stored: list[tuple[Memory, Document]] = []
    for start in range(0, len(documents), BATCH_MEMORIES):
        batch = documents[start : start + BATCH_MEMORIES]
        drafts = [_draft(document) for document in batch]
        stored += zip(engine.owner.write.add(space, drafts, on_conflict="keep").memories, batch, strict=True)
    return stored


def _draft(document: Document) -> Draft:
    fields = as_memory(document, [])
    at = fields.pop("event_at", None)
    return Draft(**fields, event_at=None if at is None else datetime.fromisoformat(at))


def questions(engine: Engine, dataset: Dataset, group: str, space: str) -> Iterator[Question]:
    """Store a group in a space of its own, and yield its questions."""
    documents = dataset.documents[group]
    stored = store(engine, space, documents)
    counts = counter(USUAL)
    conversation = {
        memory.id: candidate(memory, 0.0, measure(body(memory.content), counts), counts) for memory, _ in stored
    }
    of: dict[str, set[str]] = {}
    for memory, document in stored:
        of.setdefault(document.id, set()).add(memory.id)
    latest = latest_time(documents)
    for query in dataset.queries.get(group, ()):
        request = Request(
            query=query.text,
            token_budget=MOST,
            encoding=USUAL,
            no_touch=True,
            reference_time=None if latest is None else to_us(latest),
        )
        yield Question(
            query=query,
            asked=Asked(
                candidates=engine.owner.context.candidates(space, request),
                conversation=conversation,
                counter=counts,
                context=partial(_context, engine, space, request),
            ),
            relevant={one: frozenset(of[one]) for one in dataset.qrels[query.id] if one in of},
            answer=frozenset(query_terms(query.answer)) if query.answer else frozenset(),
        )


def _context(engine: Engine, space: str, request: Request, budget: int) -> Context:
    return engine.owner.context.build(space, replace(request, token_budget=budget))


def judged(question: Question, kept: Kept) -> Share:
    """Return how much a choice keeps. Of a memory that is cut, the share of the answer's words that it still has."""
    every = question.asked.conversation
    whole = credit = 0.0
    for ids in question.relevant.values():
        shares = [_share(question.answer, every[id_].memory.content, kept[id_]) for id_ in ids if id_ in kept]
        credit += max(shares, default=0.0)
        whole += any(kept.get(id_) == body(every[id_].memory.content) for id_ in ids)
    words = frozenset(term for shown in kept.values() for term in tokenize(shown))
    held = len(question.answer & words) / len(question.answer) if question.answer else float("nan")
    number = max(len(question.relevant), 1)
    return Share(whole / number, credit / number, held)


def best_piece(content: str, answer: frozenset[str]) -> str:
    """Return the piece of a content that has most words of the answer, the first of equals."""
    text = body(content)
    found = [text[piece.start : piece.stop] for piece in pieces(text)]
    counts = [len(answer.intersection(tokenize(piece))) for piece in found]
    return found[int(np.argmax(counts))] if found else ""


def _share(answer: frozenset[str], content: str, shown: str) -> float:
    """Return the share of the answer's words in a content that are shown; of none, whether its best piece is."""
    whole = body(content)
    if shown == whole:
        return 1.0
    had = answer.intersection(tokenize(whole))
    return len(had.intersection(tokenize(shown))) / len(had) if had else float(best_piece(content, answer) in shown)
