"""Trains the token table: pairs that belong together attract (InfoNCE), while the teacher is imitated."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from deploy.model.adam import Adam
from deploy.model.losses import contrast, imitate_cosine, imitate_similarity
from deploy.model.pooling import Matrix, Pooled, pool, unpool, weighted
from deploy.model.values import Kind

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class PairCounts:
    """Token counts (as roots) of queries and documents, row by row belonging together."""

    queries: sp.csr_array
    documents: sp.csr_array


def stack(parts: list[PairCounts]) -> PairCounts:
    return PairCounts(
        sp.vstack([part.queries for part in parts], format="csr"),
        sp.vstack([part.documents for part in parts], format="csr"),
    )


@dataclass(frozen=True, slots=True)
class Lessons:
    """Pairs whose both sides the teacher has embedded; vectors are centred, of unit length."""

    counts: PairCounts
    queries: Matrix
    documents: Matrix


@dataclass(frozen=True, slots=True)
class Plan:
    """Plan of a training. The shares say how often a batch is of a kind."""

    warm_steps: int  # by the teacher alone
    steps: int
    rate: float
    ramp: int = 50
    batch: int = 1024
    lesson_batch: int = 512
    temperature: float = 0.05
    imitation: float = 2.0  # weight of the teacher's losses beside InfoNCE
    similarity: float = 0.2  # weight of KL beside the cosine
    query_rate: float = 1.0  # of the query weights, times `rate`; 0 keeps them at 1
    shares: dict[Kind, float] = field(
        default_factory=lambda: {
            Kind.CODE: 0.24,
            Kind.DOCUMENTATION: 0.22,
            Kind.LEXICON: 0.12,
            Kind.DIALOGUE: 0.15,
            Kind.QUESTION: 0.25,
            Kind.PREFERENCE: 0.02,
        }
    )


@dataclass(slots=True)
class Student:
    """Trained parameters: the table, and the logarithm of each token's weight in a query relative to a document."""

    table: Matrix
    log_weights: npt.NDArray[np.float32]

    @property
    def query_weights(self) -> npt.NDArray[np.float32]:
        return np.exp(self.log_weights)


class Trainer:
    def __init__(
        self, student: Student, pairs: dict[Kind, PairCounts], lessons: Lessons, plan: Plan, seed: int
    ) -> None:
        self._student, self._pairs, self._lessons, self._plan = student, pairs, lessons, plan
        self._chance = np.random.default_rng(seed)
        self._table = Adam(student.table)
        self._weights = Adam(student.log_weights)

    def run(self, progress: Progress, after: Callable[[int], None] | None = None) -> None:
        total = self._plan.warm_steps + self._plan.steps
        began = time.monotonic()
        smooth = 0.0
        for step in range(total):
            contrastive = step >= self._plan.warm_steps
            loss = self._step(self._rate(step), contrastive)
            smooth = loss if step in (0, self._plan.warm_steps) else 0.98 * smooth + 0.02 * loss
            if (step + 1) % 50 == 0:
                progress(f"  step {step + 1}/{total}, loss {smooth:.3f}, {time.monotonic() - began:.0f} s")
                if after:
                    after(step + 1)

    def _rate(self, step: int) -> float:
        """Ramps up, then falls linearly to 0, in each of the two parts."""
        part, length = step, self._plan.warm_steps
        if step >= self._plan.warm_steps:
            part, length = step - self._plan.warm_steps, self._plan.steps
        return self._plan.rate * min((part + 1) / self._plan.ramp, 1 - part / length)

    def _step(self, rate: float, contrastive: bool) -> float:
        taught, gradients = self._imitate()
        loss = taught * self._plan.imitation
        if contrastive:
            contrasted, more = self._contrast()
            loss += contrasted
            gradients += more
        self._apply(gradients, rate)
        return loss

    def _contrast(self) -> tuple[float, list[tuple[bool, Pooled, Matrix]]]:
        pairs = self._pairs[self._draw_kind()]
        rows = self._chance.choice(pairs.queries.shape[0], min(self._plan.batch, pairs.queries.shape[0]), replace=False)
        queries = self._query(pairs.queries[rows])
        documents = pool(pairs.documents[rows], self._student.table)
        loss, left, right = contrast(queries.units, documents.units, self._plan.temperature)
        return loss, [(True, queries, left), (False, documents, right)]

    def _imitate(self) -> tuple[float, list[tuple[bool, Pooled, Matrix]]]:
        lessons, plan = self._lessons, self._plan
        rows = self._chance.choice(len(lessons.queries), plan.lesson_batch, replace=False)
        queries = self._query(lessons.counts.queries[rows])
        documents = pool(lessons.counts.documents[rows], self._student.table)
        teacher_queries, teacher_documents = lessons.queries[rows], lessons.documents[rows]
        loss_q, grad_q = imitate_cosine(queries.units, teacher_queries)
        loss_d, grad_d = imitate_cosine(documents.units, teacher_documents)
        target = teacher_queries @ teacher_documents.T
        loss_a, left_a, right_a = imitate_similarity(queries.units, documents.units, target, plan.temperature)
        loss_b, right_b, left_b = imitate_similarity(documents.units, queries.units, target.T, plan.temperature)
        share = plan.similarity
        grad_q = plan.imitation * (grad_q + share * (left_a + left_b))
        grad_d = plan.imitation * (grad_d + share * (right_a + right_b))
        return loss_q + loss_d + share * (loss_a + loss_b), [(True, queries, grad_q), (False, documents, grad_d)]

    def _query(self, counts: sp.csr_array) -> Pooled:
        return pool(weighted(counts, self._student.query_weights), self._student.table)

    def _apply(self, gradients: list[tuple[bool, Pooled, Matrix]], rate: float) -> None:
        asked = _to_table([(pooled, gradient) for query, pooled, gradient in gradients if query])
        told = _to_table([(pooled, gradient) for query, pooled, gradient in gradients if not query])
        if self._plan.query_rate:
            along = np.einsum("td,td->t", asked, self._student.table)
            self._weights.step(along, rate * self._plan.query_rate)
        self._table.step(asked + told, rate)

    def _draw_kind(self) -> Kind:
        kinds = [kind for kind in self._plan.shares if kind in self._pairs]
        shares = np.array([self._plan.shares[kind] for kind in kinds])
        return kinds[self._chance.choice(len(kinds), p=shares / shares.sum())]


def _to_table(parts: list[tuple[Pooled, Matrix]]) -> Matrix:
    counts = sp.vstack([pooled.counts for pooled, _ in parts], format="csr")
    return counts.T @ np.concatenate([unpool(pooled, gradient) for pooled, gradient in parts])
