"""Answers of the door itself, in the shape of every other error."""

from collections.abc import Mapping

from django.utils.translation import gettext_noop

from config.door.lifespan import Scope, Send
from integrations.web.answers import render_refusal

TOO_LARGE = gettext_noop("The request body is too large.")
NO_ROOM = gettext_noop("There is no room for large requests now. Come again.")
WHO_ARE_YOU = gettext_noop(
    "Say who you are: a body over %(bytes)s bytes is only read with a token, a session, or the "
    "headers of a webhook's signature."
)
TOO_MUCH_WAITS = gettext_noop("Too much work waits already. Come again.")
TOO_MANY_AT_ONCE = gettext_noop("Too many of these requests are worked on. Come again.")
TOO_OFTEN = gettext_noop("Too many requests come from this address. Come again.")
TOO_SLOW = gettext_noop("The request did not come whole in time.")
TOO_MANY_CONNECTIONS = gettext_noop("There are too many connections. Come again.")


async def refuse(
    scope: Scope,
    send: Send,
    status: int,
    code: str,
    sentence: str,
    *,
    wait: int = 0,
    values: Mapping[str, object] | None = None,
) -> None:
    """One error in the language that the request asks for, after which the connection is closed:
    the rest of the request may be missing. `sentence` is one of these, with its `values`; `wait`:
    after how many seconds to come again."""
    asked = dict(scope["headers"])
    headers, body = render_refusal(asked, status, code, sentence, wait=wait, values=values)
    headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
