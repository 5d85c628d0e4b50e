"""The Python SDK 1.x as a client that only lists tools and calls one: `list_tools.py URL TOOL ARGUMENTS`."""

import asyncio
import json
import sys

from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client


async def main(url, tool, arguments):
    async with streamable_http_client(url) as (read, write, *_rest):
        async with ClientSession(read, write) as session:
            await session.initialize()
            tools = (await session.list_tools()).tools
            result = await session.call_tool(tool, json.loads(arguments))
            print(str(any(known.name == tool for known in tools)).lower(), result.content[0].text)


asyncio.run(main(*sys.argv[1:]))
