"""The entrance of Remit's MCP server, in front of Django: who calls, for whom, and from where.

Only a service token with the scope `mcp` opens it: no cookie counts here, so no page of somebody
else can act for a person who is logged in. Host and Origin are looked at all the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

from asgiref.sync import sync_to_async
from django.db import close_old_connections, connections
from django.utils.translation import gettext_noop

from agents.api.mcp.offers import Visitor
from agents.context import people
from agents.turns.streams import App, Receive, Scope, Send
from integrations.providers.mcp.session import NotInstalled, is_installed
from integrations.web.answers import render_refusal
from integrations.web.authentication import Caller, LacksScope, TokenThrottle, caller_by_token
from integrations.web.hosts import is_ours

PATH = "/mcp"
USER_HEADER = b"x-user-id"
SCOPE = "mcp"
OTHER_HOST = gettext_noop("This is not a name of this server.")
OTHER_SITE = gettext_noop("Pages of other sites may not call this.")
USE_POST = gettext_noop("Use POST: there are no sessions to listen to.")
BAD_TOKEN = gettext_noop("Send a service token: Authorization: Bearer remit_…")
TOO_OFTEN = gettext_noop("Too many requests. Try again in a minute.")
NO_SUCH_USER = gettext_noop("There is no such user.")
FOR_WHOM = gettext_noop("Say whom this is for in the header X-User-ID.")


@dataclass(frozen=True)
class Closed(Exception):
    """The request is not let in: a status, a code and a sentence with its values; `wait`: after how
    many seconds to come again."""

    status: int
    code: str
    sentence: str
    values: Mapping[str, object] = field(default_factory=dict)
    wait: int = 0


def with_mcp(app: App) -> App:
    """`app` with Remit's MCP server in front of it."""

    async def entrance(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or str(scope["path"]).rstrip("/") != PATH:
            await app(scope, receive, send)
            return
        try:
            visitor = await sync_to_async(_visitor, thread_sensitive=False)(scope)
        except Closed as closed:
            await _refuse(scope, send, closed)
            return
        # Loads the SDK, which most processes never need.
        from agents.api.mcp.server import serve  # noqa: PLC0415

        await serve(visitor, scope, receive, send)

    return entrance


def _visitor(scope: Scope) -> Visitor:
    """Raises Closed."""
    headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
    if not is_installed():
        raise Closed(503, "not_installed", str(NotInstalled()))
    if not is_ours(headers.get(b"host", "")):
        raise Closed(421, "wrong_host", OTHER_HOST)
    origin = headers.get(b"origin")
    if origin is not None and not is_ours(urlsplit(origin).netloc):
        raise Closed(403, "wrong_origin", OTHER_SITE)
    if scope["method"] != "POST":
        raise Closed(405, "method_not_allowed", USE_POST)
    close_old_connections()
    try:
        return _whose(headers)
    finally:
        connections.close_all()


def _whose(headers: dict[bytes, str]) -> Visitor:
    kind, _, token = headers.get(b"authorization", "").partition(" ")
    caller = caller_by_token(token) if kind.lower() == "bearer" else None
    if caller is None:
        raise Closed(401, "bad_token", BAD_TOKEN)
    if SCOPE not in caller.scopes:
        raise Closed(403, "lacks_scope", LacksScope.template, {"scope": SCOPE})
    throttle: Any = TokenThrottle()
    if not throttle.allow_request(SimpleNamespace(auth=caller), None):
        raise Closed(429, "throttled", TOO_OFTEN, wait=ceil(throttle.wait() or 60))
    user_id = _user(headers, caller)
    person = people.load_person(organisation_id=caller.organisation_id, external_user_id=user_id)
    if person is None or not caller.allows_user(user_id):
        raise Closed(404, "unknown_user", NO_SUCH_USER)
    return Visitor(principal=caller.principal, person=person)


def _user(headers: dict[bytes, str], caller: Caller) -> str:
    """Whom the call is for: the header says, or the token is for one user alone."""
    named = headers.get(USER_HEADER, "")
    if named:
        return named
    if len(caller.user_ids) == 1:
        return next(iter(caller.user_ids))
    raise Closed(400, "no_user", FOR_WHOM)


async def _refuse(scope: Scope, send: Send, closed: Closed) -> None:
    headers, body = render_refusal(
        dict(scope["headers"]),
        closed.status,
        closed.code,
        closed.sentence,
        wait=closed.wait,
        values=closed.values,
    )
    if closed.status == 405:
        headers.append((b"allow", b"POST"))
    await send({"type": "http.response.start", "status": closed.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
