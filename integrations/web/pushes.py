"""Pushes of trackers: a word that something has changed at one account, in the form of GitHub's and
Jira's webhooks. What they say is not read: the account is asked for its changes, as it is anyway
from time to time.

The secret of an account's pushes is made from SECRET_KEY, so nothing is stored for it.
"""

import hashlib
import hmac
import logging
from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.csrf import csrf_exempt

from integrations.models import Credential
from integrations.web.problems import MEDIA_TYPE, problem

log = logging.getLogger(__name__)
# GitHub's name for it, and Jira's.
HEADERS = ("X-Hub-Signature-256", "X-Hub-Signature")
METHOD = "sha256="
PAUSE = timedelta(seconds=2)  # many words at once are one


def secret_of(account_id: UUID) -> str:
    """What the tracker is to sign its pushes for this account with."""
    text = f"integrations.web.pushes {account_id}"
    return hmac.new(settings.SECRET_KEY.encode(), text.encode(), hashlib.sha256).hexdigest()


@method_decorator(csrf_exempt, name="dispatch")
class PushView(View):
    """`POST /webhooks/accounts/<id>`: 202 where the signature holds, whatever it is about. One
    that does not hold and an account that is not there are the same 401."""

    http_method_names = ["post"]
    # What asks an account for its changes. Wired in config.urls, as this app knows no tasks.
    enqueue: Callable[[UUID], None] | None = None

    def post(self, request: HttpRequest, account_id: UUID) -> HttpResponse:
        body = request.read(settings.WEBHOOK_MAX_BYTES + 1)
        if len(body) > settings.WEBHOOK_MAX_BYTES:
            return _said(413, "too_large", "The body is too large.")
        if not _is_signed(request, body, account_id):
            log.info("push.refused", extra={"account": str(account_id)})
            return _said(401, "bad_signature", "The signature does not fit.")
        if self.enqueue is None:
            raise RuntimeError("PushView.enqueue is not wired")
        if _claim(account_id):
            self.enqueue(account_id)
        return JsonResponse({"status": "accepted"}, status=202)


def _is_signed(request: HttpRequest, body: bytes, account_id: UUID) -> bool:
    given = next((request.headers[one] for one in HEADERS if one in request.headers), "")
    secret = secret_of(account_id).encode()
    wanted = METHOD + hmac.new(secret, body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(given.encode(errors="replace"), wanted.encode())


def _claim(account_id: UUID) -> bool:
    """Whether the account is to be asked now: not if that began a moment ago."""
    now = timezone.now()
    due = Credential.objects.filter(
        Q(looked_at=None) | Q(looked_at__lte=now - PAUSE),
        account_id=account_id,
        state=Credential.State.GOOD,
    )
    return due.update(looked_at=now) == 1


def _said(status: int, code: str, sentence: str) -> HttpResponse:
    said = problem(status, code, sentence)
    return JsonResponse(said, status=status, content_type=MEDIA_TYPE)
