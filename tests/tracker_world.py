"""What fakes of issue trackers have in common: real HTTP over TLS on loopback, each request and
answer held against the vendor's published description, and bad luck on demand. Nothing here is a
tracker: a fake knows what its vendor's documents say and no more."""

import contextlib
import json
import re
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.imap_server import certificate
from tests.openapi import Description, NotDescribed, Operation
from tests.sandbox_server import serving

METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class Refuse(Exception):
    """An answer that is no success."""

    def __init__(self, status: int, body: Any = None, headers: Mapping[str, str] | None = None):
        super().__init__(status)
        self.status, self.body, self.headers = status, body or {"message": "no"}, headers or {}


@dataclass(kw_only=True)
class Call:
    method: str
    path: str
    query: dict[str, str]
    body: Any
    headers: Mapping[str, str]
    content: bytes = b""  # beside the body
    query_lists: Mapping[str, list[str]] = field(default_factory=dict)


@dataclass(kw_only=True)
class FakeTracker:
    """`described` is what it is held against. `problems` are requests and answers that its vendor's
    description does not know: a test expects none. `writes` are the requests that changed
    something, `reads` how many others there were."""

    described: Description
    token: str
    login: str
    prefix: str = ""
    origin: str = ""
    trusted: Path = Path()
    problems: list[str] = field(default_factory=list)
    writes: list[Call] = field(default_factory=list)
    reads: int = 0
    lose: int = 0  # answers to the next writes: done, and not said
    fail: int = 0  # of the next requests: not done, 500
    refuse: list[Refuse] = field(default_factory=list)  # the answers to the next requests
    now: datetime = field(default_factory=lambda: datetime.now(UTC).replace(microsecond=0))

    def answer(self, call: Call, operation: Operation) -> tuple[int, Any]:
        """What the vendor's documents say. Raises Refuse."""
        raise NotImplementedError

    def is_write(self, call: Call) -> bool:
        return call.method in WRITES

    def tick(self, seconds: int = 1) -> datetime:
        self.now += timedelta(seconds=seconds)
        return self.now

    def respond(self, call: Call) -> Response:
        answer = self._respond_or_refuse(call)
        answer.headers["date"] = format_datetime(self.now, usegmt=True)
        return answer

    def _respond_or_refuse(self, call: Call) -> Response:
        try:
            return self._respond(call)
        except Refuse as no:
            return JSONResponse(no.body, no.status, dict(no.headers))
        except NotDescribed as problem:
            self.problems.append(f"{call.method} {call.path}: {problem}")
            return JSONResponse({"message": str(problem)}, 422)

    def _respond(self, call: Call) -> Response:
        if self.refuse:
            raise self.refuse.pop(0)
        if self.fail:
            self.fail -= 1
            raise Refuse(500)
        operation = self.described.find(call.method, call.path)
        operation.check_request(query=call.query, body=call.body)
        status, body = self.answer(call, operation)
        if self.is_write(call):
            self.writes.append(call)
            if self.lose:
                self.lose -= 1
                raise Refuse(502)
        else:
            self.reads += 1
        if body is None:
            return Response(status_code=status)
        operation.check_answer(body)
        return JSONResponse(body, status)


def _read(kind: str, content: bytes) -> tuple[Any, bytes]:
    """JSON, and the bytes that came with it (multipart/related, RFC 2387) or in its place."""
    if kind.startswith("text/plain"):
        return None, content
    if not kind.startswith("multipart/related; boundary="):
        return json.loads(content) if content else None, b""
    edge = re.escape(kind.partition("boundary=")[2].encode())
    form = rb"--%b\r\nContent-Type: application/json[^\r]*\r\n\r\n(.*?)\r\n--%b\r\n" % (edge, edge)
    form += rb"Content-Type: [^\r]+\r\n\r\n(.*)\r\n--%b--\r\n" % edge
    found = re.fullmatch(form, content, re.DOTALL)
    assert found is not None, content
    return json.loads(found[1]), found[2]


@contextlib.contextmanager
def serving_tracker(tracker: FakeTracker) -> Iterator[None]:
    """Serves until the block ends; `origin` and `trusted` say where, and by which certificate."""

    async def handle(request: Request) -> Response:
        content, query = await request.body(), dict(request.query_params)
        path = request.scope["raw_path"].decode().partition("?")[0]
        if not path.startswith(tracker.prefix):
            return JSONResponse({"message": "Not Found"}, 404)
        body, beside = _read(request.headers.get("content-type", ""), content)
        return tracker.respond(
            Call(
                method=request.method,
                path=path.removeprefix(tracker.prefix),
                query=query,
                body=body,
                content=beside,
                headers=request.headers,
                query_lists={name: request.query_params.getlist(name) for name in query},
            )
        )

    handler: Callable[[Request], Awaitable[Response]] = handle
    app = Starlette(routes=[Route("/{path:path}", handler, methods=METHODS)])
    with tempfile.TemporaryDirectory(prefix="remit-tracker-") as folder:
        pem = certificate(Path(folder))
        with serving(app, certificate=pem) as origin:
            tracker.origin, tracker.trusted = origin, Path(folder) / "ca.pem"
            yield
