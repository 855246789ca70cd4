"""Errors of the API as RFC 9457 has them: one shape, and codes that stay."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext

# The settings import this module. What Django chooses by them would read them half made, and a
# process whose settings are wrong would go on with none.
from django.utils.translation.trans_null import gettext_noop

MEDIA_TYPE = "application/problem+json"
PAGE = "/api/problems"  # what each code means
UNNAMED = gettext_noop("The request is refused")
# By code: with which status it comes, and what it means.
PROBLEMS: Mapping[str, tuple[int, str]] = {
    "ahead_of_ledger": (409, "The feed was asked for from a place that the ledger has not reached"),
    "authentication_failed": (401, "The token is unknown, expired or revoked"),
    "bad_request": (400, "The request could not be understood"),
    "bad_signature": (401, "The webhook's signature does not hold"),
    "bad_token": (401, "The token does not hold"),
    "bad_webhook_id": (400, "The webhook's id is too long or empty"),
    "busy": (503, "It cannot be tried now"),
    "cannot_connect": (422, "The account cannot be connected"),
    "conflict": (409, "It was decided already, or differently"),
    "csrf_failed": (403, "The page's token is missing or old"),
    "database_away": (503, "The database does not answer"),
    "idempotency_key_in_use": (409, "The first request with this key has no answer yet"),
    "idempotency_key_invalid": (
        400,
        "The idempotency key is not printable text of 1 to 200 characters",
    ),
    "idempotency_key_reused": (422, "The idempotency key came with another request before"),
    "invalid": (400, "A value is missing or not valid"),
    "invalid_json": (400, "The body is not one JSON object"),
    "lacks_scope": (403, "The token lacks a scope"),
    "method_not_allowed": (405, "This address does not know that method"),
    "missing_signature": (401, "The webhook has no signature"),
    "no_change_permits_it": (404, "No change of the policy would permit it"),
    "no_key": (503, "This installation keeps no passwords"),
    "no_mail": (422, "No mail that was read in fits what is asked for"),
    "no_user": (400, "Nobody is named whom it is for"),
    "not_acceptable": (406, "The answer has no form that is asked for"),
    "not_authenticated": (401, "There is no token"),
    "not_found": (404, "There is nothing here"),
    "not_installed": (503, "This part of Remit is not installed"),
    "not_known": (401, "A large body is read from a known caller alone"),
    "not_sealed": (409, "The ledger's newest rows have no seal yet"),
    "parse_error": (400, "The body is not one JSON object"),
    "past_run_moved": (409, "The run is in another state than the word needs"),
    "past_run_open": (409, "The account has a run that is not over"),
    "permission_denied": (403, "The token or the login may not do this"),
    "queue_full": (503, "Too much waits already"),
    "server_error": (500, "Something broke in Remit"),
    "storage_full": (503, "There is no space left to keep this"),
    "throttled": (429, "Too many requests"),
    "too_large": (413, "The body is too large"),
    "too_many_change_requests": (429, "Too many change requests are open"),
    "too_many_connections": (503, "Too many connections are open"),
    "too_slow": (408, "The request did not come whole in time"),
    "turn_running": (409, "The session's last message is still being worked on"),
    "unknown_account": (404, "There is no such account"),
    "unknown_action": (404, "There is no such action"),
    "unknown_approval": (404, "There is no such approval"),
    "unknown_held_send": (404, "There is no such held action"),
    "unknown_past_run": (404, "There is no such run over past mail"),
    "unknown_pattern": (404, "There is no such pattern"),
    "unknown_session": (404, "There is no such session"),
    "unknown_skill": (404, "There is no such skill"),
    "unknown_suggestion": (404, "There is no such suggestion"),
    "unknown_sync": (404, "There is no such sync"),
    "unknown_turn": (404, "There is no such turn"),
    "unknown_user": (404, "There is no such user"),
    "unsupported_media_type": (415, "The body is not application/json"),
    "wrong_host": (421, "This host name is not Remit's"),
    "wrong_origin": (403, "A page of another site asks"),
}


def problem(
    status: int, code: str, detail: str, fields: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """What is answered with `MEDIA_TYPE`, its title in the language that is spoken. `detail` is a
    sentence for people; `fields` says it of single values by their path. `error` is how it was said
    before RFC 9457."""
    about = {"fields": dict(fields)} if fields else {}
    return {
        "type": f"{PAGE}#{code}",
        "title": gettext(PROBLEMS[code][1] if code in PROBLEMS else UNNAMED),
        "status": status,
        "detail": detail,
        "code": code,
        **about,
        "error": {"code": code, "message": detail, **about},
    }
