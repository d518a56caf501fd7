"""Convert the tools for models as Python clients do, and call some: python converters.py URL COMMAND...

It runs in an environment of its own (deploy/clients/converters.txt), which has no Muisti. Each client prints one line
for each transport; `tests.conformance` reads them.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from agents import Agent
from agents.mcp import MCPServerStdio, MCPServerStreamableHttp
from agents.mcp.util import MCPUtil
from agents.run_context import RunContextWrapper
from agents.tool import FunctionTool
from agents.tool_context import ToolContext
from google.genai import types
from google.genai._adapters import McpToGenAiToolAdapter
from langchain_core.messages import ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_mcp_adapters.tools import load_mcp_tools
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client

Json = dict[str, Any]
BLANKS: Mapping[str, Any] = {"string": "", "array": [], "boolean": False, "object": {}}


@asynccontextmanager
async def session(url: str, command: list[str]) -> AsyncIterator[ClientSession]:
    """Connect over HTTP, or over standard input when the URL is empty."""
    parameters = StdioServerParameters(command=command[0], args=command[1:])
    connected = streamablehttp_client(url) if url else stdio_client(parameters)
    async with connected as streams, ClientSession(streams[0], streams[1]) as found:
        await found.initialize()
        yield found


async def genai(url: str, command: list[str]) -> tuple[list[Json], list[Json]]:
    """Gemini's numbers are floats, as in a protobuf `Struct`."""
    async with session(url, command) as connected:
        adapter = McpToGenAiToolAdapter(connected, await connected.list_tools())
        declared = [one for tool in adapter.tools for one in tool.function_declarations or ()]
        tools = [shape(one.name, one.parameters.model_dump(exclude_none=True)) for one in declared if one.parameters]
        calls = []
        for name, arguments in (
            ("remember", {"content": "google-genai stores this", "tags": ["clients"], "ttl": 86400.0}),
            ("recall", {"query": "what does google-genai store?", "limit": 5.0, "max_tokens": 2000.0}),
        ):
            result = await adapter.call_tool(types.FunctionCall(name=name, args=arguments))
            calls.append(called(name, not result.isError, result.content[0].text))
        return tools, calls


async def langchain(url: str, command: list[str]) -> tuple[list[Json], list[Json]]:
    """Models of LangChain give null for what they leave out."""
    async with session(url, command) as connected:
        found = {tool.name: tool for tool in await load_mcp_tools(connected)}
        converted = [convert_to_openai_tool(tool)["function"] for tool in found.values()]
        tools = [shape(one["name"], one["parameters"]) for one in converted]
        calls = []
        for name, arguments in (
            ("remember", {"content": "langchain stores this"}),
            ("recall", {"query": "what does langchain store?", "limit": "5"}),
        ):
            nulls = dict.fromkeys(found[name].args)
            call = {"name": name, "args": {**nulls, **arguments}, "id": "1", "type": "tool_call"}
            result = await found[name].ainvoke(call)
            assert isinstance(result, ToolMessage)
            calls.append(called(name, result.status == "success", json.dumps(result.content)))
        return tools, calls


async def openai(url: str, command: list[str]) -> tuple[list[Json], list[Json]]:
    """Strict mode makes each argument required, so models fill in blanks. Tools with free objects stay as they are."""
    server = (
        MCPServerStreamableHttp({"url": url})
        if url
        else MCPServerStdio({"command": command[0], "args": command[1:]}, client_session_timeout_seconds=60)
    )
    async with server:
        context, agent = RunContextWrapper(None), Agent(name="test")
        listed = await MCPUtil.get_all_function_tools([server], True, context, agent)
        found = {tool.name: tool for tool in listed if isinstance(tool, FunctionTool)}
        tools = [shape(one.name, one.params_json_schema, one.strict_json_schema) for one in found.values()]
        calls = []

        async def call(name: str, **arguments: Any) -> Json:
            tool = found[name]
            schemas = tool.params_json_schema["properties"]
            blanks = {key: BLANKS[one["type"]] for key, one in schemas.items() if one["type"] in BLANKS}
            sent = json.dumps({**{key: one["enum"][0] for key, one in schemas.items() if "enum" in one}, **arguments})
            if tool.strict_json_schema:
                sent = json.dumps({**blanks, **json.loads(sent)})
            run = ToolContext(context=None, tool_name=name, tool_call_id="1", tool_arguments=sent)
            result: Any = await tool.on_invoke_tool(run, sent)
            text = str(result)
            calls.append(called(name, "error" not in text[:200].lower(), text))
            return result

        await call("remember", content="openai-agents stores this")
        await call("recall", query="what does openai-agents store?")
        await call("conversations", action="list")
        return tools, calls


def shape(name: str | None, schema: Mapping[str, Any], strict: bool = False) -> Json:
    """Return what a converter kept of a tool."""
    properties = [*(schema.get("properties") or {})]
    return {"name": name, "properties": properties, "required": schema.get("required") or [], "strict": strict}


def called(tool: str, good: bool, text: str) -> Json:
    return {"tool": tool, "good": good, "text": text}


CLIENTS = {
    f"google-genai {version('google-genai')}": genai,
    f"langchain-mcp-adapters {version('langchain-mcp-adapters')}": langchain,
    f"openai-agents {version('openai-agents')}, strict": openai,
}


async def main(url: str, command: list[str]) -> None:
    for client, run in CLIENTS.items():
        for transport, address in (("HTTP", url), ("stdio", "")):
            tools, calls = await run(address, command)
            row = {"client": client, "transport": transport, "tools": tools, "calls": calls}
            sys.stdout.write(f"{json.dumps(row)}\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2:]))
