"""Every error of the API as a problem of RFC 9457 (`integrations.web.problems`).

Its `detail` is a sentence for people; what broke goes to the log only.
"""

import logging
import sys
from collections.abc import Mapping
from json import JSONDecodeError
from math import ceil
from typing import IO, Any, TypeVar

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.cache import patch_vary_headers
from django.utils.translation import get_language, gettext, gettext_noop
from rest_framework import exceptions, status
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import set_rollback

from config.rest import refusals
from guardrails.approve import speaking as speaking_lines
from guardrails.facts.phrases import Phrase
from integrations.database import trouble
from integrations.models.preferences import load_preferences
from integrations.network import strict_json
from integrations.web.authentication import Caller
from integrations.web.languages import asked_for, language_for, speaking, spoken
from integrations.web.problems import MEDIA_TYPE, PROBLEMS, problem

log = logging.getLogger(__name__)
AnyAnswer = TypeVar("AnyAnswer", bound=HttpResponse)
BROKEN = gettext_noop("Something broke on our side. It is in the log.")
NOT_UNDERSTOOD = gettext_noop("The request could not be understood.")
NO_PAGE = gettext_noop("There is no such page.")
NOT_YOURS = gettext_noop("Your login may not do this. Ask an administrator for it.")
CUT_JSON = gettext_noop(
    "The body is not a valid JSON object: "
    "it cannot be read from line %(line)s, column %(column)s on."
)
NOT_A_NUMBER = gettext_noop("The body is not a valid JSON object: %(name)s is not a JSON number.")
ODD_TEXT = gettext_noop("The body is not a valid JSON object: it is not UTF-8 text.")
ODD_JSON = gettext_noop("The body is not a valid JSON object: %(reason)s.")
# By what `strict_json` says.
NOT_JSON = {
    "a key is there twice": gettext_noop(
        "The body is not a valid JSON object: a key is there twice."
    ),
    "it is nested too deeply": gettext_noop(
        "The body is not a valid JSON object: it is nested too deeply."
    ),
    "it must be an object": gettext_noop(
        "The body is not a valid JSON object: it must be an object."
    ),
}
OLD_PAGE = gettext_noop("This page is too old. Go back, load it again, and try it again.")


class TooLarge(exceptions.APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_detail = "The request body is too large."
    default_code = "too_large"


class NotJson(exceptions.ParseError):
    """A body that is no JSON object. `template` and `values`: how it is said."""

    def __init__(self, reason: ValueError) -> None:
        self.template, self.values = NOT_JSON.get(str(reason), ODD_JSON), {"reason": str(reason)}
        if isinstance(reason, JSONDecodeError):
            self.template = CUT_JSON
            self.values = {"line": str(reason.lineno), "column": str(reason.colno)}
        elif isinstance(reason, strict_json.NotANumber):
            self.template, self.values = NOT_A_NUMBER, {"name": reason.name}
        elif isinstance(reason, UnicodeDecodeError):
            self.template = ODD_TEXT
        super().__init__(self.template % self.values)


class StrictJSONParser(JSONParser):
    """JSON without repeated keys, NaN or bytes over the limit, as one object."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        raw = stream.read(settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)
        if len(raw) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            raise TooLarge
        try:
            return strict_json.load_object(raw)
        except ValueError as error:
            raise NotJson(error) from error


def respond(error: Exception, context: Mapping[str, Any]) -> Response | None:
    """DRF's exception handler. It speaks the caller's language, as far as Remit has the sentence in
    it (`config.rest.refusals`, or a phrase); codes are the same in each."""
    set_rollback()
    if found := trouble.describe(error):
        log.warning("api.not_stored", extra={"code": found.code})
        with speaking(asked_for(context["request"])):  # the database is not asked for anything
            wait = {"Retry-After": str(found.wait)}
            return _problem(503, found.code, found.sentence, headers=wait)
    with speaking(_language_of(context["request"])):
        return _describe(error, context["request"])


def _language_of(request: Request) -> str:
    """That which the one user for whom the caller speaks chose, or who is logged in; else the one
    that the request asks for."""
    caller = request.auth
    if isinstance(caller, Caller) and len(caller.user_ids) == 1:
        [user_id] = caller.user_ids
        chosen = load_preferences(caller.organisation_id, user_id).language
        if found := spoken(chosen):
            return found
    return language_for(request)


def _describe(error: Exception, request: Request) -> Response | None:
    if isinstance(error, Http404):
        error = exceptions.NotFound(refusals.NOTHING_HERE)
    if isinstance(error, RequestDataTooBig):
        error = TooLarge()
    if not isinstance(error, exceptions.APIException):
        log.error("api.error", exc_info=error)
        if settings.TESTING:
            return None
        return _problem(500, "server_error", BROKEN)
    headers = {}
    if header := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = header
    if wait := getattr(error, "wait", None):
        headers["Retry-After"] = str(ceil(wait))
    if isinstance(error, exceptions.ValidationError):
        fields = flatten(error.detail)
        first = next(iter(fields.items()), ("", "The request is not valid."))
        sentence = f"{first[0]}: {first[1]}" if first[0] else first[1]
        return _problem(error.status_code, "invalid", sentence, fields=fields)
    code = error.get_codes()
    name = code if isinstance(code, str) else "bad_request"
    said = _say(error, request)
    return _problem(error.status_code, name, str(error.detail), said=said, headers=headers)


def _say(error: exceptions.APIException, request: Request) -> str:
    """What holds a value, in the language that is spoken: made again from its template (an error
    with `template` has its `values` beside it), or by what raised it. Empty for all else."""
    if template := getattr(error, "template", ""):
        said: str = gettext(template) % vars(error)["values"]
        return said
    if isinstance(error, exceptions.Throttled):
        return str(exceptions.Throttled(getattr(error, "wait", None)).detail)
    if isinstance(error, exceptions.MethodNotAllowed):
        return str(exceptions.MethodNotAllowed(str(request.method)).detail)
    if isinstance(error, exceptions.UnsupportedMediaType):
        return str(exceptions.UnsupportedMediaType(request.content_type).detail)
    because = error.__cause__.args if error.__cause__ else ()
    return speaking_lines.spoken(because[0]) if because and isinstance(because[0], Phrase) else ""


def _problem(
    status: int,
    code: str,
    detail: str,
    *,
    said: str = "",
    fields: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    said = said or gettext(detail)
    body = problem(status, code, said, fields)
    answer = _spoken(Response(body, status=status, headers=headers, content_type=MEDIA_TYPE))
    language = answer.headers["Content-Language"]
    if language != "en" and said == detail and not fields:
        answer.headers["Content-Language"] = f"{language}, en"
    return answer


def flatten(detail: Any, path: str = "") -> dict[str, str]:
    """Nested validation errors as `{"a.0.b": sentence}`, each in the language that is spoken."""
    if isinstance(detail, Mapping):
        parts = [
            flatten(value, path if key == "non_field_errors" else f"{path}.{key}".lstrip("."))
            for key, value in detail.items()
        ]
    elif isinstance(detail, list) and any(isinstance(d, Mapping | list) for d in detail):
        parts = [flatten(value, f"{path}.{index}") for index, value in enumerate(detail) if value]
    else:
        said = detail if isinstance(detail, list) else [detail]
        return {path: " ".join(gettext(str(one)) for one in said)}
    return {key: value for part in parts for key, value in part.items()}


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _answer(request, 400, "bad_request", NOT_UNDERSTOOD)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _answer(request, 404, "not_found", NO_PAGE)


def not_permitted(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _answer(request, 403, "permission_denied", NOT_YOURS)


def no_token(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form without the page's token, as from a page that was open over a log-out."""
    return _answer(request, 403, "csrf_failed", OLD_PAGE)


def server_error(request: HttpRequest) -> HttpResponse:
    """Django calls it while the error is being handled. What the database cannot do now is no
    error of ours."""
    error = sys.exc_info()[1]
    if isinstance(error, Exception) and (found := trouble.describe(error)):
        answer = _answer(request, 503, found.code, found.sentence)
        answer.headers["Retry-After"] = str(found.wait)
        return answer
    return _answer(request, 500, "server_error", BROKEN)


def _answer(request: HttpRequest, status: int, code: str, sentence: str) -> HttpResponse:
    """A page for browsers, which touches no database; the shape of all errors for programs."""
    with speaking(asked_for(request)):
        sentence = gettext(sentence)
        if "text/html" in request.headers.get("Accept", ""):
            page = render_to_string("error.html", {"sentence": sentence})
            answer = HttpResponse(page, status=status)
        else:
            body = problem(status, code, sentence)
            answer = JsonResponse(body, status=status, content_type=MEDIA_TYPE)
        return _spoken(answer)


def _spoken(answer: AnyAnswer) -> AnyAnswer:
    """Says in which language it is, and on what that depends."""
    answer.headers["Content-Language"] = get_language() or "en"
    patch_vary_headers(answer, ["Accept-Language"])
    return answer


def problems(request: HttpRequest) -> HttpResponse:
    """What each code means, where the `type` of a problem leads."""
    with speaking(asked_for(request)):
        found = [(code, (status, gettext(text))) for code, (status, text) in PROBLEMS.items()]
        return _spoken(render(request, "problems.html", {"problems": sorted(found)}))
