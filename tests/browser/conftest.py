"""A real Chromium, logged in as the operator."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

if TYPE_CHECKING:
    from tests.office import Office


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
def page(context: BrowserContext, problems: list[str]) -> Page:
    """A page of the admin, logged in."""
    from tests.office import PASSWORD

    opened = context.new_page()

    def complain(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            problems.append(f"{opened.url}: {message.text}")

    opened.on("console", complain)
    opened.on("pageerror", lambda error: problems.append(f"{opened.url}: {error}"))
    opened.goto("/admin/login/")
    opened.get_by_label("Username").fill("operator")
    opened.get_by_label("Password").fill(PASSWORD)
    opened.get_by_role("button", name="Log in").click()
    opened.wait_for_url("**/admin/")
    return opened
