"""A memory of LlamaIndex that knows what has left its short-term memory.

python -m muisti.integrations.examples.llama_index_memory
"""

import asyncio

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory

import muisti
from muisti.integrations.llama_index import MuistiMemoryBlock, MuistiRetriever


async def main() -> None:
    async with muisti.open_async(":memory:") as memory:
        chat = Memory.from_defaults(
            session_id="ann-1",
            token_limit=60,
            chat_history_token_ratio=0.5,
            token_flush_size=10,
            memory_blocks=[MuistiMemoryBlock(memory=memory)],
        )
        said = ["Deploys go out on Fridays.", *(f"Some small talk, number {n}." for n in range(12))]
        await chat.aput_messages([ChatMessage(role="user", content=text) for text in said])
        await chat.aput_messages([ChatMessage(role="user", content="On which day do we deploy?")])
        prompt = "\n".join(one.content or "" for one in await chat.aget())
        print("In the prompt:", "Deploys go out on Fridays." in prompt)  # noqa: T201
        (node, *_) = await MuistiRetriever(memory).aretrieve("When are deploys?")
        print("Retrieved:", node.get_content())  # noqa: T201


if __name__ == "__main__":
    asyncio.run(main())
