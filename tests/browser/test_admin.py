"""Every page of the admin in a real browser: no complaint, and the theme's inputs."""

from collections.abc import Iterator

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.http import HttpRequest
from django.urls import reverse
from playwright.sync_api import BrowserContext, Page, expect

from integrations.models import Account
from tests.browser.windows import find_too_narrow
from tests.office import PASSWORD, Office

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    # The static files of a test come from disk through a synchronous iterator.
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume synchronous"),
]
# Inputs without a border: how a page looks that is not in the theme.
BARE_INPUTS = """
[...document.querySelectorAll(
  "#content-main form input:not([type=hidden], [type=checkbox], [type=radio], [type=file]),"
  + " #content-main form textarea, #content-main form select:not(.select2-hidden-accessible)"
)].filter((one) => one.offsetParent && one.name !== "q"
  && getComputedStyle(one).borderTopWidth === "0px").map((one) => one.name || one.outerHTML)
"""


def addresses() -> Iterator[str]:
    """The list of every model, its form for a new row, and the page of its first row."""
    request = HttpRequest()
    request.user = User.objects.get(username="operator")
    for model, shown in admin.site._registry.items():
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        yield reverse(f"{name}_changelist")
        if shown.has_add_permission(request):
            yield reverse(f"{name}_add")
        if row := shown.get_queryset(request).first():
            yield reverse(f"{name}_change", args=[row.pk])
    mailbox = Account.objects.filter(external_user_id="maya", source="gmail").first()
    chosen = f"?account={mailbox.pk}" if mailbox else ""
    yield reverse("admin:guardrails_policy_history")
    yield reverse("admin:guardrails_person_import")
    yield reverse("admin:integrations_account_connect")
    yield reverse("admin:guardrails_ledger_reconciliation")
    yield reverse("admin:guardrails_ledger_health")
    yield reverse("admin:guardrails_policy_explain") + f"{chosen}&target=ada@client.com"
    yield reverse("admin:guardrails_policy_simulate") + f"{chosen}&action=send_email"
    if chosen:
        yield reverse("admin:guardrails_policy_import") + f"{chosen}&preset=careful-mailbox"
        yield reverse("admin:guardrails_policy_shadow") + chosen


def test_every_page_is_whole_and_fits_a_phone_and_a_screen(
    office: Office, page: Page, problems: list[str]
) -> None:
    office.sync("gmail")
    office.deliver("newsletter")
    office.deliver("question")
    office.drain()
    Group.objects.create(name="Readers")

    bare, wide = {}, {}
    seen = list(addresses())
    others = ["/admin/", "/admin/password_change/", "/console/", "/ledger/verify"]
    others += [reverse("mfa_index"), reverse("account_logout")]
    for address in [*others, *seen]:
        answer = page.goto(address)
        assert answer is not None
        assert answer.status == 200, address
        policy = answer.headers["content-security-policy"]
        assert "unsafe" not in policy, address
        if found := page.evaluate(BARE_INPUTS):
            bare[address] = found
        if widths := find_too_narrow(page):
            wide[address] = widths

    assert len(seen) > 40
    assert (bare, wide) == ({}, {})
    assert problems == []


def test_the_pages_of_the_api_run_nothing_that_stands_in_them(
    office: Office, page: Page, problems: list[str]
) -> None:
    answer = page.goto("/api/docs")

    assert answer is not None
    assert "unsafe" not in answer.headers["content-security-policy"]
    page.locator(".opblock").first.wait_for()
    assert problems == []


def test_the_theme_works_without_running_text_as_code(office: Office, page: Page) -> None:
    """Its menus, tabs and boxes are expressions in attributes."""
    sidebar = page.locator("#nav-sidebar").get_by_role("link", name="Approvals")
    expect(sidebar).to_be_visible()
    toggle = page.locator("[x-on\\:click^=sidebarDesktopOpen]")
    toggle.click()
    expect(sidebar).to_be_hidden()
    page.reload()
    expect(sidebar).to_be_hidden()  # it was kept
    toggle.click()
    expect(sidebar).to_be_visible()


def test_an_operator_logs_in(office: Office, context: BrowserContext) -> None:
    opened = context.new_page()
    opened.goto("/admin/")
    opened.get_by_label("Username").fill("operator")
    opened.get_by_label("Password").fill(PASSWORD)
    opened.get_by_role("button", name="Log in", exact=True).click()
    opened.wait_for_url("**/admin/")
