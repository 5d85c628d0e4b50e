"""The Python SDK 1.x as a client: `client_v1.py SCENARIO CMD ARG...`; see scenario.py for what it does."""

from contextlib import asynccontextmanager
from datetime import timedelta

from mcp import ClientSession, McpError, StdioServerParameters, stdio_client, types
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from pydantic import AnyUrl

import scenario


class Peer:
    """The scenario's verbs over a 1.x ClientSession."""

    error = McpError
    cancels = False  # 1.x does not notify the server when a call is cancelled

    def __init__(self, session):
        self.session = session
        self.list_tools = session.list_tools
        self.list_resources = session.list_resources
        self.list_templates = session.list_resource_templates
        self.list_prompts = session.list_prompts
        self.prompt = session.get_prompt
        self.ping = session.send_ping
        self.set_level = session.set_logging_level

    async def call(self, name, arguments, progress=None):
        return await self.session.call_tool(name, arguments, progress_callback=progress)

    async def read(self, uri):
        return await self.session.read_resource(AnyUrl(uri))

    async def subscribe(self, uri):
        return await self.session.subscribe_resource(AnyUrl(uri))

    async def unsubscribe(self, uri):
        return await self.session.unsubscribe_resource(AnyUrl(uri))

    async def complete(self, prompt, argument, known):
        ref = types.PromptReference(type="ref/prompt", name=prompt)
        return await self.session.complete(ref, argument, known)


def answers(seen):
    """The callbacks that answer the server and count its notifications."""

    async def sampling(_context, params):
        seen.sampling.append(scenario.mask(scenario.plain(params.messages)))
        return types.CreateMessageResult.model_validate(scenario.SAMPLE)

    async def elicitation(_context, params):
        seen.elicitation.append(sorted(params.requestedSchema["properties"]))
        return types.ElicitResult.model_validate(scenario.ELICITED)

    async def roots(_context):
        seen.roots += 1
        return types.ListRootsResult.model_validate({"roots": [scenario.ROOT]})

    async def incoming(message):
        if isinstance(message, types.ServerNotification):
            seen.notice(message.root.method, message.root.params)

    return {
        "sampling_callback": sampling,
        "elicitation_callback": elicitation,
        "list_roots_callback": roots,
        "message_handler": incoming,
    }


def transport_to(command, arguments, environment):
    match scenario.transport_of(command):
        case "sse":
            return sse_client(command)
        case "http":
            return streamable_http_client(command)
    return stdio_client(StdioServerParameters(command=command, args=arguments, env=environment))


@asynccontextmanager
async def connect(command, arguments, environment, seen):
    async with transport_to(command, arguments, environment) as (read, write, *_session):
        timeout = timedelta(seconds=scenario.REQUEST_SECONDS)
        info = types.Implementation(name="mcpreel-real-py1", version="1.0.0")
        async with ClientSession(read, write, timeout, client_info=info, **answers(seen)) as session:
            yield await session.initialize(), Peer(session)


scenario.main(connect)
