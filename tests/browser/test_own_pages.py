"""A user who is nobody but themself, at their patterns and drafts in a real browser."""

import os
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Page, expect

from guardrails.learn import patterns
from guardrails.models import LearnedPattern
from integrations.models import Account, Membership
from tests.agents.office.test_console_pages import learn, write
from tests.agents.office.test_item_page import item
from tests.browser.test_axe import findings
from tests.browser.windows import PHONE
from tests.clients import client_of, log_in
from tests.office import Office

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    # The static files of a test come from disk through a synchronous iterator.
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume synchronous"),
]


def log_in_as_maya(office: Office, page: Page) -> None:
    log_in("maya.lindqvist", "use_own_console")
    user = User.objects.get(username="maya.lindqvist")
    Membership.objects.filter(user=user).update(external_user_id="maya")
    cookie = client_of(user).cookies[settings.SESSION_COOKIE_NAME]
    page.context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": office.origin}])


def pictures(page: Page, name: str) -> None:
    """For somebody who wants to look at it."""
    if folder := os.environ.get("PICTURES"):
        for width, theme in ((1440, "light"), (390, "dark")):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
            page.screenshot(path=Path(folder) / f"{name}.{width}.png", full_page=True)


def test_a_pattern_is_approved_and_stopped_with_one_press_each(
    office: Office, page: Page, problems: list[str]
) -> None:
    log_in_as_maya(office, page)
    mailbox = Account.objects.get(external_user_id="maya", source="gmail")
    LearnedPattern.objects.filter(account=mailbox).delete()
    row = learn(mailbox, 1, name="News of the market", hits=7, corrections=1, tried_mails=300)
    acting = learn(mailbox, 2, name="Receipts")
    learn(mailbox, 3, name="Odd " + "long" * 40, proposed_by="webhook", tried_at=None)
    patterns.approve(pattern_id=acting.id, by="ada", now=timezone.now())
    page.set_viewport_size(PHONE)
    page.goto("/console/")
    page.get_by_role("link", name="Patterns").click()
    assert findings(page) == []
    pictures(page, "patterns")

    page.get_by_role("button", name="Approve: News of the market").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("Done: Approve.")
    expect(page.get_by_role("region", name="News of the market")).to_be_focused()
    page.get_by_role("button", name="Stop: Receipts").click()
    expect(page.get_by_role("status")).to_have_text("Done: Stop.")

    row.refresh_from_db()
    acting.refresh_from_db()
    assert (row.state, row.approved_by) == ("approved", "user:maya")
    assert (acting.state, acting.suspended_why) == ("suspended", "user:maya suspended it.")
    assert problems == []


def test_a_pattern_that_changed_meanwhile_is_not_approved(office: Office, page: Page) -> None:
    log_in_as_maya(office, page)
    row = learn(Account.objects.get(external_user_id="maya", source="gmail"), name="News")
    page.goto("/console/patterns")
    LearnedPattern.objects.filter(id=row.id).update(tried_at=timezone.now())

    page.get_by_role("button", name="Approve: News").click()

    expect(page.get_by_role("status")).to_have_text(
        "It was changed or tried again since it was read. Read it again."
    )
    expect(page.get_by_role("button", name="Approve: News")).to_be_enabled()
    assert LearnedPattern.objects.get(id=row.id).state == "proposed"


def test_drafts_lead_to_their_mail_and_empty_pages_say_what_they_are_for(
    office: Office, page: Page, problems: list[str]
) -> None:
    log_in_as_maya(office, page)
    mailbox = Account.objects.get(external_user_id="maya", source="gmail")
    LearnedPattern.objects.filter(account=mailbox).delete()
    for address in ("/console/patterns", "/console/drafts"):
        page.goto(address)
        expect(page.locator(".empty")).to_be_visible()
        pictures(page, f"empty.{address[9:]}")
    mail = item(mailbox, title="When does the roof get done?")
    write(mailbox, state="edited", nearness=0.9, answer_id="m2", reply_to_id=mail.source_id)
    write(mailbox, reply_to_id="m9", of_own_accord=False)
    page.reload()
    assert findings(page) == []
    pictures(page, "drafts")

    page.get_by_role("link", name="When does the roof get done?").click()

    expect(page.get_by_role("heading", name="When does the roof get done?")).to_be_visible()
    pictures(page, "item")
    assert findings(page) == []
    assert problems == []
