"""The admin in a real browser: its theme, the API's pages and logging in."""

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.office import PASSWORD, Office

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    # The static files of a test come from disk through a synchronous iterator.
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume synchronous"),
]


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
