"""An outside agent at the web process's own entrance: a real MCP client with a token."""

from dataclasses import dataclass
from typing import Any

import anyio
import httpx
import httpx2
from mcp import Client, types
from mcp.client.streamable_http import streamable_http_client

from tests.guardrails.office import Office


@dataclass(kw_only=True)
class Outside:
    """An outside agent with a token of this office."""

    url: str
    office: Office
    token: str

    def headers(self, **changes: str) -> dict[str, str]:
        found = {"Authorization": f"Bearer {self.token}", "X-User-ID": self.office.user_id}
        return found | changes

    def session(self, work: Any, *, mode: str = "auto", **headers: str) -> Any:
        async def main() -> Any:
            async with (
                httpx2.AsyncClient(headers=self.headers(**headers)) as http,
                Client(
                    streamable_http_client(self.url, http_client=http), mode=mode, cache=None
                ) as client,
            ):
                return await work(client)

        return anyio.run(main)

    def tools(self, mode: str = "auto") -> dict[str, types.Tool]:
        async def listed(client: Client) -> Any:
            return (await client.list_tools()).tools

        return {one.name: one for one in self.session(listed, mode=mode)}

    def call(self, name: str, arguments: dict[str, Any], key: str = "") -> dict[str, Any]:
        async def called(client: Client) -> Any:
            meta: Any = {"remit/idempotency-key": key} if key else None
            return await client.session.call_tool(name, arguments, meta=meta)

        answer = self.session(called)
        found = dict(answer.structured_content)
        failed = found.get("status") in ("refused", "failed", "unknown")
        assert answer.is_error == failed
        return found

    def post(self, body: Any = None, **headers: str) -> httpx.Response:
        ping = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        sent = self.headers(Accept="application/json, text/event-stream") | headers
        return httpx.post(self.url, json=body or ping, headers=sent)
