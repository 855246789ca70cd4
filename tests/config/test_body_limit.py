from collections.abc import Iterator

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from config.body_limit import with_body_limit
from tests.sandbox_server import serving


async def size(request: Request) -> JSONResponse:
    return JSONResponse(len(await request.body()))


@pytest.fixture
def origin() -> Iterator[str]:
    app = Starlette(routes=[Route("/", size, methods=["GET", "POST"])])
    with serving(with_body_limit(app, max_bytes=1000)) as url:
        yield url


def test_a_body_within_the_limit_arrives_whole(origin: str) -> None:
    assert httpx.post(origin, content=b"x" * 1000).json() == 1000
    assert httpx.get(origin).json() == 0


def test_an_announced_body_over_the_limit_is_refused(origin: str) -> None:
    response = httpx.post(origin, content=b"x" * 1001)

    assert (response.status_code, response.json()["error"]["code"]) == (413, "too_large")


def test_a_streamed_body_over_the_limit_is_refused(origin: str) -> None:
    response = httpx.post(origin, content=(b"x" * 100 for _ in range(11)))

    assert response.status_code == 413
