"""The page about oneself, in a real browser: near from everywhere, by keyboard, on a phone."""

import re
from datetime import time

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from integrations.models import Account, PersonalSettings, UserPreferences
from integrations.web.languages import LANGUAGES
from tests.agents.office.test_item_page import item
from tests.browser.test_axe import findings
from tests.browser.test_own_pages import log_in_as_maya, pictures
from tests.browser.windows import PHONE
from tests.office import Office

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    # The static files of a test come from disk through a synchronous iterator.
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume synchronous"),
]


def test_it_is_one_press_away_from_every_page_and_hours_are_set_by_keyboard(
    office: Office, page: Page, problems: list[str]
) -> None:
    log_in_as_maya(office, page)
    mail = item(Account.objects.get(external_user_id="maya", source="gmail"))
    page.set_viewport_size(PHONE)
    for name in ("", "approvals", "patterns", "drafts", f"items/{mail.id}", "you"):
        page.goto(f"/console/{name}")
        for _ in range(7):  # past the skip link and the other pages
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.textContent") == "You":
                break
        with page.expect_navigation(url=re.compile("/console/you")):
            page.keyboard.press("Enter")
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    page.get_by_label("From").focus()
    page.keyboard.type("1000PM")
    page.get_by_label("Until").focus()
    page.keyboard.type("0700AM")
    page.get_by_label("Sunday").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")

    expect(page.get_by_role("status").first).to_have_text("Saved.")
    user = User.objects.get(username="maya.lindqvist")
    row = PersonalSettings.objects.get(user=user)
    assert (row.quiet_from, row.quiet_until) == (time(22), time(7))
    assert row.quiet_days == ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        assert findings(page) == []
    assert problems == []


def test_it_speaks_five_languages_also_where_something_is_wrong(
    office: Office, page: Page, problems: list[str]
) -> None:
    log_in_as_maya(office, page)
    for language in LANGUAGES:
        UserPreferences.objects.update_or_create(
            organisation=office.organisation,
            external_user_id="maya",
            defaults={"language": language},
        )
        page.goto("/console/you")
        assert page.locator("html").get_attribute("lang") == language
        pictures(page, f"you.{language}")
        page.set_viewport_size(PHONE)
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
        page.locator("#quiet_from").fill("22:00")
        page.locator("button.primary").click()
        expect(page.locator("#quiet_until")).to_have_attribute("aria-invalid", "true")
        assert findings(page) == []
        pictures(page, f"you.wrong.{language}")
    assert problems == []
