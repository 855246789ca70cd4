"""Pages of logging in speak to people: in the language that who is logged in chose, else in that of
their browser."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.translation import get_language

from integrations.web.languages import language_for, speaking

FOLDER = "/accounts/"


class SpeakingMiddleware:
    """Around the views of FOLDER, which are django-allauth's. The console speaks by itself, because
    a user's own language wins there; the admin is English."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path.startswith(FOLDER):
            return self.get_response(request)
        with speaking(language_for(request)):
            answer = self.get_response(request)
            answer.headers.setdefault("Content-Language", get_language() or "en")
        patch_vary_headers(answer, ["Accept-Language"])
        return answer
