"""A retriever and a history of messages for LangChain: `MuistiRetriever`, `MuistiChatMessageHistory`."""

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, message_to_dict, messages_from_dict
from langchain_core.retrievers import BaseRetriever

from muisti.integrations.calls import Operation, need_sync, run, run_anywhere
from muisti.integrations.entries import category, hits_of, pack
from muisti.integrations.items import BATCH_MAX, Items


class MuistiRetriever(BaseRetriever):
    """Retrieves memories, or nothing when there is no evidence for any.

    `options` are those of `memory.search`, such as `{"category": "rules", "min_evidence": None}`. Both `k` and
    `options` may be given to `invoke`, too. `invoke` needs a synchronous handle.
    """

    memory: Any
    k: int = 5
    options: Mapping[str, Any] = {}

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **given: Any
    ) -> list[Document]:
        need_sync(self.memory, "MuistiRetriever.invoke")
        return run(self._found(query, **given))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **given: Any
    ) -> list[Document]:
        return await run_anywhere(self.memory, lambda: self._found(query, **given))

    def _found(
        self, query: str, k: int | None = None, options: Mapping[str, Any] | None = None
    ) -> Operation[list[Document]]:
        chosen = {"min_evidence": "weak", **self.options, **(options or {})}
        hits = yield from hits_of(self.memory, query, limit=k or self.k, **chosen)
        return [_document(hit) for hit in hits]


class MuistiChatMessageHistory(BaseChatMessageHistory):
    """The messages of one session, for `RunnableWithMessageHistory`.

    Searches of the space find what they say. What is not awaited needs a synchronous handle.
    """

    def __init__(self, session_id: str, memory: Any, *, root: str = "sessions") -> None:
        self.session_id, self._memory = session_id, memory
        self._items = Items(memory, category((root, session_id)))

    @property
    def messages(self) -> list[BaseMessage]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The messages, oldest first."""
        need_sync(self._memory, "MuistiChatMessageHistory.messages")
        return messages_from_dict(run(self._items.newest()))

    async def aget_messages(self) -> list[BaseMessage]:
        """Return the messages, oldest first."""
        return messages_from_dict(await run_anywhere(self._memory, self._items.newest))

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Append messages: all of them, or none and an error. Above 1,000, each thousand is its own request."""
        need_sync(self._memory, "MuistiChatMessageHistory.add_messages")
        for batch in _batches(messages):
            run(self._items.append(batch))

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Append messages as `add_messages` does."""
        for batch in _batches(messages):
            await run_anywhere(self._memory, lambda batch=batch: self._items.append(batch))

    def clear(self) -> None:
        """Remove all messages. Their history stays, as that of every memory that is deleted."""
        need_sync(self._memory, "MuistiChatMessageHistory.clear")
        run(self._items.clear())

    async def aclear(self) -> None:
        """Remove all messages as `clear` does."""
        await run_anywhere(self._memory, self._items.clear)


def _batches(messages: Sequence[BaseMessage]) -> list[list[dict[str, Any]]]:
    fields = [{**pack(message_to_dict(one), str(one.text)), "author": one.type} for one in messages]
    return [fields[start : start + BATCH_MAX] for start in range(0, len(fields), BATCH_MAX)]


def _document(hit: Any) -> Document:
    memory = hit.memory
    named = {name: getattr(memory, name) for name in ("category", "key", "author", "tags", "created_at", "metadata")}
    shown = {name: value for name, value in named.items() if value}
    return Document(id=memory.id, page_content=memory.content, metadata={**shown, "score": hit.score})
