"""A memory of AutoGen: the context of a model gets what applies to the last message.

python -m muisti.integrations.examples.autogen_memory
"""

import asyncio

from autogen_core.memory import MemoryContent, MemoryMimeType
from autogen_core.model_context import UnboundedChatCompletionContext
from autogen_core.models import UserMessage

import muisti
from muisti.integrations.autogen import MuistiMemory


async def main() -> None:
    async with muisti.open_async(":memory:") as handle:
        memory = MuistiMemory(handle)  # also for AssistantAgent(memory=[memory])
        for text in ("Ann is allergic to nuts.", "Deploys go out on Fridays."):
            await memory.add(MemoryContent(content=text, mime_type=MemoryMimeType.TEXT))
        context = UnboundedChatCompletionContext()
        await context.add_message(UserMessage(content="What is Ann allergic to?", source="user"))
        await memory.update_context(context)
        for message in await context.get_messages():
            print(message.content)  # noqa: T201


if __name__ == "__main__":
    asyncio.run(main())
