"""The language in which Remit speaks to those who call."""

from contextlib import AbstractContextManager

from django.http import HttpRequest
from django.utils import translation
from django.utils.translation.trans_real import parse_accept_lang_header

LANGUAGES = ("en", "de", "fr", "es", "it")  # what Remit itself speaks


def speaking(language: str) -> AbstractContextManager[None]:
    """Inside, what Remit says is in the language of this tag, as far as Remit speaks it."""
    primary = language.partition("-")[0]
    return translation.override(primary if primary in LANGUAGES else "en")


def asked_for(request: HttpRequest) -> str:
    """The first language of the request's Accept-Language that Remit speaks; empty: none."""
    header = request.headers.get("Accept-Language", "").lower()
    tags = (tag.partition("-")[0] for tag, _ in parse_accept_lang_header(header))
    return next((tag for tag in tags if tag in LANGUAGES), "")
