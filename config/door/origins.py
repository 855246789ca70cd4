"""Pages of other sites that may use the API: those that the setting names, and no others.

In front of Django, because event streams are. No cookie goes with such a request: a frontend brings
a token of its own.
"""

from collections.abc import Sequence
from typing import Any

from starlette.middleware.cors import CORSMiddleware

from config.door.lifespan import App, Receive, Scope, Send

SENT = ("Authorization", "Cache-Control", "Content-Type", "Idempotency-Key", "Last-Event-ID")
READ = ("Retry-After", "Idempotency-Replayed", "WWW-Authenticate", "X-As-Of")


def with_origins(app: App, *, origins: Sequence[str]) -> App:
    """`app` with what browsers ask before a page of `origins` may read an answer of the API."""
    if not origins:
        return app
    shared: Any = CORSMiddleware(
        app,
        allow_origins=origins,
        allow_methods=("GET", "POST", "PATCH", "DELETE"),
        allow_headers=SENT,
        expose_headers=READ,
    )

    async def entrance(scope: Scope, receive: Receive, send: Send) -> None:
        is_api = scope["type"] == "http" and str(scope["path"]).startswith("/api/")
        await (shared if is_api else app)(scope, receive, send)

    return entrance
