"""The two long stages: lessons from the teacher, and training. Each reads what it needs from the build folder."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from tokenizers import Tokenizer

from deploy.model import export, lessons, start
from deploy.model.ancestor import ancestor_table
from deploy.model.export import Arrays
from deploy.model.lessons import Lesson
from deploy.model.packages import Source
from deploy.model.pooling import Matrix, repeats_as_roots
from deploy.model.progress import say
from deploy.model.teacher import Teacher, read_tokenizer
from deploy.model.train import Lessons, PairCounts, Plan, Student, Trainer
from deploy.model.values import Kind, Pair
from deploy.model.vocabulary import count_tokens, frequent_words, student_tokenizer

# Pairs of one source and kind that are trained on: more of the same would crowd out the rest.
MOST, MOST_OF = 16_000, {"chitchat": 24_000, "wordnet": 50_000, "plain": 4_000, "python": 1_200}
WORDS = 8_000  # that become tokens of their own
QUERY_TOKENS, DOCUMENT_TOKENS = 64, 220
WHITENED_BY = 8_000  # pairs of each kind
# How to train and how strongly to whiten. The ancestor is whitened already.
CONTINUED = Plan(warm_steps=50, steps=600, rate=1e-3), 0.0
FROM_SCRATCH = Plan(warm_steps=300, steps=650, rate=3e-3), 0.1

Pairs = Mapping[Source, list[Pair]]


@dataclass(frozen=True, slots=True)
class Build:
    """Where stages rest. Without decontamination they rest apart, so that no clean build takes them up."""

    folder: Path
    threads: int
    seed: int
    decontaminated: bool
    from_scratch: bool  # not from the ancestor

    @property
    def downloads(self) -> Path:
        folder = self.folder / "downloads"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    @property
    def pairs(self) -> Path:
        return self.folder / ("pairs" if self.decontaminated else "pairs-contaminated")

    @property
    def lessons(self) -> Path:
        return self.folder / ("lessons" if self.decontaminated else "lessons-contaminated")


@dataclass(frozen=True, slots=True)
class Trained:
    arrays: Arrays
    tokenizer: Tokenizer
    pairs: int  # that it was trained on


def teach(build: Build, pairs: Pairs) -> Lesson:
    teacher = Teacher(build.downloads, build.threads)
    taught: list[Lesson] = []
    for source, found in pairs.items():
        taught.append(lessons.teach(source, found, teacher, build.lessons))
        say(f"  {source.name}: {len(taught[-1].pairs)} pairs")
    return lessons.join(taught)


def train_student(build: Build, pairs: Pairs, lesson: Lesson) -> Trained:
    of_teacher = read_tokenizer(build.downloads)
    chosen = to_train_on(pairs)
    tokenizer = student_tokenizer(of_teacher, _words(of_teacher, chosen))
    counted = {kind: count_pairs(tokenizer, found, QUERY_TOKENS, DOCUMENT_TOKENS) for kind, found in chosen.items()}
    taught = count_pairs(tokenizer, lesson.pairs, lessons.TOKENS, lessons.TOKENS)
    mean, axes = start.teaching_axes(np.concatenate([lesson.queries, lesson.documents]))
    shares = start.token_shares([part.documents for part in counted.values()])
    teaching = Lessons(taught, start.unit((lesson.queries - mean) @ axes), start.unit((lesson.documents - mean) @ axes))
    texts = sp.vstack([taught.queries, taught.documents], format="csr")
    targets = np.concatenate([teaching.queries, teaching.documents])
    if build.from_scratch:
        table = start.start_table(_token_vectors(build, of_teacher, tokenizer), shares, texts, targets)
    else:
        table = start.turned_table(ancestor_table(tokenizer), texts, targets)
    plan, whitening = FROM_SCRATCH if build.from_scratch else CONTINUED
    student = Student(table, np.zeros(len(table), np.float32))
    Trainer(student, counted, teaching, plan, build.seed).run(say)
    sampled = export.sample(list(counted.values()), WHITENED_BY, build.seed)
    whitened = export.whiten(student.table, student.query_weights, sampled, whitening)
    arrays = export.round_table(Student(whitened, student.log_weights))
    return Trained(arrays, tokenizer, sum(map(len, chosen.values())))


def to_train_on(pairs: Pairs) -> dict[Kind, list[Pair]]:
    """The first pairs of each kind of each source."""
    chosen: dict[Kind, list[Pair]] = {}
    for kind in Kind:
        found = [
            pair
            for source, own in pairs.items()
            for pair in islice((pair for pair in own if pair.kind is kind), MOST_OF.get(source.reads, MOST))
        ]
        if found:
            chosen[kind] = found
    return chosen


def count_pairs(tokenizer: Tokenizer, pairs: list[Pair], query_tokens: int, document_tokens: int) -> PairCounts:
    queries = count_tokens(tokenizer, [pair.query for pair in pairs], query_tokens)
    documents = count_tokens(tokenizer, [pair.document for pair in pairs], document_tokens)
    return PairCounts(repeats_as_roots(queries), repeats_as_roots(documents))


def _words(of_teacher: Tokenizer, chosen: Mapping[Kind, list[Pair]]) -> list[str]:
    known = student_tokenizer(of_teacher, ())
    texts = (text for found in chosen.values() for pair in found for text in (pair.query, pair.document))
    return frequent_words(texts, known, WORDS)


def _token_vectors(build: Build, of_teacher: Tokenizer, tokenizer: Tokenizer) -> Matrix:
    """The teacher's vectors of single tokens, which no evaluation data can touch."""
    digest = hashlib.sha256(tokenizer.to_str().encode()).hexdigest()[:12]
    file = build.folder / f"tokens-{digest}.npy"
    if not file.exists():
        vectors = start.token_vectors(Teacher(build.downloads, build.threads), of_teacher, tokenizer)
        np.save(file, vectors.astype(np.float16))
    return np.load(file).astype(np.float32)
