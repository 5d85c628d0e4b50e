"""langchain-mcp-adapters as a client: `client_langchain.py everything|time CMD ARG...`, or a server's URL.

Prints one JSON line for each operation; see scenario.py for how values that vary are masked.
"""

import json
import sys

import anyio
from langchain_mcp_adapters.client import MultiServerMCPClient

CALLS = {
    "everything": [
        ("echo", {"message": "hello, \u4e16\u754c"}),
        ("get-sum", {"a": 2, "b": 40}),
        ("get-structured-content", {"location": "Chicago"}),
        ("get-tiny-image", {}),
    ],
    "time": [
        ("convert_time", {"source_timezone": "Asia/Tokyo", "time": "16:30", "target_timezone": "Asia/Kathmandu"}),
        ("convert_time", {"source_timezone": "UTC", "time": "25:99", "target_timezone": "UTC"}),
    ],
}


def connection(command, arguments):
    if not command.startswith(("http://", "https://")):
        return {"transport": "stdio", "command": command, "args": arguments}
    return {"transport": "sse" if command.endswith("/sse") else "streamable_http", "url": command}


def shown(value):
    import scenario

    return scenario.mask(json.loads(json.dumps(value, default=str)))


def without_ids(content):
    """The adapter gives each block an id of its own."""
    if not isinstance(content, list):
        return content
    return [{name: item for name, item in block.items() if name != "id"} for block in content]


async def main():
    name, command, *arguments = sys.argv[1:]
    client = MultiServerMCPClient({"it": connection(command, arguments)})
    async with client.session("it") as session:
        from langchain_mcp_adapters.tools import load_mcp_tools

        tools = {tool.name: tool for tool in await load_mcp_tools(session)}
        for tool in tools.values():
            print(json.dumps({"op": "tool", "ok": shown([tool.name, tool.description, tool.args_schema])}))
        for tool, given in CALLS[name]:
            try:
                result = {"ok": shown(without_ids(await tools[tool].ainvoke(given)))}
            except Exception as error:  # a tool's own error is an exception here
                result = {"error": shown(str(error))}
            print(json.dumps({"op": tool, **result}))


anyio.run(main)
