"""The two long stages: lessons from the teacher, and training. Each reads what it needs from the build folder."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from tokenizers import Tokenizer

from deploy.model import export, lessons, start
from deploy.model.export import Arrays
from deploy.model.lessons import Lesson
from deploy.model.packages import Source
from deploy.model.pooling import Matrix, repeats_as_roots
from deploy.model.progress import say
from deploy.model.teacher import Teacher, read_tokenizer
from deploy.model.train import Lessons, PairCounts, Plan, Student, Trainer, stack
from deploy.model.values import Kind, Pair
from deploy.model.vocabulary import count_tokens, student_tokenizer

# Pairs of one source and kind that are trained on: more of the same would crowd out the rest.
MOST, MOST_OF = 16_000, {"chitchat": 24_000, "wordnet": 50_000, "plain": 4_000, "python": 1_200}
QUERY_TOKENS, DOCUMENT_TOKENS = 64, 220
WHITENED_BY = 8_000  # pairs of each kind

Pairs = Mapping[Source, list[Pair]]


@dataclass(frozen=True, slots=True)
class Build:
    """Where stages rest. Without decontamination they rest apart, so that no clean build takes them up."""

    folder: Path
    threads: int
    seed: int
    decontaminated: bool

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


def teach(build: Build, pairs: Pairs) -> Lesson:
    teacher = Teacher(build.downloads, build.threads)
    taught: list[Lesson] = []
    for source, found in pairs.items():
        taught.append(lessons.teach(source, found, teacher, build.lessons))
        say(f"  {source.name}: {len(taught[-1].pairs)} pairs")
    return lessons.join(taught)


def train_student(build: Build, pairs: Pairs, lesson: Lesson) -> Trained:
    of_teacher = read_tokenizer(build.downloads)
    tokenizer = student_tokenizer(of_teacher)
    counted = count_all(tokenizer, pairs)
    taught = count_pairs(tokenizer, lesson.pairs, lessons.TOKENS, lessons.TOKENS)
    mean, axes = start.teaching_axes(np.concatenate([lesson.queries, lesson.documents]))
    shares = start.token_shares([part.documents for part in counted.values()])
    teaching = Lessons(taught, start.unit((lesson.queries - mean) @ axes), start.unit((lesson.documents - mean) @ axes))
    texts = sp.vstack([taught.queries, taught.documents], format="csr")
    targets = np.concatenate([teaching.queries, teaching.documents])
    table = start.start_table(_token_vectors(build, of_teacher, tokenizer), shares, texts, targets)
    student = Student(table, np.zeros(len(table), np.float32))
    Trainer(student, counted, teaching, Plan(), build.seed).run(say)
    sampled = export.sample(list(counted.values()), WHITENED_BY, build.seed)
    whitened = export.whiten(student.table, student.query_weights, sampled)
    return Trained(export.round_table(Student(whitened, student.log_weights)), tokenizer)


def count_all(tokenizer: Tokenizer, pairs: Pairs) -> dict[Kind, PairCounts]:
    """Token counts of the pairs to train on, by kind."""
    parts: dict[Kind, list[PairCounts]] = {kind: [] for kind in Kind}
    for source, found in pairs.items():
        for kind in Kind:
            chosen = [pair for pair in found if pair.kind is kind][: MOST_OF.get(source.reads, MOST)]
            if chosen:
                parts[kind].append(count_pairs(tokenizer, chosen, QUERY_TOKENS, DOCUMENT_TOKENS))
    return {kind: stack(counted) for kind, counted in parts.items() if counted}


def count_pairs(tokenizer: Tokenizer, pairs: list[Pair], query_tokens: int, document_tokens: int) -> PairCounts:
    queries = count_tokens(tokenizer, [pair.query for pair in pairs], query_tokens)
    documents = count_tokens(tokenizer, [pair.document for pair in pairs], document_tokens)
    return PairCounts(repeats_as_roots(queries), repeats_as_roots(documents))


def _token_vectors(build: Build, of_teacher: Tokenizer, tokenizer: Tokenizer) -> Matrix:
    """The teacher's vectors of single tokens, which no evaluation data can touch."""
    file = build.folder / "tokens.npy"
    if not file.exists():
        vectors = start.token_vectors(Teacher(build.downloads, build.threads), of_teacher, tokenizer)
        np.save(file, vectors.astype(np.float16))
    return np.load(file).astype(np.float32)
