"""Anthropic's memory tool with its files in Muisti: every edit can be looked at, and taken back.

python -m muisti.integrations.examples.anthropic_files
"""

import json
from typing import Any

import httpx2
from anthropic import Anthropic

import muisti
from muisti.integrations.anthropic import MuistiMemoryTool

COMMANDS: list[dict[str, Any]] = [
    {"command": "create", "path": "/memories/deploy.md", "file_text": "Deploys go out on Fridays.\n"},
    {"command": "str_replace", "path": "/memories/deploy.md", "old_str": "Fridays", "new_str": "Mondays"},
    {"command": "view", "path": "/memories"},
]


def scripted_api(request: httpx2.Request) -> httpx2.Response:
    """Answer as the API would, with the next command, and after the last one with a text."""
    turn = sum(message["role"] == "assistant" for message in json.loads(request.content)["messages"])
    block: dict[str, Any] = {"type": "text", "text": "Noted."}
    if turn < len(COMMANDS):
        block = {"type": "tool_use", "id": f"toolu_{turn}", "name": "memory", "input": COMMANDS[turn]}
    message = {"id": f"msg_{turn}", "type": "message", "role": "assistant", "model": "scripted", "content": [block]}
    usage = {"input_tokens": 1, "output_tokens": 1}
    stop = "tool_use" if turn < len(COMMANDS) else "end_turn"
    return httpx2.Response(200, json=message | {"stop_reason": stop, "stop_sequence": None, "usage": usage})


def main() -> None:
    # Leave http_client out, and the model is Anthropic's.
    client = Anthropic(api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(scripted_api)))
    with muisti.open(":memory:") as memory:
        tool = MuistiMemoryTool(memory, author="claude")
        messages: list[Any] = [{"role": "user", "content": "We deploy on Mondays now."}]
        while True:  # or client.beta.messages.tool_runner(tools=[tool], ...)
            reply = client.beta.messages.create(
                model="claude-sonnet-5-5", max_tokens=1024, messages=messages, tools=[tool.to_dict()]
            )
            (block,) = reply.content
            if block.type != "tool_use":
                break
            told = tool.call(block.input)
            print(told)  # noqa: T201
            result = {"type": "tool_result", "tool_use_id": block.id, "content": told}
            messages += [{"role": "assistant", "content": [block]}, {"role": "user", "content": [result]}]
        for version in memory.history(category="memories", key="deploy.md"):
            print(f"version {version.memory.version}: {version.memory.content.strip()}")  # noqa: T201
        memory.undo()
        print(f"after undo: {memory.get(category='memories', key='deploy.md').content.strip()}")  # noqa: T201


if __name__ == "__main__":
    main()
