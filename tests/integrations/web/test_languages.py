"""The language in which Remit speaks to those who call."""

import pytest
from django.test import RequestFactory
from django.utils import translation

from integrations.web.languages import asked_for, speaking


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("de", "de"),
        ("de-AT,de;q=0.9,en;q=0.1", "de"),
        ("pt-BR,fr;q=0.8,en;q=0.9", "en"),
        ("EN-us", "en"),
        ("pt, nl", ""),
        ("*", ""),
        ("", ""),
        ("x" * 2000, ""),
        ("de;q=never", ""),
        ("../../etc, \x00", ""),
    ],
)
def test_the_first_language_that_is_asked_for_and_spoken_counts(header: str, found: str) -> None:
    request = RequestFactory().get("/", headers={"Accept-Language": header})
    assert asked_for(request) == found


@pytest.mark.parametrize(
    ("tag", "spoken"), [("fr-CH", "fr"), ("DE", "de"), ("pt", "en"), ("", "en")]
)
def test_what_is_not_spoken_is_said_in_english(tag: str, spoken: str) -> None:
    before = translation.get_language()
    with speaking(tag):
        assert translation.get_language() == spoken
    assert translation.get_language() == before
