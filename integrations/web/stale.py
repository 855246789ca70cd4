"""Pages and answers that may be a moment old: read from the replica of the database, where there is
one (`integrations.database.replicas`), and marked with the time of which they are."""

from collections.abc import Callable
from datetime import datetime
from functools import wraps
from typing import Any, TypeVar

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from integrations.database import replicas

HEADER = "X-As-Of"
PIN = "remit_wrote"
SAFE = ("GET", "HEAD")

T = TypeVar("T")
Respond = Callable[[HttpRequest], HttpResponseBase]


class PinMiddleware:
    """Who has just written reads what they wrote: their browser gets a cookie for as long as the
    replica may be behind."""

    def __init__(self, get_response: Respond) -> None:
        if not replicas.is_set():
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        answer = self.get_response(request)
        if request.method not in SAFE and settings.SESSION_COOKIE_NAME in request.COOKIES:
            answer.set_cookie(
                PIN,
                "1",
                max_age=settings.REPLICA_LAG_SECONDS + 1,
                secure=settings.SESSION_COOKIE_SECURE,
                httponly=True,
                samesite="Lax",
            )
        return answer


def may_be_stale(view: Callable[..., Any]) -> Callable[..., Any]:
    """A view of a page, which is read from the replica and says of when it is (`request.as_of`).
    What is sent to it acts on rows as they are."""

    @wraps(view)
    def respond(request: HttpRequest, *given: Any, **named: Any) -> Any:
        if request.method not in SAFE:
            return view(request, *given, **named)
        return answer(request, lambda: rendered(view(request, *given, **named)))

    return respond


def answer(request: Any, load: Callable[[], T]) -> T:
    """What `load` makes, which writes nothing; from the primary for who has just written and who
    wants no old answer (`Cache-Control: no-cache`). An answer that has headers says of when it
    is."""

    def dated(as_of: datetime | None) -> T:
        request.as_of = as_of
        found = load()
        if as_of and isinstance(found, HttpResponseBase):
            found.headers[HEADER] = as_of.isoformat()
        return found

    is_fresh = PIN in request.COOKIES or "no-cache" in request.headers.get("Cache-Control", "")
    return dated(None) if is_fresh else replicas.read(dated)


def rendered(answer: HttpResponseBase) -> HttpResponseBase:
    """A template reads rows as well."""
    render = getattr(answer, "render", None)
    return render() if render else answer
