"""The toolset works in an agent, and an error makes the model try again."""

from typing import Any

import pytest

pytest.importorskip("pydantic_ai", reason="make integrations-test")

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, RetryPromptPart, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from muisti.integrations.pydantic_ai import muisti_toolset


async def test_a_test_model_sees_the_tools_with_descriptions(memory: Any):
    model = TestModel(call_tools=["remember", "recall"])
    await Agent(model, toolsets=[muisti_toolset(memory)]).run("hello")
    offered = model.last_model_request_parameters
    assert offered is not None
    assert {tool.name for tool in offered.function_tools} == {"remember", "recall", "correct", "forget", "undo"}
    arguments = [one for tool in offered.function_tools for one in tool.parameters_json_schema["properties"].values()]
    assert all("description" in one for one in arguments)
    assert len([*memory.list()]) == 1


async def test_an_agent_stores_is_refused_corrects_and_recalls(memory: Any):
    memory.remember("Deploys go out on Fridays.")
    seen: list[str] = []

    def script(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        last = messages[-1].parts[-1]
        if isinstance(last, RetryPromptPart | ToolReturnPart) and "contradicts" in str(last.content):
            seen.append(str(last.content))
            (there,) = memory.list()
            return ModelResponse([ToolCallPart("correct", {"id": there.id, "content": "Deploys go out on Mondays."})])
        if not isinstance(last, ToolReturnPart):
            return ModelResponse([ToolCallPart("remember", {"content": "Deploys go out on Mondays."})])
        if last.tool_name == "correct":
            return ModelResponse([ToolCallPart("recall", {"query": "when do deploys go out?"})])
        return ModelResponse([TextPart(last.content[0]["content"])])

    result = await Agent(FunctionModel(script), toolsets=[muisti_toolset(memory)]).run("We deploy on Mondays now.")
    assert result.output == "Deploys go out on Mondays."
    assert len(seen) == 1 and "Fridays" in seen[0]
