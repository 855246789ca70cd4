"""What people come for, looked over by axe-core: light and dark, on a phone and a screen."""

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from django.urls import reverse
from playwright.sync_api import Page

from tests.browser.windows import PHONE, SCREEN
from tests.office import Office

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    # The static files of a test come from disk through a synchronous iterator.
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume synchronous"),
]
# In the theme of the admin, and in that of the browser for the pages that follow it.
DARKEN = "dark => document.documentElement.classList.toggle('dark', dark)"
SERIOUS = """async () => (await axe.run({resultTypes: ["violations"]})).violations
  .filter((one) => ["serious", "critical"].includes(one.impact))
  .flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.html.slice(0, 120)}`))"""
NAMES = (
    "admin:index",
    "setup",
    "admin:guardrails_approval_changelist",
    "admin:guardrails_policy_explain",
    "admin:guardrails_killswitch_changelist",
    "admin:audit_executedagentaction_changelist",
    "admin:guardrails_ledger_auditor",
    "admin:agents_dashboard",
    "ledger-verify",
    "docs",
)


def test_no_page_has_a_serious_finding(office: Office, page: Page, problems: list[str]) -> None:
    office.sync("gmail")
    office.deliver("newsletter")
    office.drain()

    found = {}
    for address in [*map(reverse, NAMES), "/console/", reverse("admin:integrations_budget_add")]:
        page.goto(address)
        page.wait_for_load_state()
        page.evaluate(AXE_SCRIPT)
        for window in (SCREEN, PHONE):
            page.set_viewport_size(window)
            for theme in ("light", "dark"):
                page.emulate_media(color_scheme=theme)
                page.evaluate(DARKEN, theme == "dark")
                if findings := page.evaluate(SERIOUS):
                    found[address, window["width"], theme] = findings
    assert found == {}
    assert problems == []
