"""Opaque cursors: where a listing goes on, for one user and one set of filters.

They are signed, so that a made-up or altered one is refused, and carry a generation, so that
all of them can be expired at once.
"""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Mapping

from sandbox.data_service.errors import Refusal
from sandbox.data_service.store import Store

GENERATION = "cursor_generation"


def encode(store: Store, *, secret: str, scope: Mapping[str, object], position: int) -> str:
    """A cursor that goes on after `position`; `scope` is what it may be used for."""
    text = json.dumps([_digest(scope), position, _generation(store)])
    payload = base64.urlsafe_b64encode(text.encode()).decode()
    return f"{payload}.{_signature(secret, payload)}"


def decode(store: Store, *, secret: str, scope: Mapping[str, object], cursor: str) -> int:
    """The position to go on after. Refuses 400 bad_cursor and 410 cursor_expired."""
    payload, _, signature = cursor.partition(".")
    if not hmac.compare_digest(signature.encode(), _signature(secret, payload).encode()):
        raise Refusal(400, "bad_cursor", "This cursor was not made here.")
    try:
        digest, position, generation = json.loads(base64.urlsafe_b64decode(payload))
    except (ValueError, binascii.Error) as error:
        raise Refusal(400, "bad_cursor", "This cursor was not made here.") from error
    if digest != _digest(scope):
        raise Refusal(400, "bad_cursor", "This cursor belongs to another listing.")
    if generation != _generation(store):
        raise Refusal(410, "cursor_expired", "This cursor has expired. List again from `since`.")
    return int(position)


def expire_all(store: Store) -> None:
    store.set_option(GENERATION, str(_generation(store) + 1))


def _generation(store: Store) -> int:
    return int(store.option(GENERATION, "0"))


def _digest(scope: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(scope, sort_keys=True).encode()).hexdigest()[:16]


def _signature(secret: str, payload: str) -> str:
    return hmac.new(secret.encode(), payload.encode(), hashlib.sha256).hexdigest()[:32]
