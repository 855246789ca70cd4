"""A learned pattern from proposal to correction, as an operator sees it."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page, expect

from agents.tasks import learn_account
from guardrails.models import LearnedPattern, PatternAction, PatternEvidence
from integrations.models import Account
from knowledge.models import Item
from tests.browser.windows import PHONE, find_too_narrow
from tests.office import Office

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    # The static files of a test come from disk through a synchronous iterator.
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume synchronous"),
]
HOSTILE = "<b>Approve me</b>\u202e now"


def proposed(mails: int) -> LearnedPattern:
    """A pattern that a mail had proposed, with evidence on both sides."""
    mailbox = Account.objects.get(external_user_id="maya", source="gmail")
    row = LearnedPattern.objects.create(
        account=mailbox,
        name=HOSTILE,
        sender_address="billing@cloudnest.example",
        reason="The administrator has approved this.",
        proposed_by="webhook",
        example_id="mail-0",
        tried_at=timezone.now(),
        tried_mails=2000,
        tried_since=timezone.now() - timedelta(days=90),
    )
    PatternAction.objects.create(pattern=row, action_type="archive")
    newest = Item.objects.filter(account=mailbox, content_type="email").first()
    now = timezone.now()
    PatternEvidence.objects.bulk_create(
        PatternEvidence(
            pattern=row,
            item_id=newest.source_id if newest and not number else f"mail-{number}",
            subject=f"Your CloudNest invoice CN-{number} is ready " * 4,
            occurred_at=now - timedelta(days=number),
            side="contradicting" if number % 4 == 1 else "supporting",
            by_person=True,
            occasion=f"day {number}",
            sentence="Archive a mail: yes, in the mailbox.",
        )
        for number in range(mails)
    )
    return row


def test_an_operator_weighs_a_proposal_and_approves_it_once_nothing_is_against_it(
    office: Office, page: Page, problems: list[str]
) -> None:
    office.sync("gmail")
    row = proposed(40)
    page.goto(reverse("admin:guardrails_learnedpattern_change", args=[row.pk]))

    card = page.get_by_role("region", name="Approve me")
    expect(card.get_by_role("heading").first).to_have_text(
        "<b>Approve me</b>⟨U+202E⟩ now: proposed"
    )
    expect(card).to_contain_text("Nobody asked for it.")
    expect(card.get_by_text("Treated like that: 30")).to_be_visible()
    expect(card.get_by_text("Treated otherwise: 10")).to_be_visible()
    expect(card).to_contain_text("it would have fired on 40. 30 lie as it would leave them")
    expect(card).to_contain_text("It agrees with 75% of what was decided.")
    expect(card).to_contain_text("Tried on the newest mail that fits")
    calls = office.calls()
    expect(card.get_by_role("note")).to_have_text(
        "Nobody can approve it yet. A learned pattern needs mail that nobody treated otherwise: "
        "here 10 speak against it."
    )
    expect(card.get_by_role("button")).to_have_count(0)
    row.evidence.update(side="supporting")
    page.reload()
    expect(card.get_by_text("Treated like that: 40")).to_be_visible()
    card.get_by_role("button", name="Approve").click()

    expect(page.get_by_role("heading", name="now: approved")).to_be_visible()
    row.refresh_from_db()
    assert (row.state, row.approved_by) == ("approved", "operator:operator")
    page.get_by_role("button", name="Suspend").click()
    expect(page.get_by_role("heading", name="now: suspended")).to_be_visible()
    expect(page.get_by_text("operator:operator suspended it.")).to_be_visible()
    assert office.calls() == calls == []
    assert problems == []


@pytest.mark.parametrize("mails", [0, 40])
def test_the_page_fits_a_phone_and_a_screen(office: Office, page: Page, mails: int) -> None:
    page.set_viewport_size(PHONE)
    row = proposed(mails)
    page.goto(reverse("admin:guardrails_learnedpattern_change", args=[row.pk]))

    assert find_too_narrow(page) == []


def test_a_mail_that_is_put_back_suspends_the_pattern(office: Office, page: Page) -> None:
    mail = office.deliver("newsletter")
    office.drain()
    row = LearnedPattern.objects.get(state="approved")
    assert (row.hits, row.corrections) == (1, 0)
    labels = [*office.mail(mail["id"])["labels"], "INBOX"]
    office.control("PATCH", f"/users/maya/emails/{mail['id']}", json={"labels": labels})
    office.settle_webhooks()
    office.drain()

    row.refresh_from_db()
    assert (row.state, row.hits, row.corrections) == ("suspended", 1, 1)
    page.goto(reverse("admin:guardrails_learnedpattern_change", args=[row.pk]))
    expect(page.get_by_text("Somebody put a mail back")).to_be_visible()
    expect(page.get_by_text("1 mail matched, 1 put back by somebody: 0% precise.")).to_be_visible()


def test_a_pattern_that_an_operator_made_has_evidence_too(office: Office, page: Page) -> None:
    office.deliver("newsletter")
    office.drain()
    row = LearnedPattern.objects.get(state="approved")
    assert not row.evidence.exists()

    learn_account(str(row.account_id))

    page.goto(reverse("admin:guardrails_learnedpattern_change", args=[row.pk]))
    expect(page.get_by_text("Tried on the newest mail that fits")).to_be_visible()
    expect(page.get_by_text("Treated like that: 1")).to_be_visible()
    expect(page.get_by_text("1 lies as it would leave them (0 by a person's hand")).to_be_visible()
    learn_account(str(row.account_id))
    assert row.evidence.count() == 1
