"""Deciding in a real browser: changing first, deciding elsewhere, the inbox by keyboard."""

import os
import re

import pytest
from playwright.sync_api import Page, expect

from guardrails.approve import approvals
from guardrails.models import AllowedAction, Approval
from tests.browser.test_console import say, status
from tests.browser.windows import PHONE, SCREEN, find_too_narrow
from tests.office import Office

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    # The static files of a test come from disk through a synchronous iterator.
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume synchronous"),
]
# Nothing that the list stands in has more than it shows.
FITS = """one => {
    for (let at = one; at; at = at.parentElement) {
        const cut = getComputedStyle(at).overflowX !== "visible";
        if (cut && at.scrollWidth > at.clientWidth + 1) return false;
    }
    return true;
}"""
SHOTS = os.environ.get("REMIT_SHOTS")


def shoot(page: Page, name: str) -> None:
    """Pictures for anybody who wants to look, at two widths."""
    for width in (1280, 390) if SHOTS else ():
        page.set_viewport_size({"width": width, "height": 900})
        page.screenshot(path=f"{SHOTS}/{name}-{width}.png", full_page=True)
    page.set_viewport_size({"width": 1280, "height": 900})


def test_a_task_is_changed_in_the_console_another_is_decided_elsewhere_and_two_say_yes(
    office: Office, page: Page, problems: list[str]
) -> None:
    office.sync("gmail")
    for row in AllowedAction.objects.filter(action_type="create_jira_task"):
        row.conditions = [*row.conditions, {"kind": "two_people"}]
        row.save()
    with office.worker():
        page.goto("/console/")
        say(page, "Create Jira tasks from John's proposal email")
        status(page, "The agent asks a question.")
        page.get_by_role("button", name="John Smith").click()
        status(page, "1 question waits for your decision.")
        page.get_by_text("All of it").nth(1).click()
        page.get_by_role("button", name="Change: Create a task in PROJ: “User Auth”").click()
        form = page.locator("form.change:visible")
        form.get_by_label("summary").fill("Single sign-on")
        shoot(page, "console-change")
        form.get_by_role("button", name="Save and look at it").click()
        status(page, "2 questions wait for your decision.")
        cards = page.get_by_role("region", name="Pending action")
        expect(cards.get_by_role("heading", name="Create a task in PROJ")).to_be_visible()
        expect(cards.filter(has_text="Single sign-on")).to_contain_text(
            "typed by the person who changed what the agent proposed"
        )

        other = Approval.objects.get(
            description="Create a task in PROJ: “Setup CI/CD”", state="pending"
        )
        approvals.reject(
            organisation_id=other.organisation_id, approval_id=other.id, decided_by="operator:olga"
        )
        page.evaluate("window.dispatchEvent(new Event('focus'))")
        gone = page.get_by_role("region", name="Handled")
        expect(gone).to_contain_text("Rejected by operator olga at")
        expect(cards).to_have_count(2)
        shoot(page, "console-handled")
        page.get_by_role("button", name="Confirm: Create a task in PROJ: “Single sign-on”").click()
        status(page, "1 question waits for your decision.")  # the third
        for is_reloaded in (False, True):
            if is_reloaded:
                page.reload()
            expect(cards.filter(has_text="Single sign-on")).to_contain_text(
                "Your yes is recorded; one more person has to agree."
            )
            expect(page.get_by_role("button", name="Confirm")).to_have_count(1)
            expect(page.get_by_role("button", name="Reject: Create a task in PROJ")).to_have_count(
                2
            )
        shoot(page, "console-first-yes")
        changed = Approval.objects.get(first_yes_at__isnull=False)
        assert office.calls() == []
        approvals.confirm(
            organisation_id=changed.organisation_id,
            approval_id=changed.id,
            decided_by="operator:olga",
        )
        page.evaluate("window.dispatchEvent(new Event('focus'))")
        expect(gone).to_contain_text(
            re.compile("by operator for Maya Lindqvist at .* and by operator olga at")
        )
    assert [call["body"]["summary"] for call in office.calls()] == ["Single sign-on"]
    assert problems == []


def test_the_inbox_is_worked_through_by_keyboard(
    office: Office, page: Page, problems: list[str]
) -> None:
    office.sync("gmail")
    with office.worker():
        page.goto("/console/")
        say(page, "Create Jira tasks from John's proposal email")
        status(page, "The agent asks a question.")
        page.get_by_role("button", name="John Smith").click()
        status(page, "1 question waits for your decision.")
    page.goto("/admin/guardrails/approval/")
    shoot(page, "inbox")
    assert find_too_narrow(page) == []
    assert page.locator("#result_list").evaluate(FITS)
    expect(page.get_by_role("link", name="3 actions: Create a task in PROJ")).to_have_count(1)
    page.keyboard.press("j")
    page.keyboard.press("x")
    assert page.locator("#result_list tbody input[type=checkbox]:checked").count() == 1
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    expect(page.get_by_role("checkbox")).to_have_count(3)
    shoot(page, "like-ones")
    page.get_by_role("link", name="Change this one, or let somebody else").first.click()
    expect(page.locator("#approval-headline")).to_be_visible()
    shoot(page, "card")
    page.keyboard.press("c")
    expect(page.locator("#approval-confirm")).to_be_focused()
    assert office.calls() == []  # a key alone decides nothing
    before = page.url
    page.keyboard.press("Enter")
    expect(page.locator("#approval-confirm")).to_be_visible()
    assert page.url != before  # the next one that waits
    page.goto(before)
    expect(page.get_by_text("Confirmed by operator at").first).to_be_visible()
    assert len(office.calls()) == 1
    shoot(page, "card-handled")

    waiting = Approval.objects.filter(state="pending").order_by("created_at")
    ids = ",".join(str(one.id) for one in waiting)
    page.goto(f"/admin/guardrails/approval/batch/?ids={ids}")
    shoot(page, "batch")
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    page.get_by_role("button", name="Confirm the ticked ones").click()
    expect(page.get_by_text("Done.").first).to_be_visible()
    assert len(office.calls()) == 3
    page.goto("/admin/guardrails/approval/deciders/")
    expect(page.get_by_role("rowheader", name="operator", exact=True)).to_be_visible()
    shoot(page, "deciders")
    page.goto("/admin/guardrails/approval/")
    shoot(page, "inbox-handled")
    assert page.locator("#result_list").evaluate(FITS)
    assert problems == []


def test_what_a_card_is_about_is_above_the_yes_on_a_phone_and_open_beside_it_elsewhere(
    office: Office, page: Page, problems: list[str]
) -> None:
    with office.worker():
        page.goto("/console/")
        say(page, "Create a task in PROJ: Order new plants")
        status(page, "1 question waits for your decision.")
        expect(page.locator("#sessions li")).to_contain_text("waits for a yes or no")
    [row] = Approval.objects.filter(state="pending")

    for address in (f"/admin/guardrails/approval/{row.id}/change/", "/console/approvals?user=maya"):
        about = page.locator("details.beside")
        confirm = page.get_by_role("button", name="Confirm")
        for size in (PHONE, SCREEN):
            page.set_viewport_size(size)
            page.goto(address)
            expect(about.locator("summary")).to_have_text("The conversation so far")
            is_open = about.get_attribute("open") is not None
            behind, yes = about.bounding_box(), confirm.bounding_box()
            assert behind is not None
            assert yes is not None
            if size is PHONE:
                assert not is_open
                assert behind["y"] + behind["height"] <= yes["y"]
                about.locator("summary").click()
                expect(about).to_contain_text("Create a task in PROJ: Order new plants")
            else:
                assert is_open
                assert behind["x"] > yes["x"] + yes["width"]
                assert behind["y"] < yes["y"]
        assert find_too_narrow(page) == []
    assert problems == []
