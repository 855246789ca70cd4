"""Is the caller one we know? Asked before a large body is read; who may do what is asked later."""

from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from importlib import import_module

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.db import DatabaseError, close_old_connections, connections

from config.door.lifespan import Scope
from integrations.web import webhooks
from integrations.web.authentication import caller_by_token


async def is_known(scope: Scope) -> bool:
    """Whether the request comes with a token or a session that exists, or with a webhook's
    signature that is fresh and of an organisation that has a secret: whether it holds is known
    when the body is read."""
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    parts = str(scope["path"]).strip("/").split("/")
    if parts[0] == "webhooks":
        return webhooks.seems_signed(
            slug=parts[1] if len(parts) == 3 else "default", headers=headers
        )
    return await sync_to_async(_has_proof, thread_sensitive=False)(headers)


def _has_proof(headers: Mapping[str, str]) -> bool:
    close_old_connections()
    try:
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return caller_by_token(token) is not None
        return _has_session(headers.get("cookie", ""))
    except DatabaseError:
        return False
    finally:
        connections.close_all()


def _has_session(cookie: str) -> bool:
    try:
        found = SimpleCookie(cookie).get(settings.SESSION_COOKIE_NAME)
    except CookieError:
        return False
    if found is None:
        return False
    store = import_module(settings.SESSION_ENGINE).SessionStore(found.value)
    return SESSION_KEY in store
