"""A server of the second Python SDK generation over Streamable HTTP, in both eras: server_http.py PORT."""

import sys

from mcp.server import MCPServer

server = MCPServer("python-http")


@server.tool()
def echo(message: str) -> str:
    """Says it back."""
    return f"Echo: {message}"


server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
