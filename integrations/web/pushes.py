"""Pushes: a word that something has changed at one account, in the form of GitHub's and Jira's
webhooks, and of Microsoft Graph's change notifications. What they say of it is not read: the
account is asked for its changes, as it is anyway from time to time.

The secret of a tracker's pushes is made from SECRET_KEY, so nothing is stored for it. That of a
subscription is drawn when it is opened, and its digest stored.
"""

import hashlib
import hmac
import html
import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.csrf import csrf_exempt

from integrations.models import Credential, Subscription
from integrations.network import strict_json
from integrations.web.problems import MEDIA_TYPE, problem

log = logging.getLogger(__name__)
# GitHub's name for it, and Jira's.
HEADERS = ("X-Hub-Signature-256", "X-Hub-Signature")
METHOD = "sha256="
PAUSE = timedelta(seconds=2)  # many words at once are one
# By which Microsoft tries whether an address is Remit's.
TRIAL, TRIAL_CHARS = "validationToken", 1024
# What it says of a subscription itself, each at most this often.
CHALLENGED, REMOVED = "reauthorizationRequired", "subscriptionRemoved"
HEEDED_EVERY = timedelta(minutes=5)


class Said(NamedTuple):
    """What a provider said of one of its subscriptions."""

    subscription_id: str
    event: str


def secret_of(account_id: UUID) -> str:
    """What the tracker is to sign its pushes for this account with."""
    text = f"integrations.web.pushes {account_id}"
    return hmac.new(settings.SECRET_KEY.encode(), text.encode(), hashlib.sha256).hexdigest()


@method_decorator(csrf_exempt, name="dispatch")
class PushView(View):
    """`POST /webhooks/accounts/<id>`: 202 where the signature or the secret holds, whatever it is
    about. One that does not hold and an account that is not there are the same 401."""

    http_method_names = ["post"]
    # What asks an account for its changes. Wired in config.urls, as this app knows no tasks.
    enqueue: Callable[[UUID], None] | None = None

    def post(self, request: HttpRequest, account_id: UUID) -> HttpResponse:
        if TRIAL in request.GET:
            return _answer_trial(request.GET[TRIAL], account_id)
        body = request.read(settings.WEBHOOK_MAX_BYTES + 1)
        if len(body) > settings.WEBHOOK_MAX_BYTES:
            return _said(413, "too_large", "The body is too large.")
        if not _is_signed(request, body, account_id):
            said = _said_by_provider(body, account_id)
            if said is None:
                return _refused(account_id)
            _heed(said, account_id)
        if self.enqueue is None:
            raise RuntimeError("PushView.enqueue is not wired")
        if _claim(account_id):
            self.enqueue(account_id)
        return JsonResponse({"status": "accepted"}, status=202)


def _answer_trial(token: str, account_id: UUID) -> HttpResponse:
    """The token as it came, while a subscription of this account is being opened."""
    now = timezone.now()
    awaited = Subscription.objects.filter(account_id=account_id, answered_until__gt=now)
    if len(token) > TRIAL_CHARS or not awaited.exists():
        return _refused(account_id)
    # Microsoft's own has nothing to escape; a stranger's is no markup to anybody.
    return HttpResponse(html.escape(token), content_type="text/plain; charset=utf-8")


def _is_signed(request: HttpRequest, body: bytes, account_id: UUID) -> bool:
    given = next((request.headers[one] for one in HEADERS if one in request.headers), "")
    secret = secret_of(account_id).encode()
    wanted = METHOD + hmac.new(secret, body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(given.encode(errors="replace"), wanted.encode())


def _said_by_provider(body: bytes, account_id: UUID) -> list[Said] | None:
    """What comes with the secret of the account's subscription. None: nothing does."""
    row = Subscription.objects.filter(account_id=account_id).exclude(secret_digest="").first()
    if row is None:
        return None
    try:
        value = strict_json.load_object(body).get("value")
    except ValueError:
        return None
    given = [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
    known = [one for one in given if _has_secret(one, row.secret_digest)]
    return [_read(one) for one in known] or None


def _has_secret(said: dict[str, Any], digest: str) -> bool:
    secret = said.get("clientState")
    if not isinstance(secret, str):
        return False
    found = hashlib.sha256(secret.encode(errors="replace")).hexdigest()
    return hmac.compare_digest(found, digest)


def _read(said: dict[str, Any]) -> Said:
    return Said(str(said.get("subscriptionId") or ""), str(said.get("lifecycleEvent") or ""))


def _heed(said: list[Said], account_id: UUID) -> None:
    """A subscription that is to be renewed, or is gone, is looked after at the next sweep. One
    before the present one is none of the account's any more."""
    now = timezone.now()
    rows = Subscription.objects.filter(
        Q(written_at=None) | Q(written_at__lte=now - HEEDED_EVERY), account_id=account_id, step=""
    ).exclude(external_id="")
    for event, fields in (
        (REMOVED, {"external_id": "", "expires_at": None}),
        (CHALLENGED, {"is_challenged": True}),
    ):
        ids = {one.subscription_id for one in said if one.event == event}
        if ids and rows.filter(external_id__in=ids).update(due_at=now, **fields):
            log.info("push.subscription", extra={"account": str(account_id), "event": event})


def _claim(account_id: UUID) -> bool:
    """Whether the account is to be asked now: not if that began a moment ago."""
    now = timezone.now()
    due = Credential.objects.filter(
        Q(looked_at=None) | Q(looked_at__lte=now - PAUSE),
        account_id=account_id,
        state=Credential.State.GOOD,
    )
    return due.update(looked_at=now) == 1


def _refused(account_id: UUID) -> HttpResponse:
    log.info("push.refused", extra={"account": str(account_id)})
    return _said(401, "bad_signature", "The signature does not fit.")


def _said(status: int, code: str, sentence: str) -> HttpResponse:
    said = problem(status, code, sentence)
    return JsonResponse(said, status=status, content_type=MEDIA_TYPE)
