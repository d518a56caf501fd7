"""`MuistiRetriever` and `MuistiMemoryBlock` in LlamaIndex's own retrieval and memory."""

from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="make integrations-test")

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory

import muisti
from muisti.integrations.llama_index import MuistiMemoryBlock, MuistiRetriever


def said(*texts: str) -> list[ChatMessage]:
    return [ChatMessage(role="user", content=text) for text in texts]


async def test_nodes_are_memories_with_scores_and_need_evidence(memory: Any):
    retriever = MuistiRetriever(memory, similarity_top_k=2, tags="release")
    assert retriever.retrieve("when do we deploy?") == []
    stored = memory.remember(
        "Deploys go out on Fridays.", tags=["release"], category="rules", metadata={"team": "core"}
    )
    memory.remember("Deploys take an hour.")
    for found in (retriever.retrieve("when do we deploy?"), await retriever.aretrieve("when do we deploy?")):
        (node,) = found
        assert (node.node.node_id, node.get_content(), node.score is None) == (stored.id, stored.content, False)
        assert node.node.metadata["category"] == "rules"
    assert retriever.retrieve("who is the king of Spain?") == []


async def test_what_leaves_the_short_term_memory_is_known_in_the_prompt(memory: Any):
    block = MuistiMemoryBlock(memory=memory)
    chat = Memory.from_defaults(
        session_id="s", token_limit=60, chat_history_token_ratio=0.5, token_flush_size=10, memory_blocks=[block]
    )
    await chat.aput_messages(said("Deploys go out on Fridays.", *(f"Some small talk number {n}." for n in range(12))))
    assert memory.recall("when do we deploy?")[0].author == "user"
    await chat.aput_messages(said("On which day do we deploy?"))
    assert "Deploys go out on Fridays." in str([one.content for one in await chat.aget()])


async def test_they_work_on_an_asynchronous_handle():
    async with muisti.open_async(":memory:") as memory:
        block, retriever = MuistiMemoryBlock(memory=memory), MuistiRetriever(memory)
        assert await block.aget(said("when do we deploy?")) == "" == await block.aget([])
        await block.aput([*said("Deploys go out on Fridays.", ""), ChatMessage(role="assistant", content=None)])
        assert "Fridays" in await block.aget(said("when do we deploy?"))
        assert len(await retriever.aretrieve("when do we deploy?")) == 1
        with pytest.raises(TypeError, match="synchronous handle"):
            retriever.retrieve("x")
