"""`python -m tests.conformance.fixtures`: Muisti with the suite's own tools, prompts and resources in place of ours.

Most scenarios call a `test_...` that the suite wants a server to have. This server has them behind Muisti's own server
process, auth middleware, route and session manager. So those scenarios test Muisti's transport.
"""

import os
import re
import time
import warnings
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, PromptsListChanged, ToolsListChanged
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError

from muisti.core.model.tasks import TaskFailed
from muisti.core.tasks.claim import CRASHED, Claim
from muisti.service.app import server as process
from muisti.service.mcp import manager
from muisti.service.mcp.tasks import SessionOf, TaskMethods, created, missing, takes_tasks
from muisti.service.settings import load

Context = ServerRequestContext[Any, Any]
Params = types.CallToolRequestParams
Result = types.CallToolResult | types.InputRequiredResult

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA="
ANYTHING = {"type": "object", "properties": {}}
EVERY_KEYWORD = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
IN_A_HEADER = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
SCHEMAS = {"json_schema_2020_12_tool": EVERY_KEYWORD, "test_custom_headers": IN_A_HEADER}

bus = InMemorySubscriptionBus()


def said(*content: types.ContentBlock | str) -> types.CallToolResult:
    blocks = [types.TextContent(type="text", text=one) if isinstance(one, str) else one for one in content]
    return types.CallToolResult(content=blocks)


def image() -> types.ImageContent:
    return types.ImageContent(type="image", data=PNG, mime_type="image/png")


def embedded(uri: str, text: str, mime_type: str = "text/plain") -> types.EmbeddedResource:
    return types.EmbeddedResource(
        type="resource", resource=types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    )


def ask(message: str, name: str, kind: str = "string") -> types.ElicitRequest:
    schema: dict[str, Any] = {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def sample(text: str, max_tokens: int) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=text))
    return types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(messages=[message], max_tokens=max_tokens)
    )


async def plain(ctx: Context, params: Params) -> Result:
    return {
        "test_simple_text": said("This is a simple text response for testing."),
        "test_image_content": said(image()),
        "test_audio_content": said(types.AudioContent(type="audio", data=WAV, mime_type="audio/wav")),
        "test_embedded_resource": said(embedded("test://embedded-resource", "This is an embedded resource content.")),
        "test_multiple_content_types": said(
            "Multiple content types test:",
            image(),
            embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json"),
        ),
        "json_schema_2020_12_tool": said("ok"),
        "test_custom_headers": said("ok"),
    }[params.name]


async def failing(ctx: Context, params: Params) -> Result:
    result = said("This tool intentionally returns an error for testing")
    return result.model_copy(update={"is_error": True})


async def logging(ctx: Context, params: Params) -> Result:
    for step in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            await ctx.session.send_log_message("info", step, related_request_id=ctx.request_id)
        await anyio.sleep(0.05)
    return said("logged")


async def progressing(ctx: Context, params: Params) -> Result:
    for step in (0, 50, 100):
        await ctx.session.report_progress(step, 100)
        await anyio.sleep(0.05)
    return said("done")


async def sampling(ctx: Context, params: Params) -> Result:
    """Asks the client back: of a server without sessions the era of `initialize` allows no such thing."""
    needed = types.ClientCapabilities(sampling=types.SamplingCapability())
    if not ctx.session.check_client_capability(needed):
        data = types.MissingRequiredClientCapabilityErrorData(required_capabilities=needed)
        told = data.model_dump(by_alias=True, mode="json", exclude_none=True)
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "sampling is needed", told)
    return said("ok")


async def tools_changed(ctx: Context, params: Params) -> Result:
    await bus.publish(ToolsListChanged())
    return said("ok")


async def prompts_changed(ctx: Context, params: Params) -> Result:
    await bus.publish(PromptsListChanged())
    return said("ok")


def asking(requests: Mapping[str, types.InputRequest], then: str, state: str | None = None) -> "Tool":
    """A tool that wants these answers before it says `then`."""

    async def call(ctx: Context, params: Params) -> Result:
        given = params.input_responses or {}
        if not requests.keys() <= given.keys() or params.request_state != state:
            return types.InputRequiredResult(input_requests=dict(requests), request_state=state)
        return said(then + " " + ", ".join(one.model_dump_json(by_alias=True) for one in given.values()))

    return call


async def many_rounds(ctx: Context, params: Params) -> Result:
    steps = {None: ("step1", "name"), "1": ("step2", "color")}
    done = {None: None, "1": "step1", "2": "step2"}[params.request_state]
    if done is not None and done not in (params.input_responses or {}):
        raise MCPError(types.INVALID_PARAMS, f"{done} is missing")
    if params.request_state == "2":
        return said("all rounds done")
    name, field = steps[params.request_state]
    state = "1" if params.request_state is None else "2"
    return types.InputRequiredResult(input_requests={name: ask(f"What {field}?", field)}, request_state=state)


class Slow:
    """A kind of task that waits, then says what it was asked to; or fails, or breaks."""

    name, crashed = "slow", None

    def run(self, claim: Claim) -> object:
        asked: Any = claim.task.asked
        for _ in range(int(asked["seconds"] * 20)):
            claim.check()
            time.sleep(0.05)
        if asked["label"] == "failing_job":
            raise TaskFailed("conflict", "this job fails", None)
        if asked["label"] == "protocol_error_job":
            raise TaskFailed(CRASHED, "this job breaks", None)
        return asked


async def working(ctx: Context, params: Params, label: str = "") -> Result | dict[str, Any]:
    """A tool whose work is a task of Muisti's own, for a client that takes one."""
    session = SESSIONS[0](ctx)
    given = params.arguments or {}
    asked = {"seconds": given.get("seconds", 1), "label": label or params.name}
    if not takes_tasks(ctx):
        if params.name == "failing_job":
            raise missing()
        return said(f"waited {asked['seconds']}")
    tasks = session.backend.engine.tasks
    if Slow.name not in tasks.kinds:
        tasks.register(Slow())
    return created(await session.backend.store(tasks.submit, "default", Slow.name, asked, session.caller()))


async def asking_first(ctx: Context, params: Params) -> Result | dict[str, Any]:
    answer: Any = (params.input_responses or {}).get("user_name")
    if answer is None:
        return types.InputRequiredResult(input_requests={"user_name": NAME}, request_state="s")
    return await working(ctx, params, str(answer.content["name"]))


async def greeting(ctx: Context, params: Params) -> Result:
    return said(f"Hello, {(params.arguments or {}).get('name')}!")


async def by_capability(ctx: Context, params: Params) -> Result:
    able = ctx.session.client_capabilities or types.ClientCapabilities()
    requests: dict[str, types.InputRequest] = {}
    if able.elicitation is not None:
        requests["name"] = ask("What is your name?", "name")
    if able.sampling is not None:
        requests["greeting"] = sample("Generate a greeting", 50)
    if params.input_responses or not requests:
        return said("ok")
    return types.InputRequiredResult(input_requests=requests)


Tool = Callable[[Context, Params], Awaitable[Result | dict[str, Any]]]
SESSIONS: list[SessionOf] = []
NAME = ask("What is your name?", "name")
ROOTS = types.ListRootsRequest()
TOOLS: dict[str, Tool] = {
    **dict.fromkeys((
        "test_simple_text", "test_image_content", "test_audio_content", "test_embedded_resource",
        "test_multiple_content_types", "json_schema_2020_12_tool", "test_custom_headers",
    ), plain),
    "test_error_handling": failing, "test_tool_with_logging": logging, "test_logging_tool": logging,
    "test_tool_with_progress": progressing, "test_missing_capability": sampling,
    "test_trigger_tool_change": tools_changed, "test_trigger_prompt_change": prompts_changed,
    "test_streaming_elicitation": asking({"user_name": NAME}, "Hello,"),
    "test_input_required_result_elicitation": asking({"user_name": NAME}, "Hello,"),
    "test_input_required_result_sampling": asking({"capital_question": sample("The capital of France?", 100)}, "Heard"),
    "test_input_required_result_list_roots": asking({"client_roots": ROOTS}, "Roots"),
    "test_input_required_result_request_state": asking({"confirm": ask("Confirm", "ok", "boolean")}, "state-ok", "s"),
    "test_input_required_result_tampered_state": asking({"confirm": ask("Confirm", "ok", "boolean")}, "state-ok", "s"),
    "test_input_required_result_multiple_inputs": asking(
        {"user_name": NAME, "greeting": sample("Generate a greeting", 50), "client_roots": ROOTS}, "All:", "s"
    ),
    "test_input_required_result_multi_round": many_rounds,
    "test_input_required_result_capabilities": by_capability,
    "greet": greeting, "slow_compute": working, "failing_job": working, "protocol_error_job": working,
    "test_tool_with_task": asking_first,
}  # fmt: skip
ARGUMENTS = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
    "test_input_required_result_prompt": (),
}


async def list_tools(ctx: Context, _: Any) -> types.ListToolsResult:
    return types.ListToolsResult(
        tools=[types.Tool(name=name, description=name, input_schema=SCHEMAS.get(name, ANYTHING)) for name in TOOLS]
    )


async def call_tool(ctx: Context, params: Params) -> Result | dict[str, Any]:
    if params.name not in TOOLS:
        raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
    return await TOOLS[params.name](ctx, params)


async def list_resources(ctx: Context, _: Any) -> types.ListResourcesResult:
    uris = ("test://static-text", "test://static-binary", "test://watched-resource")
    return types.ListResourcesResult(resources=[types.Resource(uri=uri, name=uri, description=uri) for uri in uris])


async def list_templates(ctx: Context, _: Any) -> types.ListResourceTemplatesResult:
    template = types.ResourceTemplate(uri_template="test://template/{id}/data", name="template", description="data")
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    uri = params.uri
    one = re.fullmatch("test://template/(.+)/data", uri)
    if uri == "test://static-binary":
        return types.ReadResourceResult(contents=[types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PNG)])
    if one is not None:
        text = f'{{"id":"{one[1]}","templateTest":true,"data":"Data for ID: {one[1]}"}}'
    elif uri == "test://static-text":
        text = "This is the content of the static text resource."
    else:
        raise MCPError(types.INVALID_PARAMS, "Resource not found", {"uri": uri})
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type="text/plain", text=text)])


async def list_prompts(ctx: Context, _: Any) -> types.ListPromptsResult:
    return types.ListPromptsResult(
        prompts=[
            types.Prompt(
                name=name,
                description=name,
                arguments=[types.PromptArgument(name=argument, required=True) for argument in arguments],
            )
            for name, arguments in ARGUMENTS.items()
        ]
    )


async def get_prompt(
    ctx: Context, params: types.GetPromptRequestParams
) -> types.GetPromptResult | types.InputRequiredResult:
    given = params.arguments or {}
    if params.name == "test_input_required_result_prompt" and not params.input_responses:
        return types.InputRequiredResult(input_requests={"user_context": ask("What context?", "context")})
    content: dict[str, list[types.ContentBlock | str]] = {
        "test_simple_prompt": ["This is a simple prompt for testing."],
        "test_prompt_with_arguments": [
            f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'"
        ],
        "test_prompt_with_embedded_resource": [
            embedded(given.get("resourceUri", ""), "Embedded resource content for testing."),
            "Please process the embedded resource above.",
        ],
        "test_prompt_with_image": [image(), "Please analyze the image above."],
        "test_input_required_result_prompt": ["In this context"],
    }
    blocks = said(*content[params.name]).content
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=block) for block in blocks])


async def complete(ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    return types.CompleteResult(completion=types.Completion(values=[], total=0, has_more=False))


async def set_level(ctx: Context, params: types.SetLevelRequestParams) -> types.EmptyResult:
    return types.EmptyResult()


def make_server(session_of: SessionOf) -> Server[Any]:
    SESSIONS[:] = [session_of]
    server = Server[Any](
        "fixtures", version="1", get_tool_input_schema=lambda name: SCHEMAS.get(name), on_list_tools=list_tools,
        on_list_resources=list_resources, on_list_resource_templates=list_templates,
        on_read_resource=read_resource, on_list_prompts=list_prompts, on_get_prompt=get_prompt, on_completion=complete,
        on_set_logging_level=set_level, on_subscriptions_listen=ListenHandler(bus),
    )  # fmt: skip
    server.add_request_handler("tools/call", Params, call_tool)
    TaskMethods(session_of).add_to(server)
    server.middleware.append(RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience="fixtures"))
    return server


if __name__ == "__main__":
    manager.make_server = make_server
    process.run(load(os.environ, None, {}))
