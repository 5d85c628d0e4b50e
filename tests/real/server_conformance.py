"""A server of the Python SDK 2.x over HTTP for the official conformance suites: `PORT=N server_conformance.py`.

Its tools are those that the suites call by name: with logs, requests to the client, input in several rounds, headers,
changes of its lists, and a stream of events that it closes before the answer.
"""

import asyncio
import os
from typing import Annotated

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.streamable_http import EventMessage, EventStore
from mcp_types import (
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequiredResult,
    SamplingMessage,
    TextContent,
)
from pydantic import BaseModel, Field

server = MCPServer("conformance", version="1.0.0")


class Person(BaseModel):
    username: str = Field(default="nobody", description="a name")
    email: str = Field(default="nobody@example.com", description="an address")


class Stored(EventStore):
    """Events in memory."""

    def __init__(self):
        self.events = []

    async def store_event(self, stream_id, message):
        self.events.append((stream_id, message))
        return str(len(self.events))

    async def replay_events_after(self, last_event_id, send_callback):
        place = int(last_event_id)
        stream = self.events[place - 1][0]
        for number, (owner, message) in enumerate(self.events[place:], place + 1):
            if owner == stream and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream


def text(content: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=content)])


@server.tool()
def test_simple_text() -> str:
    return "This is a simple text response for testing."


@server.tool()
def test_error_handling() -> str:
    raise RuntimeError("This tool intentionally returns an error for testing")


@server.tool()
async def test_tool_with_progress(ctx: Context) -> str:
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100)
        await asyncio.sleep(0.05)
    return "done"


@server.tool()
async def test_tool_with_logging(ctx: Context) -> str:
    for said in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.info(said)
        await asyncio.sleep(0.05)
    return "logged"


@server.tool()
async def test_logging_tool(ctx: Context) -> str:
    await ctx.info("a log message")
    return "logged"


@server.tool()
async def test_sampling(prompt: str, ctx: Context) -> str:
    asked = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
    answer = await ctx.session.create_message([asked], max_tokens=100, related_request_id=ctx.request_id)
    return f"LLM response: {answer.content.text}"


@server.tool()
async def test_elicitation(message: str, ctx: Context) -> str:
    answer = await ctx.elicit(message, Person)
    return f"User response: {answer.action}"


@server.tool()
async def test_reconnection(ctx: Context) -> str:
    await ctx.close_sse_stream()
    await asyncio.sleep(0.2)
    return "Reconnection test completed successfully"


@server.tool()
async def test_trigger_tool_change(ctx: Context) -> str:
    await ctx.notify_tools_changed()
    return "changed"


@server.tool()
async def test_trigger_prompt_change(ctx: Context) -> str:
    await ctx.notify_prompts_changed()
    return "changed"


@server.tool()
def test_custom_headers(
    region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})],
    priority: Annotated[int, Field(json_schema_extra={"x-mcp-header": "Priority"})] = 0,
) -> str:
    return f"{region} {priority}"


def question(key: str, message: str) -> dict:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    params = ElicitRequestFormParams(message=message, requested_schema=schema)
    return {key: ElicitRequest(params=params)}


@server.tool()
async def test_input_required_result_elicitation(ctx: Context) -> CallToolResult | InputRequiredResult:
    given = (ctx.input_responses or {}).get("user_name")
    if given is None:
        return InputRequiredResult(input_requests=question("user_name", "What is your name?"))
    return text(f"Hello, {given.content['name']}!")


@server.tool()
async def test_input_required_result_request_state(ctx: Context) -> CallToolResult | InputRequiredResult:
    if ctx.request_state is None:
        return InputRequiredResult(input_requests=question("confirm", "Please confirm"), request_state="step-1")
    return text(f"state-ok {ctx.request_state}")


@server.tool()
async def test_input_required_result_multi_round(ctx: Context) -> CallToolResult | InputRequiredResult:
    match ctx.request_state:
        case None:
            return InputRequiredResult(input_requests=question("step1", "What is your name?"), request_state="round-1")
        case "round-1":
            return InputRequiredResult(input_requests=question("step2", "What is your colour?"), request_state="round-2")
    return text("all rounds are done")


@server.prompt()
def test_simple_prompt() -> str:
    return "This is a simple prompt for testing."


@server.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    return "This is the content of the static text resource."


server.run("streamable-http", port=int(os.environ["PORT"]), event_store=Stored(), retry_interval=300)
