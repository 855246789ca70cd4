"""What was read is found in the console and in the admin, with the words that were looked for
marked, and what strangers wrote stays text."""

import os
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from integrations.models import Account
from knowledge.ingest import indexing
from knowledge.models import Chunk, Item
from tests.browser.windows import PHONE, find_too_narrow
from tests.office import Office

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    # The static files of a test come from disk through a synchronous iterator.
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume synchronous"),
]
HOSTILE = '<img src=x onerror="document.title=1"><script>alert(1)</script> pay\u202eer '


def picture(page: Page, name: str) -> None:
    """For somebody who wants to look at it."""
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=Path(folder) / f"{name}.png")


def put(office: Office, number: int, text: str, *, title: str) -> Item:
    now = timezone.now()
    row = Item(
        account=Account.objects.get(external_user_id="maya", source="gmail"),
        source="gmail",
        source_id=f"found-{number}",
        content_type="email",
        title=title,
        text=text,
        summary="A mail.",
        sender_name=f"Ann {HOSTILE}",
        sender_address="ann@client.com",
        identifiers=[f"found-{number}"],
        occurred_at=now,
        ingested_at=now,
    )
    indexing.index(row)
    row.save()
    Chunk.objects.create(item=row, position=0, text=text, digest="0" * 64)
    return row


def search(page: Page, words: str) -> None:
    page.get_by_role("searchbox", name="Search what was read").fill(words)
    page.get_by_role("searchbox", name="Search what was read").press("Enter")


def test_the_console_shows_what_was_found_with_the_words_marked(
    office: Office, page: Page, problems: list[str]
) -> None:
    hostile = put(
        office,
        0,
        f"{HOSTILE} the <b>submarine</b> sails at noon. {'And so on. ' * 60}{'x' * 400}",
        title=f"{HOSTILE} Submarines",
    )
    for number in range(1, 12):
        put(office, number, f"Minutes of submarine meeting {number}. " * 30, title="Minutes")
    page.set_viewport_size(PHONE)
    page.goto("/console/")
    page.get_by_role("button", name="Sessions", exact=True).click()

    search(page, "submarine sails")

    expect(page.get_by_role("status")).to_have_text("The search is done.")
    entry = page.locator(".message.search")
    expect(entry).to_contain_text("10 best items found for “submarine sails”.")
    first = entry.get_by_role("listitem").first
    expect(first.locator("mark")).to_have_text(["submarine", "sails"])
    expect(first).to_contain_text("pay⟨U+202E⟩er the <b>submarine</b> sails at noon.")
    expect(first.get_by_role("link")).to_have_attribute("href", f"/console/items/{hostile.pk}")
    picture(page, "console-search")
    assert entry.locator("img, script, b").count() == 0
    assert page.title() == "Chat console | Remit"
    assert find_too_narrow(page) == []

    page.get_by_role("button", name="Sessions", exact=True).click()
    search(page, "xylophone")
    expect(page.get_by_role("status")).to_have_text("Nothing was found.")
    expect(page.locator(".message.search").last).to_contain_text("Nothing found for “xylophone”.")
    assert problems == []


def test_another_users_things_are_not_found_in_the_console(office: Office, page: Page) -> None:
    put(office, 0, "The submarine sails at noon.", title="Submarine")
    page.goto("/console/")
    page.get_by_label("Act as").select_option("omar")

    search(page, "submarine")

    expect(page.get_by_role("status")).to_have_text("Nothing was found.")


def test_what_an_answer_leans_on_is_shown_with_its_words(
    office: Office, page: Page, problems: list[str]
) -> None:
    office.sync("gmail")
    page.set_viewport_size(PHONE)
    with office.worker():
        page.goto("/console/")
        page.get_by_label("Message", exact=True).fill("What did Sofia write about the roll-out?")
        page.get_by_role("button", name="Send").click()
        expect(page.get_by_role("status")).to_have_text("Finished.", timeout=30_000)
    context = page.locator("details.context")
    assert page.locator(".snippet").count() == 0  # nothing is kept of it with the answer

    context.get_by_text("Context used").click()

    expect(context.locator(".snippet").first).to_be_visible()
    expect(context.locator("mark").first).to_have_text("Sofia")
    picture(page, "console-context")
    count = context.locator(".snippet").count()
    page.reload()
    page.get_by_text("Context used").click()
    expect(page.locator("details.context .snippet")).to_have_count(count)
    assert find_too_narrow(page) == []
    assert problems == []


def test_the_list_of_items_shows_where_the_words_stand(
    office: Office, page: Page, problems: list[str]
) -> None:
    put(office, 0, f"{HOSTILE} the <b>submarine</b> sails at noon.", title=f"{HOSTILE} Sub")
    for number in range(1, 12):
        put(office, number, f"Minutes of submarine meeting {number}. " * 30, title="Minutes")
    page.set_viewport_size(PHONE)
    page.goto("/admin/knowledge/item/")
    assert page.locator("td.field-found").count() == 0

    page.goto("/admin/knowledge/item/?q=submarine")

    cells = page.locator(".field-found")
    expect(cells).to_have_count(12)
    expect(cells.locator("mark").first).to_have_text("submarine")
    assert cells.locator("img, script, b").count() == 0
    expect(cells.last).to_contain_text("the <b>submarine</b> sails at noon.")
    picture(page, "admin-search")
    page.goto("/admin/knowledge/item/?q=found-3")
    expect(cells).to_have_count(1)
    expect(cells.first).to_contain_text("Minutes of submarine meeting 3.")
    assert find_too_narrow(page) == []
    assert problems == []
