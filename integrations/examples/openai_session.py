"""A conversation of the Agents SDK that goes on in another run, with its history in Muisti.

python -m muisti.integrations.examples.openai_session
"""

import asyncio
from typing import Any

from agents import Agent, Model, ModelResponse, Runner, Usage, set_tracing_disabled
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

import muisti
from muisti.integrations.openai_agents import MuistiSession


class ScriptedModel(Model):
    """A model that says how much it has read. Leave `model` out, and it is OpenAI's."""

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:  # noqa: A002
        said = [item["content"] for item in input if item.get("role") == "user"]
        text = ResponseOutputText(type="output_text", text=f"You have said: {' / '.join(said)}", annotations=[])
        message = ResponseOutputMessage(
            id="msg_1", type="message", role="assistant", status="completed", content=[text]
        )
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


async def main() -> None:
    set_tracing_disabled(True)
    agent = Agent(name="assistant", model=ScriptedModel())
    async with muisti.open_async(":memory:") as memory:
        for said in ("We deploy on Fridays.", "And on which day is that?"):
            result = await Runner.run(agent, said, session=MuistiSession("ann-1", memory))
            print(result.final_output)  # noqa: T201
        found = await memory.recall("deploy day")
        print(f"Found by a search: {found[0].content}")  # noqa: T201


if __name__ == "__main__":
    asyncio.run(main())
