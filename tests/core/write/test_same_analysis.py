"""Compiled loops change nothing of what is stored of a text."""

import random
from collections.abc import Sequence

import pytest

from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.embedding.models import Models
from muisti.core.model.spaces import Space, SpaceSettings
from muisti.core.model.times import from_us
from muisti.core.model.values import Draft
from muisti.core.store.sql.inserting import NewVersion
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.text.secrets import secrets_in
from muisti.core.write.prepare import new_memory, ready

SPACE = SpaceRow(
    1, Space(name="s", epoch="e", seq=1, created_at=from_us(0), settings=SpaceSettings(), generation=None), None, 0
)

PROSE = "the build failed getUserName QX-991 a.b:c/d C++ .NET v0.9.1 2024-03-15 x_y der und die Katzen les chevaux"
MORE = "running I password token= the api key is well-known and/or (why?) end. stop.) 'so' # -- ..."
WORDS = [*PROSE.split(), *MORE.split(), "\n", "\n \n", "\t"]


def texts() -> list[str]:
    rng = random.Random(7)
    return [" ".join(rng.choices(WORDS, k=rng.randrange(10, 1_500))) for _ in range(60)]


def stored(contents: Sequence[str]) -> list[NewVersion]:
    memories = [
        new_memory(Draft(content=content, category="Notes", tags=("A b", "c")), "s", f"{number:032x}", 0, 50)
        for number, content in enumerate(contents)
    ]
    return ready(memories, SPACE, Models(StaticEncoder()))


def test_the_same_is_stored_with_and_without_compiled_loops(monkeypatch: pytest.MonkeyPatch):
    fast = stored(texts())
    for module in ("text.terms", "text.forms", "text.sentences", "embedding.encoder"):
        monkeypatch.setattr(f"muisti.core.{module}.ascii_bytes", lambda _: None)
    slow = stored(texts())
    assert max(len(one.passages or ()) for one in slow) > 3
    assert any(vector for one in slow for each in one.passages or () for vector in each.vectors.values())
    assert fast == slow


def test_secrets_are_those_beside_another_letter():
    for text in texts():
        assert secrets_in(text) == secrets_in(f"{text} é")
