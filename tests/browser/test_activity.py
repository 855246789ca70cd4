"""The activity in a real browser: live, chosen by a click on a bar, and whole on a phone."""

from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from agents.models import Turn
from integrations.models import Account, Delivery
from knowledge.models import Item
from tests.browser.test_search import HOSTILE, picture
from tests.browser.windows import PHONE, find_too_narrow
from tests.office import Office

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    # The static files of a test come from disk through a synchronous iterator.
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume synchronous"),
]
REFUSED = {
    "action_id": "00000000-0000-7000-8000-000000000000",
    "type": "archive",
    "description": "Archive",
    "status": "refused",
    "reason": "target_not_listed",
}


def arrive(number: int, *, title: str, actions: list[dict[str, Any]] | None = None) -> None:
    account = Account.objects.get(external_user_id="maya", source="gmail")
    made = Delivery.objects.create(
        organisation=account.organisation,
        account=account,
        webhook_id=f"webhook-{number}",
        kind="created",
        source="gmail",
        source_id=f"mail-{number}",
        body={},
        state="processed",
    )
    Item.objects.create(
        account=account,
        source="gmail",
        source_id=made.source_id,
        content_type="email",
        title=title,
        sender_name=f"Ann {HOSTILE}",
        occurred_at=timezone.now(),
        ingested_at=timezone.now(),
    )
    if actions is not None:
        Turn.objects.create(
            organisation=account.organisation,
            external_user_id="maya",
            kind="inbound",
            account=account,
            item_source_id=made.source_id,
            delivery=made,
            state="finished",
            ending="reply",
            actions=actions,
        )


def test_what_comes_appears_and_a_bar_opens_its_rows(
    office: Office, page: Page, problems: list[str]
) -> None:
    page.goto("/admin/")
    expect(page.get_by_text("Nothing has come yet.")).to_be_visible()
    picture(page, "activity-empty")

    arrive(1, title="Quarterly figures " * 6, actions=[REFUSED])
    arrive(2, title=f"Lunch {HOSTILE}")
    rows = page.locator(".activity-row")
    expect(rows).to_have_count(2)  # without a reload

    page.reload()
    picture(page, "activity")
    page.set_viewport_size(PHONE)
    assert find_too_narrow(page) == []
    picture(page, "activity-phone")
    page.get_by_role("link", name="1 refused").click()
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("Quarterly figures")
    assert page.title() == "Activity | Remit"
    assert problems == []
