"""Switching notifications on and off in a browser: what the button of the inbox asks for."""

import json
from collections.abc import Callable
from typing import Any
from zoneinfo import available_timezones

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import get_language, gettext, gettext_noop
from django.views.decorators.http import require_POST

from agents.office.console import refusal
from audit.contracts import LedgerError
from guardrails.approve.news import devices
from integrations.network import strict_json
from integrations.web.admin_pages import operator
from integrations.web.languages import speaking

UNRECORDED = gettext_noop(
    "This could not be written into the ledger, so nothing was changed. Try again."
)


@require_POST
def switch_on(request: HttpRequest) -> HttpResponse:
    """`{"subscription": {…}, "time_zone", "language"}`, as browser and page have them."""

    def do(wish: dict[str, Any], by: str) -> None:
        zone = wish.get("time_zone")
        devices.switch_on(
            request.user,
            subscription=json.dumps(wish.get("subscription")),
            time_zone=zone if isinstance(zone, str) and zone in available_timezones() else "UTC",
            language=get_language() or "en",
            by=by,
        )

    return _answer(request, do)


@require_POST
def switch_off(request: HttpRequest) -> HttpResponse:
    """`{"device"}`: its fingerprint; empty for all of theirs."""

    def do(wish: dict[str, Any], by: str) -> None:
        devices.switch_off(request.user, device=str(wish.get("device")), by=by)

    return _answer(request, do)


def _answer(request: HttpRequest, do: Callable[[dict[str, Any], str], None]) -> HttpResponse:
    """In the language of the page that has the button."""
    try:
        wish = strict_json.load_object(request.body)
    except ValueError as error:
        return refusal(400, "invalid_json", f"The body is not a valid JSON object: {error}.")
    with speaking(str(wish.get("language"))):
        try:
            do(wish, operator(request))
        except ValidationError as error:
            return refusal(400, "invalid_subscription", " ".join(error.messages))
        except LedgerError:
            return refusal(503, "ledger_unavailable", gettext(UNRECORDED))
    return JsonResponse({})
