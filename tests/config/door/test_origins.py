"""Which pages of other sites may use the API."""

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from config.door.origins import with_origins
from tests.sandbox_server import serving

OURS, OTHER = "https://app.example", "https://evil.example"
ASKS = {"Access-Control-Request-Method": "POST"}


async def answer(request: Request) -> JSONResponse:
    return JSONResponse({"asked": request.url.path})


@pytest.mark.parametrize("origins", [[OURS], []])
def test_only_named_origins_read_the_api_and_nothing_else(origins: list[str]) -> None:
    ways = [Route(path, answer, methods=["GET", "POST"]) for path in ("/api/v1/chat", "/admin/")]
    served = with_origins(Starlette(routes=ways), origins=origins)
    with serving(served) as url, httpx.Client(base_url=url) as ask:
        asked = ask.options(
            "/api/v1/chat",
            headers={
                "Origin": OURS,
                **ASKS,
                "Access-Control-Request-Headers": "authorization,cache-control,idempotency-key",
            },
        )
        theirs = ask.options("/api/v1/chat", headers={"Origin": OTHER, **ASKS})
        read = ask.get("/api/v1/chat", headers={"Origin": OURS})
        foreign = ask.get("/api/v1/chat", headers={"Origin": OTHER})
        page = ask.get("/admin/", headers={"Origin": OURS})

    allow = "access-control-allow-origin"
    named = OURS if origins else None
    assert (asked.headers.get(allow), read.headers.get(allow)) == (named, named)
    assert (asked.status_code == 200) is bool(origins)
    exposed = read.headers.get("access-control-expose-headers", "").split(", ")
    assert ({"X-As-Of", "Retry-After"} <= set(exposed)) is bool(origins)
    assert [one.headers.get(allow) for one in (theirs, foreign, page)] == [None] * 3
    assert "access-control-allow-credentials" not in asked.headers
