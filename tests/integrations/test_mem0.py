"""The shim gives the results that mem0 gives, in their shapes, for the same calls."""

from pathlib import Path
from typing import Any

import pytest

from muisti.integrations.mem0 import Memory


@pytest.fixture
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """mem0 itself, with an embedding of letters in the place of a model."""
    monkeypatch.setenv("MEM0_TELEMETRY", "False")
    monkeypatch.setenv("MEM0_DIR", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    mem0 = pytest.importorskip("mem0", reason="make integrations-test")
    store = {"provider": "qdrant", "config": {"path": str(tmp_path / "q"), "embedding_model_dims": 26, "on_disk": True}}
    memory = mem0.Memory.from_config({"vector_store": store, "history_db_path": str(tmp_path / "history.db")})
    memory.embedding_model = Letters()
    return memory


class Letters:
    def embed(self, text: str, *_: Any) -> list[float]:
        return [text.lower().count(letter) + 0.01 for letter in "abcdefghijklmnopqrstuvwxyz"]

    def embed_batch(self, texts: list[str], *_: Any) -> list[list[float]]:
        return [self.embed(text) for text in texts]


SAID = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Ann drinks green tea.", "name": "ann"},
    {"role": "assistant", "content": "Noted: green tea."},
]


def course(memory: Any) -> list[Any]:
    """Make the same calls of either memory, and return what they say, without ids, times and scores."""
    added = memory.add(SAID, user_id="u1", metadata={"topic": "drinks"}, infer=False)
    memory.add("Bob drinks coffee.", user_id="u2", infer=False)
    first = added["results"][0]["id"]
    listed = memory.get_all(filters={"user_id": "u1"})
    found = memory.search("green tea", filters={"user_id": "u1", "topic": {"in": ["drinks"]}})
    said = [memory.update(first, "Ann drinks black tea."), memory.get(first), memory.history(first)]
    said += [memory.delete(first), memory.get(first), memory.history(first), memory.delete_all(user_id="u1")]
    said += [memory.get_all(filters={"user_id": "u1"}), memory.get_all(filters={"user_id": "u2"})]
    return [plain(one) for one in (added, listed, found, *said)]


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: type(one) if name in _CHANGING and one is not None else plain(one) for name, one in value.items()}
    return sorted((plain(one) for one in value), key=str) if isinstance(value, list) else value


_CHANGING = {"id", "memory_id", "created_at", "updated_at", "score", "hash"}


def test_it_says_what_mem0_says(memory: Any, theirs: Any):
    for mine, yours in zip(course(Memory(memory)), course(theirs), strict=True):
        assert mine == yours


def test_it_refuses_what_mem0_refuses(memory: Any, theirs: Any):
    for one in (Memory(memory), theirs):
        for wrong in (
            lambda one=one: one.search("x", user_id="u1"),
            lambda one=one: one.get_all(filters={}),
            lambda one=one: one.delete("0197a3c0-5f4e-7000-8000-0123456789ab"),
            lambda one=one: one.delete_all(),
            lambda one=one: one.add("x", user_id="a b", infer=False),
        ):
            with pytest.raises(ValueError):
                wrong()


def test_infer_stores_nothing_twice_in_a_scope_and_keeps_users_apart(memory: Any):
    shim = Memory(memory)
    assert shim.add("Ann is allergic to nuts.", user_id="u1")["results"][0]["event"] == "ADD"
    assert shim.add("Ann is allergic to nuts.", user_id="u1")["results"][0]["event"] == "NONE"
    assert shim.add("Ann is allergic to nuts.", user_id="u2")["results"][0]["event"] == "ADD"
    shim.reset()
    assert shim.get_all(filters={"user_id": "u1"}) == {"results": []}
