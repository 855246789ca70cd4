"""An operator connects a user's own calendars."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from integrations.credentials import sealing
from integrations.models import Account
from tests.browser.windows import PHONE, find_too_narrow
from tests.calendar_world import ADDRESS, NAMES, PASSWORD, USER, CalendarServer, missing
from tests.office import Office
from tests.own_accounts import PRIVATE

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    # The static files of a test come from disk through a synchronous iterator.
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume synchronous"),
]


@missing(NAMES[0])
def test_calendars_are_connected_on_a_phone(
    office: Office,
    page: Page,
    problems: list[str],
    calendar_servers: Callable[[str], CalendarServer],
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = calendar_servers(NAMES[0])
    monkeypatch.setenv("SSL_CERT_FILE", str(server.trusted))
    settings.OUTGOING_TO_PRIVATE = True
    public = sealing.private_key(PRIVATE).public_key()
    settings.CREDENTIALS_PUBLIC_KEY = sealing.to_text(public)
    page.set_viewport_size(PHONE)

    page.goto("/admin/integrations/account/connect/")
    page.get_by_role("link", name="Connect calendars", exact=True).click()
    assert page.locator("#known-users option[value=maya]").count() == 1
    page.get_by_label("User (required)").fill("maya")
    page.get_by_label("Address").fill(ADDRESS)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_text("Server, if it is not found").click()
    page.get_by_label("User name").fill(USER)
    page.get_by_label("Calendar server").fill(server.origin)
    assert find_too_narrow(page) == []
    page.get_by_role("button", name="Sign in").click()

    expect(page.get_by_text("What Remit can do at nora@office.test")).to_be_visible()
    assert find_too_narrow(page) == []
    page.get_by_role("button", name="Connect", exact=True).click()

    expect(page.get_by_text("nora@office.test is connected.")).to_be_visible()
    account = Account.objects.get(source="caldav")
    assert (account.external_user_id, account.address) == ("maya", ADDRESS)
    assert problems == []
