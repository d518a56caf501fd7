"""LangChain's standard suite of retrievers on `MuistiRetriever`, and histories that lose nothing."""

from typing import Any

import pytest

pytest.importorskip("langchain_tests", reason="make integrations-test")

from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_tests.integration_tests import RetrieversIntegrationTests

import muisti
from muisti.integrations.langchain import MuistiChatMessageHistory, MuistiRetriever

MESSAGES: list[BaseMessage] = [
    HumanMessage("When do we deploy?", name="ann"),
    AIMessage("", tool_calls=[{"id": "c1", "name": "calendar", "args": {"day": "Friday"}, "type": "tool_call"}]),
    ToolMessage("x" * 30_000, tool_call_id="c1"),
    AIMessage([{"type": "text", "text": "On Fridays.\0"}], id="m1"),
]


class TestRetriever(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def some_memories(self, memory: Any) -> None:
        memory.remember_many([f"Deploys of service {n} go out on Fridays." for n in range(6)], on_conflict="keep")
        self.memory = memory

    @property
    def retriever_constructor(self) -> type[MuistiRetriever]:
        return MuistiRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"memory": self.memory}

    @property
    def retriever_query_example(self) -> str:
        return "when do services deploy?"


async def test_what_is_retrieved_needs_evidence_and_passes_the_options(memory: Any):
    retriever = MuistiRetriever(memory=memory, options={"tags": "release"})
    assert retriever.invoke("when do we deploy?") == []
    stored = memory.remember("Deploys go out on Fridays.", tags=["release"], category="rules")
    memory.remember("Deploys take an hour.")
    (found,) = await retriever.ainvoke("when do we deploy?")
    assert (found.id, found.page_content, found.metadata["category"]) == (stored.id, stored.content, "rules")
    assert retriever.invoke("who is the king of Spain?") == []


async def test_a_history_is_that_of_langchain(memory: Any):
    ours, theirs = MuistiChatMessageHistory("Ann 1", memory), InMemoryChatMessageHistory()
    for history in (ours, theirs):
        history.add_messages(MESSAGES[:2])
        await history.aadd_messages(MESSAGES[2:])
    assert ours.messages == theirs.messages == await ours.aget_messages()
    assert MuistiChatMessageHistory("ann 1", memory).messages == []
    assert memory.recall("when do we deploy?")[0].author == "human"
    ours.clear()
    assert ours.messages == []


async def test_they_work_on_an_asynchronous_handle():
    async with muisti.open_async(":memory:") as memory:
        history, retriever = MuistiChatMessageHistory("s", memory), MuistiRetriever(memory=memory)
        await history.aadd_messages(MESSAGES)
        assert await history.aget_messages() == MESSAGES
        assert (await retriever.ainvoke("when do we deploy?"))[0].page_content == "When do we deploy?"
        with pytest.raises(TypeError, match="synchronous handle"):
            retriever.invoke("x")
        await history.aclear()
        assert await history.aget_messages() == []
