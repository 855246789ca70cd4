"""Where the password of a calendar server goes, and where it never goes."""

from typing import Any

import pytest

from integrations.exceptions import NotPermitted
from integrations.providers.dav.session import check_site


@pytest.mark.parametrize(
    ("site", "url"),
    [
        ("https://example.org/", "https://example.org/nora/"),
        ("https://example.org/", "https://dav.example.org/nora/"),
        ("https://caldav.icloud.com/", "https://p42-caldav.icloud.com/123/calendars/"),
        ("https://dav.mailbox.org/", "https://dav.mailbox.org:8443/caldav/"),
    ],
)
def test_the_site_that_was_named_gets_it(site: str, url: str) -> None:
    check_site(url, site=site)


@pytest.mark.parametrize(
    ("site", "url"),
    [
        ("https://example.org/", "http://example.org/nora/"),
        ("https://example.org/", "https://evil.net/nora/"),
        ("https://example.org/", "https://evilexample.org/"),
        ("https://example.org/", "https://example.org.evil.net/"),
        ("https://example.co.uk/", "https://evil.co.uk/"),
        ("https://caldav.com/", "https://evil.com/"),
        ("https://example.org/", "https://nora:secret@example.org/"),
        ("https://example.org/", "https://example.org:22/"),
        ("https://example.org/", "file:///etc/passwd"),
        ("https://example.org/", "https://127.0.0.1/"),
        ("https://127.0.0.1/", "https://127.0.0.1/"),
    ],
)
def test_no_other_site_gets_it_and_nothing_without_tls(site: str, url: str, settings: Any) -> None:
    settings.OUTGOING_TO_PRIVATE = False

    with pytest.raises(NotPermitted):
        check_site(url, site=site)


def test_on_loopback_too_it_takes_tls(settings: Any) -> None:
    settings.OUTGOING_TO_PRIVATE = True

    check_site("https://127.0.0.1:8443/", site="https://127.0.0.1:8443/")
    with pytest.raises(NotPermitted, match="https"):
        check_site("http://127.0.0.1:8443/", site="http://127.0.0.1:8443/")
