"""A retriever and a block of memory for LlamaIndex: `MuistiRetriever`, `MuistiMemoryBlock`."""

from collections.abc import Mapping
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from pydantic import Field

from muisti.integrations.calls import Handle, Operation, need_sync, run, run_anywhere
from muisti.integrations.entries import hits_of


class MuistiRetriever(BaseRetriever):
    """Retrieves memories as nodes with scores, or nothing when there is no evidence for any.

    `options` are those of `memory.search`. `retrieve` needs a synchronous handle.
    """

    def __init__(self, memory: Handle, similarity_top_k: int = 5, **options: Any) -> None:
        super().__init__()
        self._memory, self._options = memory, {"min_evidence": "weak", "limit": similarity_top_k, **options}

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        need_sync(self._memory, "MuistiRetriever.retrieve")
        return run(self._found(query_bundle.query_str))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await run_anywhere(self._memory, lambda: self._found(query_bundle.query_str))

    def _found(self, query: str) -> Operation[list[NodeWithScore]]:
        hits = yield from hits_of(self._memory, query, **self._options)
        return [NodeWithScore(node=_node(hit.memory), score=hit.score) for hit in hits]


class MuistiMemoryBlock(BaseMemoryBlock[str]):
    """A block of `Memory.from_defaults(memory_blocks=[…])`: what leaves the short-term memory is stored.

    Its text is what memories say about the last message of the user, within `token_budget` tokens; it is empty when
    there is no evidence. `options` are those of `memory.context`.
    """

    name: str = "muisti"
    memory: Any
    token_budget: int = 500
    options: Mapping[str, Any] = Field(default_factory=dict)

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        said = [one.content for one in messages or [] if one.role == "user" and one.content]
        return await run_anywhere(self.memory, lambda: self._context(said[-1])) if said else ""

    async def _aput(self, messages: list[ChatMessage]) -> None:
        drafts = [{"content": one.content, "author": one.role.value} for one in messages if (one.content or "").strip()]
        if drafts:
            await run_anywhere(self.memory, lambda: self._store(drafts))

    def _context(self, query: str) -> Operation[str]:
        options = {"min_evidence": "weak", **self.options}
        found = yield self.memory.context(query, token_budget=self.token_budget, **options)
        return found.text if found.citations else ""

    def _store(self, drafts: list[dict[str, Any]]) -> Operation[None]:
        yield self.memory.remember_many(drafts, on_conflict="keep")


def _node(memory: Any) -> TextNode:
    named = {name: getattr(memory, name) for name in ("category", "key", "author", "tags", "metadata")}
    shown = {name: value for name, value in named.items() if value}
    return TextNode(id_=memory.id, text=memory.content, metadata=shown, excluded_embed_metadata_keys=[*shown])
