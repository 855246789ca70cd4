"""What people come for, and in how many clicks. `make bench NAME=walks` prints the figures, with
pauses as a person makes them."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from audit.ledger.ids import uuid7
from guardrails.contracts import ActionRequest, Origin
from guardrails.execute.executor import execute
from guardrails.models import AllowedAction, AllowedActionOption, Approval
from tests.browser.windows import PHONE
from tests.office import Office

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    # The static files of a test come from disk through a synchronous iterator.
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume synchronous"),
]
MOST = {"label_clicks": 6, "why_clicks": 2, "stop_clicks": 2, "export_clicks": 3}
REQUESTS, MOST_SECONDS = 12, 120.0
PAUSE_MS = float(os.environ.get("WALK_PAUSE_MS", "0"))  # a person reads before each decision
FIGURES = os.environ.get("WALK_FIGURES", "")


class Walk:
    """Clicks from the first page on, counted."""

    def __init__(self, page: Page) -> None:
        self.page, self.clicks = page, 0
        page.goto("/admin/")

    def click(self, what: Locator) -> None:
        what.click()
        self.clicks += 1

    def link(self, name: str) -> Locator:
        return self.page.get_by_role("link", name=name).first

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)


def note(name: str, value: float) -> None:
    """For the benchmark."""
    if FIGURES:
        with Path(FIGURES).open("a", encoding="utf-8") as file:
            file.write(json.dumps({name: value}) + "\n")


def counted(name: str, clicks: int) -> None:
    note(name, clicks)
    assert clicks <= MOST[name]


def test_newsletters_are_labelled_on_their_own(
    office: Office, page: Page, problems: list[str]
) -> None:
    account = office.account("maya", "gmail")
    AllowedAction.objects.filter(account_id=account.id).delete()
    AllowedActionOption.objects.filter(account_id=account.id).delete()
    office.sync("gmail")

    walk = Walk(page)
    walk.click(walk.link("Set up"))
    walk.click(page.get_by_label("Newsletter"))
    walk.click(walk.button("Save"))
    walk.click(walk.link("A careful mailbox"))
    walk.click(walk.button("Choose this preset"))
    walk.click(walk.button("Switch on: Label a mail"))
    expect(page.get_by_role("button", name="Ask again: Label a mail")).to_be_visible()

    mail = office.deliver("newsletter")
    office.drain()
    newsletter = AllowedActionOption.objects.get(account_id=account.id, name="Newsletter")
    assert newsletter.external_id in office.mail(mail["id"])["labels"]
    counted("label_clicks", walk.clicks)
    assert problems == []


def test_why_a_mail_was_not_answered(office: Office, page: Page, problems: list[str]) -> None:
    office.sync("gmail")
    nobody = [{"kind": "sender", "domains": ["nobody.example"]}]
    AllowedAction.objects.filter(account__source="gmail").update(conditions=nobody)
    office.deliver("question")
    office.drain()

    walk = Walk(page)
    walk.click(page.locator(".activity-row").get_by_role("link", name="refused").first)
    said = page.locator("#result_list").get_by_text("A condition of the policy does not hold.")
    expect(said.first).to_contain_text("Refused: ")
    counted("why_clicks", walk.clicks)
    assert problems == []


def test_everything_is_stopped(office: Office, page: Page, problems: list[str]) -> None:
    walk = Walk(page)
    walk.click(page.locator("#nav-sidebar").get_by_role("link", name="Stop"))
    walk.click(page.get_by_role("button", name="Stop: Everything"))
    for address in ("/admin/", "/console/"):
        page.goto(address)
        expect(page.get_by_label("Stopped")).to_contain_text("no reason was given")
    counted("stop_clicks", walk.clicks)
    assert problems == []


def test_last_month_is_exported(
    office: Office, page: Page, problems: list[str], tmp_path: Path
) -> None:
    from tests.audit import sealed
    from tests.audit.bundle import files as bundles
    from tests.audit.entries import append_action

    append_action(tenant_id=office.organisation.pk)
    sealed.seal(office.organisation.pk)
    walk = Walk(page)
    walk.click(walk.link("For auditors"))
    with page.expect_download() as download:
        walk.click(walk.button("Download the bundle"))
    data = download.value.path().read_bytes()
    assert bundles.check(tmp_path, data, sealed.key(office.organisation.pk)) == 0
    counted("export_clicks", walk.clicks)
    assert problems == []


def let_tasks_ask(office: Office) -> None:
    account = office.account("maya", "jira")
    of_task = {"account_id": account.id, "action_type": "create_jira_task"}
    AllowedAction.objects.filter(**of_task).update(approval_mode="ask", conditions=[])
    AllowedActionOption.objects.get_or_create(
        **of_task, source="jira", kind="project", external_id="PROJ", defaults={"name": "PROJ"}
    )


def ask(office: Office, number: int) -> None:
    account = office.account("maya", "jira")
    arguments: dict[str, Any] = {"project_key": "PROJ", "summary": f"Task {number}", "type": "task"}
    done = execute(
        ActionRequest(
            action_id=uuid7(),
            account=account,
            action_type="create_jira_task",
            arguments=arguments,
            origin=Origin(trigger="chat", turn_id=f"turn-{number}", agent="orchestrator"),
        )
    )
    assert done.status == "pending", done.sentence


def test_twelve_requests_are_decided_on_a_phone(
    office: Office, page: Page, problems: list[str]
) -> None:
    let_tasks_ask(office)
    for number in range(REQUESTS):
        ask(office, number)
    waiting = Approval.objects.filter(state=Approval.State.PENDING)
    assert waiting.count() == REQUESTS

    page.set_viewport_size(PHONE)
    begin = time.monotonic()
    page.goto("/admin/guardrails/approval/")
    page.locator("#result_list tbody a").first.click()
    for number in range(REQUESTS):
        page.wait_for_timeout(PAUSE_MS)
        choice = "Confirm" if number % 3 else "Reject"
        with page.expect_navigation():
            page.get_by_role("button", name=choice, exact=True).click()
    note("twelve_approvals_seconds", round(time.monotonic() - begin, 1))
    assert time.monotonic() - begin < MOST_SECONDS
    assert not waiting.exists()
    assert len(office.calls()) == REQUESTS * 2 // 3
    assert problems == []
