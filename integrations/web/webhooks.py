"""Webhooks in: proved, stored and queued in one statement, answered with 202.

Signatures follow Standard Webhooks (webhook-id, webhook-timestamp, webhook-signature).
Nothing of the body is parsed before the signature holds. The push is a hint: what is done
later reads the event again and decides.
"""

import logging
from collections.abc import Callable, Mapping
from typing import Literal
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.csrf import csrf_exempt
from pydantic import ValidationError
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from integrations.contracts.events import ItemEvent, WebhookEvent
from integrations.database import trouble
from integrations.network import strict_json
from integrations.web.problems import MEDIA_TYPE, problem

log = logging.getLogger(__name__)
Accept = Callable[[str, str, ItemEvent], tuple[UUID, bool]]
Kind = Literal["created", "updated", "deleted"]
MAX_ID_LENGTH = 200
SIGNATURE_SECONDS = 300  # on either side of now, as the library of Standard Webhooks has it


class Refused(Exception):
    """A webhook that is not taken: HTTP status, code and a sentence."""

    def __init__(self, status: int, code: str, sentence: str) -> None:
        super().__init__(code)
        self.status, self.code, self.sentence = status, code, sentence


def seems_signed(*, slug: str, headers: Mapping[str, str]) -> bool:
    """Whether a signature may hold, by all that is known before the body is read: is it there, of
    now, and of an organisation with a secret? The names in `headers` are in small letters."""
    sent_at = headers.get("webhook-timestamp", "")
    if slug not in settings.WEBHOOK_SECRETS or not (sent_at.isdecimal() and len(sent_at) < 16):
        return False
    if not headers.get("webhook-id") or not headers.get("webhook-signature"):
        return False
    return abs(timezone.now().timestamp() - int(sent_at)) <= SIGNATURE_SECONDS


def verify(*, slug: str, body: bytes, headers: Mapping[str, str]) -> str:
    """The webhook id, when the signature of `slug`'s data service holds and is fresh.

    Raises Refused. An organisation without a secret has no valid signature.
    """
    secret = settings.WEBHOOK_SECRETS.get(slug)
    names = ("webhook-id", "webhook-timestamp", "webhook-signature")
    values = {name: headers.get(name, "") for name in names}
    if not all(values.values()):
        raise Refused(401, "missing_signature", f"Send the headers {', '.join(names)}.")
    if len(values["webhook-id"]) > MAX_ID_LENGTH:
        raise Refused(400, "bad_webhook_id", "The webhook id is too long.")
    if secret is None:
        raise Refused(401, "bad_signature", "The signature does not fit, or is too old.")
    try:
        Webhook(secret).verify(body, values, json_parse=False)
    except (WebhookVerificationError, ValueError, TypeError) as error:
        raise Refused(401, "bad_signature", "The signature does not fit, or is too old.") from error
    return values["webhook-id"]


def parse(*, kind: Kind, body: bytes) -> ItemEvent:
    """The event in a verified body. Raises Refused."""
    try:
        data = strict_json.load_object(body)
    except ValueError as error:
        raise Refused(
            400, "invalid_json", f"The body is not a valid JSON object: {error}."
        ) from error
    if kind == "updated" and "full_data" in data:
        data["data"] = data.pop("full_data")
    if "kind" in data:
        raise Refused(400, "invalid", "kind: this field is not part of the contract.")
    try:
        event = WebhookEvent.model_validate(data | {"kind": kind})
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "body"
        raise Refused(400, "invalid", f"{field}: {first['msg']}.") from error
    if (event.kind == "deleted") is not (event.data is None):
        raise Refused(400, "invalid", "data: send the whole item, except for a deletion.")
    if event.timestamp.tzinfo is None:
        raise Refused(400, "invalid", "timestamp: name the time zone.")
    return event


@method_decorator(csrf_exempt, name="dispatch")
class WebhookView(View):
    """`POST /webhooks[/<organisation>]/item-<kind>`: 202 once it is safely stored."""

    http_method_names = ["post"]
    kind: Kind = "created"
    # What stores the event of an organisation under its webhook id, and queues the work: the
    # delivery's id, and whether it is new. Wired in config.urls, as this app knows no agents.
    store: Accept | None = None

    def post(self, request: HttpRequest, slug: str = "default") -> HttpResponse:
        try:
            return self.accept(request, slug)
        except Refused as refused:
            known = slug if slug in settings.WEBHOOK_SECRETS else None
            log.info("webhook.refused", extra={"code": refused.code, "organisation": known})
            said = problem(refused.status, refused.code, refused.sentence)
            return JsonResponse(said, status=refused.status, content_type=MEDIA_TYPE)
        except (DatabaseError, InterfaceError) as error:
            if (found := trouble.describe(error)) is None:
                raise
            log.warning("webhook.not_stored", extra={"code": found.code, "organisation": slug})
            again = {"Retry-After": str(found.wait)}
            said = problem(503, found.code, found.sentence)
            return JsonResponse(said, status=503, headers=again, content_type=MEDIA_TYPE)

    def accept(self, request: HttpRequest, slug: str) -> HttpResponse:
        length = request.headers.get("Content-Length", "")
        if length.isdecimal() and int(length) > settings.WEBHOOK_MAX_BYTES:
            raise Refused(413, "too_large", "The body is too large.")
        body = request.read(settings.WEBHOOK_MAX_BYTES + 1)
        if len(body) > settings.WEBHOOK_MAX_BYTES:
            raise Refused(413, "too_large", "The body is too large.")
        webhook_id = verify(slug=slug, body=body, headers=request.headers)
        event = parse(kind=self.kind, body=body)
        if self.store is None:
            raise RuntimeError("WebhookView.store is not wired")
        delivery_id, new = self.store(slug, webhook_id, event)
        log.info("webhook.accepted", extra={"delivery": str(delivery_id), "new": new})
        return JsonResponse(
            {
                "status": "accepted" if new else "duplicate",
                "source_id": event.source_id,
                "delivery_id": str(delivery_id),
            },
            status=202,
        )
