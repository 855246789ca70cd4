"""Logging in: with a passkey, in a browser that has one, and in the browser's language."""

import re

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page, expect

from integrations.web.languages import LANGUAGES
from tests.browser.test_axe import findings
from tests.browser.test_own_pages import pictures
from tests.browser.windows import PHONE
from tests.office import PASSWORD, Office

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    # The static files of a test come from disk through a synchronous iterator.
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume synchronous"),
]
KEY = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


def type_password(page: Page) -> None:
    page.get_by_label("Username").fill("operator")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in", exact=True).click()


def test_a_passkey_is_set_up_and_opens_the_admin_by_itself(
    office: Office, browser: Browser, settings: object
) -> None:
    settings.SECOND_FACTOR = True  # type: ignore[attr-defined]
    # A passkey belongs to a name, and an address is none.
    origin = office.origin.replace("127.0.0.1", "localhost")
    context = browser.new_context(base_url=origin)
    page = context.new_page()
    devices = context.new_cdp_session(page)
    devices.send("WebAuthn.enable")
    devices.send("WebAuthn.addVirtualAuthenticator", {"options": KEY})
    problems: list[str] = []
    page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    page.goto("/admin/")
    type_password(page)
    page.get_by_text("Set up a second factor first").wait_for()

    page.get_by_role("link", name="Add").click()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Confirm").click()
    page.get_by_label("Name").fill("This machine")
    page.get_by_label("Passwordless").check()
    page.get_by_role("button", name="Add").click()
    page.wait_for_url("**/recovery-codes/**")
    assert User.objects.get(username="operator").authenticator_set.count() == 2  # type: ignore[attr-defined]
    page.goto("/admin/")
    assert page.title().startswith("Activity")

    context.clear_cookies()
    page.goto("/admin/")
    page.get_by_role("button", name="Log in with a passkey").click()
    page.wait_for_url("**/admin/")
    assert page.title().startswith("Activity")

    context.clear_cookies()
    page.goto("/admin/")
    type_password(page)
    page.get_by_role("button", name="Use a security key").click()
    page.wait_for_url("**/admin/")

    assert problems == []
    context.close()


def test_it_speaks_the_browsers_language(office: Office, browser: Browser) -> None:
    for language in LANGUAGES:
        context = browser.new_context(base_url=office.origin, locale=language)
        page = context.new_page()
        for name in ("login/", "login/?wrong", "logout/", "2fa/", "password/change/"):
            page.goto(f"/accounts/{name}")
            if name == "login/?wrong":
                page.locator("#id_login").fill(f"nobody-{language}")
                page.locator("#id_password").fill("wrong")
                page.locator("button.primary").click()
                expect(page.locator(".errorlist")).to_be_visible()
            assert page.locator("html").get_attribute("lang") == language
            assert findings(page) == []
            pictures(page, f"{re.sub('[^a-z]+', '-', name)}.{language}")
            page.set_viewport_size(PHONE)
            assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
            if name == "login/?wrong":
                page.locator("#id_login").fill("operator")
                page.locator("#id_password").fill(PASSWORD)
                page.locator("button.primary").click()
                page.wait_for_url(re.compile("/(admin|console)/"))
        context.close()
