"""Webhooks in: proved, stored and queued in one statement, answered with 202.

Signatures follow Standard Webhooks (webhook-id, webhook-timestamp, webhook-signature).
Nothing of the body is parsed before the signature holds. The push is a hint: what is done
later reads the event again and decides.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
from standardwebhooks import webhooks as standard

from integrations.contracts.events import ItemEvent, WebhookEvent
from integrations.database import trouble
from integrations.network import strict_json
from integrations.web.problems import MEDIA_TYPE, problem

log = logging.getLogger(__name__)
Kind = Literal["created", "updated", "deleted"]
MAX_ID_LENGTH = 200
SIGNATURE_SECONDS = 300  # on either side of now, as the library of Standard Webhooks has it


class Refused(Exception):
    """A webhook that is not taken: HTTP status, code and a sentence."""

    def __init__(self, status: int, code: str, sentence: str) -> None:
        super().__init__(code)
        self.status, self.code, self.sentence = status, code, sentence


@dataclass(frozen=True, kw_only=True)
class Webhook:
    """One as it came. The names in `headers` are in small letters."""

    kind: Kind
    slug: str  # of the organisation
    body: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Verified:
    slug: str
    webhook_id: str
    event: ItemEvent


@dataclass(frozen=True, kw_only=True)
class Stored:
    """In which delivery, and what was found of it at once."""

    delivery_id: UUID
    is_new: bool = True
    reason: str = ""


# Stores and queues verified events, all or none: what became of each. It is given where all is
# wired, as this app knows no agents.
Store = Callable[[Sequence[Verified]], Sequence[Stored | Refused]]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A status, a JSON object and its media type; `wait`: after how many seconds to come again."""

    status: int
    said: Mapping[str, object]
    media_type: str = "application/json"
    wait: int = 0


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
        standard.Webhook(secret).verify(body, values, json_parse=False)
    except (standard.WebhookVerificationError, ValueError, TypeError) as error:
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


def take(came: Sequence[Webhook], store: Store) -> list[Answer]:
    """202 for each once it is safely stored."""
    known = [_verified(one) for one in came]
    verified = [one for one in known if isinstance(one, Verified)]
    stored = iter(_store(verified, store) if verified else ())
    return [next(stored) if isinstance(one, Verified) else one for one in known]


def _verified(one: Webhook) -> Verified | Answer:
    try:
        webhook_id = verify(slug=one.slug, body=one.body, headers=one.headers)
        event = parse(kind=one.kind, body=one.body)
    except Refused as refused:
        return refuse(one.slug, refused)
    return Verified(slug=one.slug, webhook_id=webhook_id, event=event)


def _store(verified: Sequence[Verified], store: Store) -> list[Answer]:
    """All by one statement. Where that does not go through, each by itself: one that the database
    does not take keeps no other out."""
    try:
        stored = store(verified)
    except Exception as error:  # noqa: BLE001  # what it is, is looked at below
        if len(verified) > 1:
            return [answer for one in verified for answer in _store([one], store)]
        return [_not_stored(verified[0].slug, error)]
    return [
        refuse(one.slug, found) if isinstance(found, Refused) else _accepted(one.event, found)
        for one, found in zip(verified, stored, strict=True)
    ]


def refuse(slug: str, refused: Refused) -> Answer:
    known = slug if slug in settings.WEBHOOK_SECRETS else None
    log.info("webhook.refused", extra={"code": refused.code, "organisation": known})
    said = problem(refused.status, refused.code, refused.sentence)
    return Answer(status=refused.status, said=said, media_type=MEDIA_TYPE)


def _accepted(event: ItemEvent, stored: Stored) -> Answer:
    id = str(stored.delivery_id)
    log.info("webhook.accepted", extra={"delivery": id, "new": stored.is_new})
    status = "accepted" if stored.is_new else "duplicate"
    said = {"status": status, "source_id": event.source_id, "delivery_id": id}
    return Answer(status=202, said=said)


def _not_stored(slug: str, error: Exception) -> Answer:
    found = trouble.describe(error) if isinstance(error, DatabaseError | InterfaceError) else None
    if found is None:
        log.error("webhook.broke", exc_info=error, extra={"organisation": slug})
        said = problem(500, "server_error", "Something broke in Remit.")
        return Answer(status=500, said=said, media_type=MEDIA_TYPE)
    log.warning("webhook.not_stored", extra={"code": found.code, "organisation": slug})
    said = problem(503, found.code, found.sentence)
    return Answer(status=503, said=said, media_type=MEDIA_TYPE, wait=found.wait)


@method_decorator(csrf_exempt, name="dispatch")
class WebhookView(View):
    """`POST /webhooks[/<organisation>]/item-<kind>`, where the door has not taken it already
    (`config.door.webhooks`)."""

    http_method_names = ["post"]
    kind: Kind = "created"
    store: Store | None = None

    def post(self, request: HttpRequest, slug: str = "default") -> HttpResponse:
        if self.store is None:
            raise RuntimeError("WebhookView.store is not wired")
        length = request.headers.get("Content-Length", "")
        is_large = length.isdecimal() and int(length) > settings.WEBHOOK_MAX_BYTES
        body = b"" if is_large else request.read(settings.WEBHOOK_MAX_BYTES + 1)
        if is_large or len(body) > settings.WEBHOOK_MAX_BYTES:
            answer = refuse(slug, Refused(413, "too_large", "The body is too large."))
        else:
            headers = {name.lower(): value for name, value in request.headers.items()}
            came = Webhook(kind=self.kind, slug=slug, body=body, headers=headers)
            [answer] = take([came], self.store)
        wait = {"Retry-After": str(answer.wait)} if answer.wait else {}
        return JsonResponse(
            answer.said, status=answer.status, headers=wait, content_type=answer.media_type
        )
