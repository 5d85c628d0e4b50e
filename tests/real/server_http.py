"""A server of the Python SDK 2.x over HTTP: `PORT=N server_http.py streamable-http|sse`, on 127.0.0.1.

It is the time server, which supports both eras, with additions that the official conformance suite calls by name.
"""

import os
import sys

from mcp.server.mcpserver import Context, Image
from mcp_server_time.server import create_server

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d4944415478da63fccfc0f01f0005050201"
    "5fc8f1d20000000049454e44ae426082"
)

server = create_server("UTC")


@server.tool()
def echo(message: str) -> str:
    return f"Echo: {message}"


@server.tool()
def test_simple_text() -> str:
    return "This is a simple text response for testing."


@server.tool()
def test_image_content() -> Image:
    return Image(data=PIXEL, format="png")


@server.tool()
def test_error_handling() -> str:
    raise RuntimeError("This tool intentionally returns an error for testing")


@server.tool()
async def test_tool_with_progress(ctx: Context) -> str:
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100)
    return "done"


@server.prompt()
def test_simple_prompt() -> str:
    return "This is a simple prompt for testing."


@server.prompt()
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@server.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    return "This is the content of the static text resource."


@server.resource("test://static-binary", mime_type="image/png")
def static_binary() -> bytes:
    return PIXEL


@server.resource("test://template/{id}/data", mime_type="application/json")
def template(id: str) -> str:
    return f'{{"id":"{id}","templateTest":true,"data":"Data for ID: {id}"}}'


server.run(sys.argv[1], port=int(os.environ["PORT"]))
