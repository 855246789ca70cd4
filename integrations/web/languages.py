"""The language in which Remit speaks to those who call."""

from contextlib import AbstractContextManager

from django.http import HttpRequest
from django.utils import translation
from django.utils.translation.trans_real import parse_accept_lang_header

from integrations.web import staff

LANGUAGES = ("en", "de", "fr", "es", "it")  # what Remit itself speaks


def spoken(tag: str) -> str:
    """The language of this tag, where Remit speaks it; empty: none."""
    primary = tag.partition("-")[0].lower()
    return primary if primary in LANGUAGES else ""


def speaking(tag: str) -> AbstractContextManager[None]:
    """Inside, what Remit says is in the language of this tag, as far as Remit speaks it."""
    return translation.override(spoken(tag) or "en")


def first_spoken(accepted: str) -> str:
    """The first language of an Accept-Language header that Remit speaks; empty: none."""
    tags = parse_accept_lang_header(accepted.lower())
    return next((found for tag, _ in tags if (found := spoken(tag))), "")


def asked_for(request: HttpRequest) -> str:
    """The first language that the request asks for and Remit speaks; empty: none."""
    return first_spoken(request.headers.get("Accept-Language", ""))


def language_for(request: HttpRequest) -> str:
    """That of who is logged in, where they chose one; else the one that the request asks for."""
    return spoken(staff.settings_of(request.user).language) or asked_for(request)
