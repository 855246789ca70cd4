"""From a refusal to an allowed action in a real browser: a user asks, an operator approves."""

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from audit.ledger.ids import uuid7
from guardrails.approve import change_requests
from guardrails.contracts import ActionRequest
from guardrails.execute.executor import execute
from guardrails.models import AllowedAction, AllowedActionOption, ChangeRequest
from tests.browser.pages import BARE_INPUTS
from tests.browser.test_approvals import shoot
from tests.browser.test_console import last, say, status
from tests.browser.windows import find_too_narrow
from tests.guardrails.office import CHAT
from tests.office import Office

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    # The static files of a test come from disk through a synchronous iterator.
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume synchronous"),
]
LOOK = "window.dispatchEvent(new Event('focus'))"
TASK = "create a task in OPS: Buy plants"


def fits(page: Page) -> bool:
    return find_too_narrow(page) == [] and page.evaluate(BARE_INPUTS) == []


def test_a_user_asks_and_an_operator_approves_by_keyboard(
    office: Office, page: Page, problems: list[str]
) -> None:
    page.goto(reverse("admin:guardrails_changerequest_changelist"))
    shoot(page, "change-requests-none")
    assert fits(page)
    with office.worker():
        page.goto("/console/")
        say(page, TASK)
        status(page, "Finished.")
        refused = page.get_by_role("region", name="Not done")
        shoot(page, "console-refused")
        refused.get_by_role("button", name="Ask for this").press("Enter")
        status(page, "Asked. An operator decides.")
        expect(refused).to_contain_text("It waits for an operator.")
        asked = page.get_by_text("Asked for", exact=True)
        asked.press("Enter")
        expect(page.locator("#asked li")).to_contain_text("Create a task in OPS: “Buy plants”")
        expect(refused.get_by_role("button")).to_have_count(0)
        shoot(page, "console-asked")
    assert find_too_narrow(page) == []
    console = page.url
    assert office.calls() == []

    page.goto(reverse("admin:guardrails_changerequest_changelist"))
    shoot(page, "change-requests")
    page.get_by_role("link", name="Create a task in OPS").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="The smallest change that permits it")).to_be_visible()
    expect(page.get_by_role("region", name="Tried on the past")).to_contain_text(
        "1 newly asked about"
    )
    shoot(page, "change-request")
    assert fits(page)
    page.get_by_role("button", name="Approve this change").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Approved by operator at")).to_be_visible()
    shoot(page, "change-request-approved")
    assert fits(page)
    added = AllowedActionOption.objects.get(external_id="OPS")
    assert (added.action_type, added.kind) == ("create_jira_task", "project")
    assert office.calls() == []

    with office.worker():
        page.goto(console)
        expect(page.get_by_role("region", name="Not done")).to_contain_text(
            "Nothing was done by that: ask the agent again."
        )
        shoot(page, "console-approved")
        say(page, TASK)
        status(page, "1 question waits for your decision.")
        page.get_by_role("button", name="Confirm: Create a task in OPS: “Buy plants”").click()
        expect(last(page)).to_contain_text("OPS-")
    assert [call["body"]["project_key"] for call in office.calls()] == ["OPS"]
    assert problems == []


def test_a_decision_appears_while_the_session_is_open(
    office: Office, page: Page, problems: list[str]
) -> None:
    with office.worker():
        page.goto("/console/")
        say(page, TASK)
        status(page, "Finished.")
        page.get_by_role("button", name="Ask for this").click()
        status(page, "Asked. An operator decides.")
        page.evaluate(LOOK)
        expect(page.get_by_role("region", name="Not done")).to_contain_text("It waits")
        change_requests.decline(
            ChangeRequest.objects.get().id, by="operator:olga", answer="<b>OPS is closed.</b>"
        )
        page.evaluate(LOOK)
        status(page, "An operator has decided what you asked for.")
    expect(page.get_by_role("region", name="Not done")).to_contain_text("“<b>OPS is closed.</b>”")
    page.get_by_role("button", name="New session").click()
    page.get_by_text("Asked for", exact=True).click()
    expect(page.locator("#asked li")).to_contain_text("“<b>OPS is closed.</b>”")
    page.get_by_label("Act as").select_option("omar")
    expect(page.locator("#asked")).to_be_hidden()
    assert problems == []


def test_what_cannot_be_asked_for_says_why(office: Office, page: Page) -> None:
    with office.worker():
        page.goto("/console/")
        say(page, TASK)
        status(page, "Finished.")
    office.organisation.accounts.update(paused=True)
    page.get_by_role("button", name="Ask for this").click()
    expect(page.get_by_role("alert")).to_contain_text("No small change of the policy permits this.")
    expect(page.get_by_role("button", name="Ask for this")).to_be_enabled()
    assert not ChangeRequest.objects.exists()


def test_much_fits_a_phone_and_a_screen(office: Office, page: Page, problems: list[str]) -> None:
    account = office.account("maya", "gmail")
    mail = {"subject": "S" * 300, "body": "Without a break " + "x" * 2000}
    AllowedAction.objects.filter(account_id=account.id, action_type="send_email").delete()
    for number in range(30):
        AllowedActionOption.objects.create(
            account_id=account.id,
            action_type="send_email",
            source="gmail",
            kind="recipient",
            external_id=f"{'p' * 50}{number}@client.com",
            name="N" * 400,
        )
    to = [f"{'very.long.name' * 4}{number}@others.example" for number in range(50)]
    for count in range(12):
        wish = ActionRequest(
            action_id=uuid7(),
            account=account,
            action_type="send_email",
            arguments={"to": to[: count + 1], **mail} if count else {"to": to, **mail},
            origin=CHAT,
        )
        assert execute(wish).status == "refused"
        if count < 10:
            change_requests.ask(
                organisation_id=account.organisation_id,
                external_user_id="maya",
                action_id=wish.action_id,
                asked_by="operator:olga",
            )
    page.goto(reverse("admin:guardrails_changerequest_changelist"))
    shoot(page, "change-requests-many")
    assert fits(page)
    page.goto(
        reverse(
            "admin:guardrails_changerequest_change",
            args=[ChangeRequest.objects.earliest("created_at").pk],
        )
    )
    expect(page.get_by_text("and 12 more.")).to_be_visible()
    shoot(page, "change-request-much")
    assert fits(page)
    page.goto("/admin/agents/turn/dashboard/")
    shoot(page, "dashboard")
    page.goto("/console/")
    page.get_by_text("Asked for", exact=True).click()
    expect(page.locator("#asked li")).to_have_count(10)
    shoot(page, "console-many")
    assert find_too_narrow(page) == []
    assert problems == []
