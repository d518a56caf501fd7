"""A Pydantic AI agent with the tools of a memory.

python -m muisti.integrations.examples.pydantic_agent
"""

import asyncio

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

import muisti
from muisti.integrations.pydantic_ai import muisti_toolset


def scripted_model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Store, ask, answer: put the name of a model in the place of this function."""
    returns = [part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
    if not returns:
        return ModelResponse([ToolCallPart("remember", {"content": "Deploys go out on Fridays.", "tags": ["release"]})])
    if len(returns) == 1:
        return ModelResponse([ToolCallPart("recall", {"query": "when do we deploy?"})])
    return ModelResponse([TextPart(f"I recall: {returns[-1].content[0]['content']}")])


async def main() -> None:
    async with muisti.open_async(":memory:") as memory:
        agent = Agent(FunctionModel(scripted_model), toolsets=[muisti_toolset(memory, author="assistant")])
        print((await agent.run("We deploy on Fridays. When do we deploy?")).output)  # noqa: T201


if __name__ == "__main__":
    asyncio.run(main())
