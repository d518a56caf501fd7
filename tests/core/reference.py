"""The search pipeline once more, slow and plain: every memory scored, nothing indexed, nothing compiled."""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from muisti.core.embedding.encoder import Encoder
from muisti.core.embedding.models import related_words
from muisti.core.index.lexical import LEAD, MOST, NEAR, WORTH, B, saturation
from muisti.core.kernels import Floats
from muisti.core.model.hits import Mode
from muisti.core.model.values import Memory
from muisti.core.query.query import parse
from muisti.core.search.default_score import FEEDBACK, LATE, ORDER, USUAL_K1
from muisti.core.text.terms import encode_terms, index_terms, normalise, query_terms

POOL = 50


@dataclass(frozen=True)
class Words:
    """BM25 of each memory over its largest value; `told` adds order and related words, and takes off lateness."""

    plain: dict[str, float]
    told: dict[str, float]


def lexical(memories: Sequence[Memory], visible: Sequence[Memory], chosen: Sequence[Memory], text: str) -> Words:
    """Scores with the statistics of the visible memories.

    A term counts towards the largest value when a visible or a chosen memory contains it. Memories are in no dialogue
    and short enough to be one passage.
    """
    tokens = {m.id: index_terms(m.content) for m in memories}
    seen = [len(tokens[m.id]) for m in visible]
    average = statistics.fmean(seen) if seen else 0.0
    k1 = saturation(average)
    wanted = parse(text, "any")
    idf: dict[str, float] = {}
    for term in wanted.terms:
        df = sum(term in tokens[m.id] for m in visible)
        if df or any(term in tokens[m.id] for m in chosen):
            idf[term] = math.log(1 + (len(visible) - df + 0.5) / (df + 0.5))
    total = sum(wanted.terms[term] * idf[term] for term in idf) or 1.0
    highest = math.log(1 + (len(visible) + 0.5) / 0.5)
    pairs = set(pairwise(query_terms(text.replace('"', " "))))
    plain, told = {}, {}
    for id_, own in tokens.items():
        norm = k1 * (1 - B + B * len(own) / (average or 1.0))
        said = {t: wanted.terms[t] * idf[t] / total * own.count(t) / (own.count(t) + norm) for t in idf if t in own}
        late = sum(share for term, share in said.items() if own.index(term) >= LEAD)
        order = 0.0
        for one, other in pairs:
            near = sum(closeness(own, at, other) for at, term in enumerate(own) if term == one) if one != other else 0
            if near and one in idf and other in idf:
                order += max(idf[one], idf[other]) * near / (near + norm) / (len(pairs) * highest)
        plain[id_] = sum(said.values())
        told[id_] = (
            ORDER * order - LATE * late + related([*wanted.terms], wanted.terms, idf, own, norm, tokens, visible)
        )
    for m in memories:
        if idf and normalise(m.content) == normalise(text):
            plain[m.id] = 1.0
    scale = (k1 + 1) / (USUAL_K1 + 1)
    return Words(plain, {id_: scale * (plain[id_] + told[id_]) for id_ in plain})


def related(
    terms: Sequence[str], weights: Mapping[str, float], idf: Mapping[str, float], own: Sequence[str], norm: float,
    tokens: Mapping[str, Sequence[str]], visible: Sequence[Memory],
) -> float:  # fmt: skip
    """Return what words related to those of a query add to a memory that lacks these."""
    found, added = related_words().of(encode_terms(terms, 0)), dict[str, float]()
    mass = sum(weights[term] * idf[term] for term in idf)
    vocabulary = sorted({t for m in tokens.values() for t in m})
    by_code = dict(zip(encode_terms(vocabulary, 0).tolist(), vocabulary, strict=True))
    counted = dict[str, int]()
    for code, place, cosine in zip(found.codes.tolist(), found.places.tolist(), found.likeness.tolist(), strict=True):
        term, word = terms[place], by_code.get(code, "")
        df = sum(word in tokens[m.id] for m in visible)
        if not df or not idf.get(term) or counted.get(term, 0) == MOST:
            continue
        counted[term] = counted.get(term, 0) + 1
        rarity = min(idf[term], math.log(1 + (len(visible) - df + 0.5) / (df + 0.5)))
        share = WORTH * cosine * weights[term] * rarity / mass * own.count(word) / (own.count(word) + norm)
        if term not in own:
            added[term] = max(added.get(term, 0.0), share)
    return sum(added.values())


def closeness(tokens: list[str], at: int, other: str) -> float:
    """Return the closeness of `other` to the token at a place: 1 / distance, half of that when it is before."""
    behind = (1 / d for d in range(1, NEAR + 1) if at + d < len(tokens) and tokens[at + d] == other)
    before = (0.5 / d for d in range(1, NEAR + 1) if at >= d and tokens[at - d] == other)
    return max([*behind, *before], default=0.0)


def cosine(memories: Sequence[Memory], encoder: Encoder, text: str) -> dict[str, float]:
    if not memories:
        return {}
    vectors = encoder.encode([m.content for m in memories])
    return dict(zip((m.id for m in memories), (vectors @ encoder.encode([text])[0]).tolist(), strict=True))


def search(
    memories: Sequence[Memory], visible: Callable[[Memory], bool], wanted: Callable[[Memory], bool], encoder: Encoder,
    text: str, mode: Mode,
) -> list[dict[str, float]]:  # fmt: skip
    """Scores of the memories that a search with absolute fusion may return, before the cut to a limit.

    There are several where several memories are best: any of them may expand the query.

    `visible` is the default visibility, over which statistics are counted; `wanted` the caller's whole choice.
    """
    chosen = [m for m in memories if wanted(m)]
    found = lexical(memories, [m for m in memories if visible(m)], chosen, text)
    words = {m.id: found.plain[m.id] for m in chosen}
    angles = cosine(chosen, encoder, text)
    by_words = best({i: s for i, s in words.items() if s > 0})
    by_angles = best({i: s for i, s in angles.items() if s > 0})
    if mode == "keyword":
        return [{i: words[i] * 0.95 for i in by_words}]
    if mode == "semantic":
        return [{i: max(angles[i], 0.0) * 0.95 for i in by_angles}]
    firsts = {i: 4 / 7 * found.told[i] + 3 / 7 * angles[i] for i in by_words | by_angles}
    highest = max(firsts.values(), default=0.0)
    if highest <= 0:
        return [bounded(firsts)]
    vectors = dict(zip((m.id for m in chosen), encoder.encode([m.content for m in chosen]), strict=True))
    asked = encoder.encode([text])[0]
    return [
        bounded(expanded(firsts, angles, vectors, asked, one))
        for one, first in firsts.items()
        if first > highest - 1e-6
    ]


def expanded(
    firsts: Mapping[str, float], angles: Mapping[str, float], vectors: Mapping[str, Floats], asked: Floats, one: str
) -> dict[str, float]:
    """Return the totals when the query is expanded by a memory, whose own total stays."""
    wide = asked + FEEDBACK * vectors[one]
    wide = wide / np.linalg.norm(wide) * np.linalg.norm(asked)
    changes = {i: 3 / 7 * (float(vectors[i] @ wide) - angles[i]) for i in firsts}
    level = firsts[one] / (firsts[one] + changes[one])
    return {
        i: level * (first + max(changes[i], -0.9 * first) if first > 0 else first + changes[i])
        for i, first in firsts.items()
    }


def bounded(totals: Mapping[str, float]) -> dict[str, float]:
    kept = {i: max(total, 0.0) for i, total in totals.items()}
    return {i: total / (1 + total**4) ** 0.25 * 0.95 for i, total in kept.items()}


def best(scores: dict[str, float]) -> set[str]:
    return set(sorted(scores, key=lambda id_: (-np.float32(scores[id_]), id_))[:POOL])
