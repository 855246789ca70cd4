"""A real Chromium, logged in as the operator."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

from tests import chromium

if TYPE_CHECKING:
    from tests.office import Office


# What the page's Content-Security-Policy kept from running or from being applied.
VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (one) =>
  console.error("kept back by", one.effectiveDirective, one.blockedURI, one.sample))
"""


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One for all modules here: it takes seconds of a core to start."""
    with chromium.launched() as launched:
        yield launched


@pytest.fixture
def context(browser: Browser, office: "Office") -> Iterator[BrowserContext]:
    opened = browser.new_context(base_url=office.origin, viewport={"width": 1280, "height": 900})
    yield opened
    opened.close()


@pytest.fixture
def problems() -> list[str]:
    """What the browser complained about: errors of scripts, policies and requests."""
    return []


@pytest.fixture
def page(context: BrowserContext, office: "Office", problems: list[str]) -> Page:
    """A page of the admin, logged in. Through the form it would take a second."""
    from django.conf import settings
    from django.contrib.auth.models import User

    from tests.clients import client_of

    cookies = client_of(User.objects.get(username="operator")).cookies
    name = settings.SESSION_COOKIE_NAME
    context.add_cookies([{"name": name, "value": cookies[name].value, "url": office.origin}])
    opened = context.new_page()

    def complain(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            problems.append(f"{opened.url}: {message.text}")

    opened.on("console", complain)
    opened.add_init_script(VIOLATIONS)
    opened.on("pageerror", lambda error: problems.append(f"{opened.url}: {error}"))
    opened.goto("/admin/")
    return opened
