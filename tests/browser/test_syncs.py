"""Operators watch a sync and see whether all that came in is accounted for."""

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from integrations.models import Account
from knowledge.models import SyncFailure, SyncRun, SyncSource
from tests.browser.windows import find_too_narrow
from tests.office import Office

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    # The static files of a test come from disk through a synchronous iterator.
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume synchronous"),
]


def running_sync(office: Office) -> SyncRun:
    run = SyncRun.objects.create(organisation=office.organisation, external_user_id="maya")
    now = timezone.now()
    fields = {"gmail": (1200, 2400), "gdrive": (40, None), "jira": (0, None)}
    for source, (received, remaining) in fields.items():
        SyncSource.objects.create(
            run=run,
            account=Account.objects.get(external_user_id="maya", source=source),
            since=now - timedelta(days=30),
            state="running" if received else "queued",
            started_at=now - timedelta(seconds=60),
            received=received,
            processed=max(0, received - 7),
            skipped=min(received, 5),
            failed=min(received, 2),
            remaining=remaining,
            reasons={"unchanged": 5, "malformed_item": 2} if received else {},
        )
    return run


def test_a_running_sync_is_followed_by_itself(
    office: Office, page: Page, problems: list[str]
) -> None:
    run = running_sync(office)
    page.goto(f"/admin/knowledge/syncrun/{run.pk}/change/")
    bar = page.get_by_role("progressbar", name="Gmail")

    expect(bar).to_have_attribute("value", "33")
    expect(page.get_by_text("about 2 min to go")).to_be_visible()
    SyncSource.objects.filter(account__source="gmail").update(received=3600, remaining=0)
    expect(bar).to_have_attribute("value", "99")
    SyncSource.objects.update(state="done", finished_at=timezone.now())
    expect(page.get_by_role("status")).to_contain_text("It is done.")
    assert problems == []


def test_the_pages_of_syncs_fit_a_phone_and_a_screen(
    office: Office, page: Page, problems: list[str]
) -> None:
    run = running_sync(office)
    for number in range(30):
        SyncFailure.objects.create(
            sync=run.sources.get(account__source="gmail"),
            source_id=f"{number:04}" + "x" * 120,
            reason="malformed_item",
            failed_at=timezone.now(),
        )
    office.deliver("newsletter")

    wide = {}
    for address in (
        f"/admin/knowledge/syncrun/{run.pk}/change/",
        "/admin/knowledge/syncrun/",
        "/admin/knowledge/syncrun/accounting/",
        "/admin/knowledge/syncrun/accounting/?days=0",
        "/admin/knowledge/syncfailure/",
        "/admin/integrations/upstream/",
    ):
        page.goto(address)
        if widths := find_too_narrow(page):
            wide[address] = widths

    assert wide == {}
    assert problems == []
