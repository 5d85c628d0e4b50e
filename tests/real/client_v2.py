"""The Python SDK 2.x as a client: `client_v2.py SCENARIO CMD ARG...`; see scenario.py for what it does.

It connects in its default mode: it sends `server/discover` first, and `initialize` to a server that
does not support it. So it uses the modern era with the `time` server and the legacy era with `everything`.
"""

import warnings
from contextlib import asynccontextmanager

from mcp import Client, MCPError, StdioServerParameters
from mcp import types
from mcp.client.sse import sse_client

import scenario


class Peer:
    """The scenario's verbs over a 2.x Client."""

    error = MCPError
    cancels = True

    def __init__(self, client):
        self.client = client
        self.list_tools = client.list_tools
        self.list_resources = client.list_resources
        self.list_templates = client.list_resource_templates
        self.list_prompts = client.list_prompts
        self.prompt = client.get_prompt
        self.read = client.read_resource
        self.subscribe = client.subscribe_resource
        self.unsubscribe = client.unsubscribe_resource
        self.ping = client.send_ping
        self.set_level = client.set_logging_level

    async def call(self, name, arguments, progress=None):
        return await self.client.call_tool(name, arguments, progress_callback=progress)

    async def complete(self, prompt, argument, known):
        ref = types.PromptReference(type="ref/prompt", name=prompt)
        return await self.client.complete(ref, argument, known)


def answers(seen):
    """The callbacks that answer the server and count its notifications."""

    async def sampling(_context, params):
        seen.sampling.append(scenario.mask(scenario.plain(params.messages)))
        return types.CreateMessageResult.model_validate(scenario.SAMPLE)

    async def elicitation(_context, params):
        seen.elicitation.append(sorted(scenario.plain(params)["requestedSchema"]["properties"]))
        return types.ElicitResult.model_validate(scenario.ELICITED)

    async def roots(_context):
        seen.roots += 1
        return types.ListRootsResult.model_validate({"roots": [scenario.ROOT]})

    async def incoming(message):
        method = getattr(message, "method", None)
        if method is not None:
            seen.notice(method, message.params)

    return {
        "sampling_callback": sampling,
        "elicitation_callback": elicitation,
        "list_roots_callback": roots,
        "message_handler": incoming,
    }


def agreed(client):
    return {
        "protocolVersion": client.protocol_version,
        "server": scenario.plain(client.server_info),
        "capabilities": scenario.plain(client.server_capabilities),
        "instructions": client.instructions,
    }


def server_at(command, arguments, environment):
    match scenario.transport_of(command):
        case "sse":
            return sse_client(command)
        case "http":
            return command
    return StdioServerParameters(command=command, args=arguments, env=environment)


@asynccontextmanager
async def connect(command, arguments, environment, seen):
    server = server_at(command, arguments, environment)
    info = types.Implementation(name="mcpreel-real-py2", version="1.0.0")
    timeout = scenario.REQUEST_SECONDS
    async with Client(server, client_info=info, read_timeout_seconds=timeout, **answers(seen)) as client:
        yield agreed(client), Peer(client)


warnings.simplefilter("ignore")  # the legacy era's operations are deprecated in 2.x, but intended here
scenario.main(connect)
