"""A request that is sent twice is done once: the same key gives the first answer again."""

import json
from datetime import datetime, timedelta
from typing import Any

from django.http import HttpResponse
from django.utils.crypto import salted_hmac
from rest_framework import exceptions, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.encoders import JSONEncoder
from rest_framework.views import APIView

from integrations.models import KeptAnswer
from integrations.models.kept_answers import KEY_CHARS
from integrations.web.authentication import Caller

HEADER, REPLAYED = "Idempotency-Key", "Idempotency-Replayed"
LIFETIME = timedelta(days=1)


class Invalid(exceptions.ParseError):
    default_code = "idempotency_key_invalid"
    default_detail = f"The idempotency key must be 1 to {KEY_CHARS} printable characters of ASCII."


class Reused(exceptions.APIException):
    status_code = status.HTTP_422_UNPROCESSABLE_ENTITY
    default_code = "idempotency_key_reused"
    default_detail = "This idempotency key came with another request before. Take a new one."


class InUse(exceptions.APIException):
    status_code = status.HTTP_409_CONFLICT
    default_code = "idempotency_key_in_use"
    default_detail = (
        "The first request with this idempotency key has no answer yet. Ask again soon. If it "
        "stays so, it broke off: look what became of it before you take a new key."
    )


class _Replay(Exception):
    """The answer of before, instead of doing it again."""

    def __init__(self, row: KeptAnswer) -> None:
        self.row = row


class ApiView(APIView):
    """A view whose POST takes an idempotency key. It counts once the caller is known, may do it and
    sends a body that can be read. Refusals of the request are not kept: nothing was done."""

    claimed: KeptAnswer | None = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        key = request.headers.get(HEADER)
        if request.method == "POST" and key is not None and isinstance(request.auth, Caller):
            self.claimed = _claim(request, request.auth, key)

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, _Replay):
            return HttpResponse(  # type: ignore[return-value]  # finalize_response takes any
                exc.row.body,
                status=exc.row.status,
                content_type="application/json",
                headers={REPLAYED: "true"},
            )
        return super().handle_exception(exc)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        answer = super().finalize_response(request, response, *args, **kwargs)
        if self.claimed is not None:
            _keep(self.claimed, answer)
        return answer


def prune(*, now: datetime) -> None:
    KeptAnswer.objects.filter(created_at__lt=now - LIFETIME).delete()


def _claim(request: Request, caller: Caller, key: str) -> KeptAnswer:
    if not (0 < len(key) <= KEY_CHARS and key.isascii() and key.isprintable()):
        raise Invalid
    sent = json.dumps([request.path, request.data], sort_keys=True)
    # Keyed, because a body may hold a password.
    fingerprint = salted_hmac("idempotency", sent, algorithm="sha256").hexdigest()
    row, new = KeptAnswer.objects.get_or_create(
        organisation_id=caller.organisation_id,
        principal=caller.principal,
        key=key,
        defaults={"fingerprint": fingerprint},
    )
    if new:
        return row
    if row.fingerprint != fingerprint:
        raise Reused
    if row.status is None:
        raise InUse
    raise _Replay(row)


def _keep(row: KeptAnswer, answer: Any) -> None:
    rows = KeptAnswer.objects.filter(pk=row.pk)
    if answer.status_code >= status.HTTP_500_INTERNAL_SERVER_ERROR and answer.status_code != 503:
        return  # nobody knows how far it came
    if status.is_success(answer.status_code):
        body = json.dumps(answer.data, cls=JSONEncoder)
        rows.update(status=answer.status_code, body=body)
    else:
        rows.delete()
