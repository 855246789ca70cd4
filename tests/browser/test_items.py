"""An operator looks at what Remit keeps of one mail and its attachments."""

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from integrations.models import Account
from knowledge.files.contracts import REASONS
from knowledge.models import Chunk, Item, ItemFile
from tests.browser.windows import PHONE, find_too_narrow
from tests.office import Office

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    # The static files of a test come from disk through a synchronous iterator.
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume synchronous"),
]


def mail(office: Office) -> Item:
    now = timezone.now()
    return Item.objects.create(
        account=Account.objects.get(external_user_id="maya", source="gmail"),
        source="gmail",
        source_id="m1",
        content_type="email",
        title="Offer for the portal",
        summary="An offer.",
        text="See the offer.",
        occurred_at=now,
        ingested_at=now,
    )


def test_the_files_of_a_mail_are_shown_with_what_was_read_or_why_not(
    office: Office, page: Page, problems: list[str]
) -> None:
    item = mail(office)
    Chunk.objects.create(item=item, position=0, text="See the offer.", digest="0" * 64)
    for position, reason in enumerate(["", *REASONS]):
        ItemFile.objects.create(
            item=item,
            position=position,
            name=f"{'offer_of_the_year_' * 6}{position}.pdf",
            mime_type="application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            size=1_234_567,
            reason=reason,
            text="" if reason else "<b>Price</b> " * 60,
        )
    page.set_viewport_size(PHONE)

    page.goto(f"/admin/knowledge/item/{item.pk}/change/")
    page.get_by_role("link", name="Files").click()

    expect(page.get_by_text("Read.", exact=True)).to_be_visible()
    for sentence in REASONS.values():
        expect(page.get_by_text(sentence)).to_be_visible()
    expect(page.get_by_text("<b>Price</b>").first).to_be_visible()
    assert find_too_narrow(page) == []
    assert problems == []
