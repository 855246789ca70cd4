"""An operator's whole journey in a real browser: from a new account to a changed policy."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from audit.ledger.ids import uuid7
from guardrails.contracts import ActionRequest
from guardrails.execute.executor import execute
from guardrails.models import AllowedAction
from integrations.models import Account
from tests.browser.pages import BARE_INPUTS
from tests.browser.windows import PHONE, find_too_narrow
from tests.guardrails.office import CHAT
from tests.office import Office

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume synchronous"),
]


def fits(page: Page) -> bool:
    return find_too_narrow(page) == [] and page.evaluate(BARE_INPUTS) == []


def test_from_a_new_account_to_a_changed_policy(
    office: Office, page: Page, problems: list[str]
) -> None:
    page.set_viewport_size(PHONE)
    page.goto(reverse("admin:integrations_account_add"))
    page.get_by_label("Organisation").select_option(str(office.organisation.pk))
    page.get_by_label("External user id").fill("zoe")
    page.get_by_label("Source").select_option("gmail")
    page.get_by_label("Address").fill("zoe@company.com")
    page.get_by_label("Display name").fill("Zoe Quist")
    page.get_by_role("button", name="Save", exact=True).click()

    expect(page.get_by_text("Nothing is permitted.")).to_be_visible()
    assert fits(page)
    page.get_by_role("link", name="A careful mailbox").click()
    expect(page.get_by_text("Allowed action “Archive a mail” added")).to_be_visible()
    assert fits(page)
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("entries changed.")).to_be_visible()
    expect(page.get_by_role("heading", name="Archive a mail")).to_be_visible()
    assert fits(page)

    page.get_by_role("link", name="Change the allowed action for “Archive a mail”").click()
    page.get_by_label("A condition to add").select_option(label="Who sent the mail")
    page.get_by_role("button", name="Add a condition").click()
    expect(page.get_by_role("group", name="Who sent the mail")).to_be_focused()
    page.get_by_label("Domains").fill("not a domain")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("“not a domain” has no plain domain")).to_be_visible()
    assert fits(page)
    page.get_by_label("Domains").fill("client.com")
    page.get_by_role("button", name="Try on the past").click()
    counted = "0 newly allowed, 0 newly asked about, 0 newly refused"
    expect(page.get_by_text(counted)).to_be_visible()
    assert fits(page)
    page.get_by_role("button", name="Back to the form").click()
    expect(page.get_by_label("Domains")).to_have_value("client.com")
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url("**/allowedaction/")

    zoe = Account.objects.get(external_user_id="zoe")
    rule = AllowedAction.objects.get(account=zoe, action_type="archive")
    assert rule.conditions == [{"kind": "sender", "domains": ["client.com"]}]
    execute_refused(zoe)
    page.goto(f"{reverse('admin:guardrails_policy_explain')}?account={zoe.pk}")
    page.get_by_role("link", name="Why was this refused?").click()
    expect(page.get_by_text("What would have to change:")).to_be_visible()
    assert fits(page)
    page.goto(f"{reverse('admin:guardrails_policy_simulate')}?account={zoe.pk}&action=archive")
    page.get_by_label(re.compile("^Email id")).fill("mail-nowhere")
    page.get_by_role("button", name="Try it").click()
    expect(page.get_by_text("There is no such item in this account.")).to_be_visible()
    assert fits(page)
    page.goto(f"{reverse('admin:guardrails_policy_history')}?account={zoe.pk}")
    expect(page.get_by_text("the mail is from somebody at client.com")).to_be_visible()
    assert fits(page)
    assert problems == []


def test_a_file_is_chosen_tried_and_applied(
    office: Office, page: Page, problems: list[str]
) -> None:
    page.set_viewport_size(PHONE)
    maya = Account.objects.get(external_user_id="maya", source="gmail")
    page.goto(f"{reverse('admin:guardrails_policy_import')}?account={maya.pk}")
    text = "version: 1\nallowed_actions: [{action: archive, mode: ask}]\n"
    page.get_by_label("Choose a file", exact=True).set_input_files(
        {"name": "policy.yaml", "mimeType": "application/yaml", "buffer": text.encode()}
    )
    expect(page.get_by_label("Choose file to upload")).to_have_value("policy.yaml")
    page.get_by_role("button", name="Show what would change").click()
    expect(page.get_by_text("To correct in the new policy")).to_be_visible()
    assert fits(page)

    page.get_by_role("button", name="Try on the past").click()
    counted = "0 newly allowed, 0 newly asked about, 0 newly refused"
    expect(page.get_by_text(counted)).to_be_visible()
    assert fits(page)
    page.get_by_role("button", name="Save it").click()
    expect(page.get_by_text("entries changed.")).to_be_visible()

    rules = AllowedAction.objects.filter(account=maya)
    assert list(rules.values_list("action_type", "approval_mode")) == [("archive", "ask")]
    assert problems == []


def execute_refused(account: Account) -> None:
    request = ActionRequest(
        action_id=uuid7(),
        account=account.ref(),
        action_type="mark_read",
        arguments={"email_id": "mail-1"},
        origin=CHAT,
    )
    assert execute(request).reason == "not_permitted"


def test_conditions_by_keyboard_alone(office: Office, page: Page, problems: list[str]) -> None:
    rule = AllowedAction.objects.filter(
        account__external_user_id="maya", action_type="archive"
    ).get()
    page.goto(reverse("admin:guardrails_allowedaction_change", args=[rule.pk]))

    page.get_by_label("A condition to add").focus()
    page.keyboard.type("The mail is in")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("group", name="The mail is in a conversation")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_label("Min messages")).to_be_focused()
    page.keyboard.press("Control+A")
    page.keyboard.type("4")
    page.keyboard.press("Enter")  # Enter in a field saves, and removes nothing
    page.wait_for_url("**/allowedaction/")

    rule.refresh_from_db()
    assert rule.conditions == [{"kind": "thread", "min_messages": 4}]
    page.goto(reverse("admin:guardrails_allowedaction_change", args=[rule.pk]))
    page.get_by_role("button", name="Remove “The mail is in a conversation”").press("Enter")
    expect(page.get_by_label("A condition to add")).to_be_focused()
    expect(page.get_by_text("No conditions.")).to_be_visible()
    assert problems == []
