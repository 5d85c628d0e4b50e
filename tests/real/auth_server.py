"""A server of the Python SDK that requires OAuth, with the SDK's own authorization server: `auth_server.py PORT`.

Runs with both generations of the SDK. The user agrees at once. Access tokens last LIFETIME seconds (default 3600), and a
refresh token counts once. POST /test/revoke ends all access tokens; with ?refresh=yes the refresh tokens, too.
With SSE=yes, the server is at /sse and only supports HTTP+SSE. POST /test/audience turns all access tokens into tokens for another server. With STEP=yes, the server needs the scope `write` for POSTs that call a tool.
"""

import json
import os
import secrets
import sys
import time

import uvicorn
from mcp.server.auth.provider import AccessToken, AuthorizationCode, RefreshToken, construct_redirect_uri
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.shared.auth import OAuthToken
from starlette.responses import JSONResponse

try:
    from mcp.server.fastmcp import FastMCP as Server
except ModuleNotFoundError:
    from mcp.server.mcpserver import MCPServer as Server

PORT = int(sys.argv[1])
URL = f"http://127.0.0.1:{PORT}"
PATH = "sse" if os.environ.get("SSE") else "mcp"
LIFETIME = int(os.environ.get("LIFETIME", "3600"))


class Provider:
    """Keeps everything in memory."""

    def __init__(self):
        self.clients, self.codes, self.access, self.refresh = {}, {}, {}, {}

    async def get_client(self, client_id):
        return self.clients.get(client_id)

    async def register_client(self, client_info):
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client, params):
        code = AuthorizationCode(
            code=secrets.token_hex(16),
            scopes=params.scopes or ["read"],
            expires_at=time.time() + 60,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        self.codes[code.code] = code
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state)

    async def load_authorization_code(self, client, authorization_code):
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(self, client, authorization_code):
        del self.codes[authorization_code.code]
        return self.issue(client, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(self, client, refresh_token):
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(self, client, refresh_token, scopes):
        del self.refresh[refresh_token.token]
        return self.issue(client, scopes, refresh_token.resource)

    def issue(self, client, scopes, resource):
        access, refresh = secrets.token_hex(32), secrets.token_hex(32)
        until = int(time.time()) + LIFETIME
        about = {"client_id": client.client_id, "scopes": scopes, "resource": resource}
        self.access[access] = AccessToken(token=access, expires_at=until, **about)
        self.refresh[refresh] = RefreshToken(token=refresh, **about)
        return OAuthToken(access_token=access, expires_in=LIFETIME, refresh_token=refresh, scope=" ".join(scopes))

    async def load_access_token(self, token):
        found = self.access.get(token)
        return found if found and found.expires_at > time.time() else None

    async def revoke_token(self, token):
        self.access.pop(token.token, None)
        self.refresh.pop(token.token, None)


provider = Provider()
options = dict(
    auth_server_provider=provider,
    auth=AuthSettings(
        issuer_url=URL,
        resource_server_url=f"{URL}/{PATH}",
        client_registration_options=ClientRegistrationOptions(
            enabled=True, valid_scopes=["read", "write"], default_scopes=["read"]
        ),
        revocation_options=RevocationOptions(enabled=True),
        required_scopes=["read"],
        validate_token_resource=True,
    ),
)
server = Server("protected", **options)


@server.tool()
def echo(message: str) -> str:
    return f"Echo: {message}"


@server.custom_route("/test/revoke", methods=["POST"])
async def revoke(request):
    provider.access.clear()
    if request.query_params.get("refresh"):
        provider.refresh.clear()
    return JSONResponse({})


@server.custom_route("/test/audience", methods=["POST"])
async def audience(request):
    for token in provider.access.values():
        token.resource = "https://other.example/mcp"
    return JSONResponse({})


class StepUp:
    """Asks for the scope `write` before a tool is called, as a server would that checks scopes per operation."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http" or scope["path"] != "/mcp" or scope["method"] != "POST":
            return await self.app(scope, receive, send)
        chunks, more = [], True
        while more:
            message = await receive()
            chunks.append(message.get("body", b""))
            more = message.get("more_body", False)
        body = b"".join(chunks)
        token = dict(scope["headers"]).get(b"authorization", b"").decode().removeprefix("Bearer ")
        known = provider.access.get(token)
        if known and json.loads(body).get("method") == "tools/call" and "write" not in known.scopes:
            metadata = f"{URL}/.well-known/oauth-protected-resource/mcp"
            challenge = f'Bearer error="insufficient_scope", scope="write", resource_metadata="{metadata}"'
            response = JSONResponse({"error": "insufficient_scope"}, 403, {"WWW-Authenticate": challenge})
            return await response(scope, receive, send)
        sent = False

        async def again():
            nonlocal sent
            if sent:
                return await receive()
            sent = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self.app(scope, again, send)


app = server.sse_app() if PATH == "sse" else server.streamable_http_app()
if os.environ.get("STEP"):
    app = StepUp(app)
uvicorn.run(app, host="127.0.0.1", port=PORT, log_level="warning")
