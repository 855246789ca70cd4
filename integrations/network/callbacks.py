"""Messages to the organisation's own frontend, signed like webhooks (Standard Webhooks).

The address is the operator's, from the environment: nobody else can name one.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from integrations.exceptions import Malformed, NotPermitted
from integrations.network import http
from integrations.network.outgoing import signature


def send(*, slug: str, id: str, kind: str, data: Mapping[str, Any], now: datetime) -> None:
    """Tell the frontend of `slug` once. The same id again is the same message.

    Raises a ProviderError; NotPermitted when no address or secret is configured.
    """
    url, secret = settings.SYNC_CALLBACKS.get(slug), settings.SYNC_CALLBACK_SECRETS.get(slug)
    if not url or not secret:
        raise NotPermitted(f"set SYNC_CALLBACKS and SYNC_CALLBACK_SECRETS for “{slug}”")
    said = {"type": kind, "timestamp": now.isoformat(), "data": data}
    body = json.dumps(said).encode()
    parts = urlsplit(url)
    with suppress(Malformed):  # it has taken it, whatever it says besides
        http.request(
            http.client(f"{parts.scheme}://{parts.netloc}"),
            "POST",
            f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}",
            body=body,
            headers=signature(secret, webhook_id=id, body=body, now=now),
        )
