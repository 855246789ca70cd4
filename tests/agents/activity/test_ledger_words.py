"""Rows of the ledger, found by words that its encrypted contents have."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from agents.models import Conversation, Message, Turn
from audit.ledger import ledger, search
from audit.ledger.ids import uuid7
from guardrails.models import LearnedPattern, Person
from integrations.models import Account, Membership, Organisation
from knowledge.ingest import indexing
from knowledge.models import Item
from tests.audit.entries import append_action, entry
from tests.clients import client_of, read_page

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
LEDGER = "admin:audit_executedagentaction_changelist"


class Office:
    """An organisation of its own with one mailbox, Sofia Keller's, and an auditor."""

    def __init__(self) -> None:
        slug = uuid4().hex
        self.organisation = Organisation.objects.create(slug=slug, name=slug)
        self.account = Account.objects.create(
            organisation=self.organisation,
            external_user_id="u-17",
            source="gmail",
            address="sk@company.com",
            display_name="Sofia Keller",
        )
        self.auditor = auditor(self.organisation)

    def mail(self, title: str) -> Item:
        item = Item.objects.create(
            account=self.account,
            source="gmail",
            source_id=f"mail-{uuid4()}",
            content_type="email",
            title=title,
            occurred_at=timezone.now(),
            ingested_at=timezone.now(),
        )
        Item.objects.filter(id=item.id).update(search=indexing.index(item))
        return item

    def turn(self, **fields: Any) -> Turn:
        return Turn.objects.create(
            organisation=self.organisation, external_user_id="u-17", state="finished", **fields
        )

    def did(self, **fields: Any) -> UUID:
        return append_action(tenant_id=self.organisation.id, **fields)

    def found(self, words: str, **query: str) -> list[UUID]:
        answer = self.auditor.get(reverse(LEDGER), {"q": words, **query})
        assert answer.status_code == 200
        return [row.action_id for row in answer.context["cl"].result_list]


def auditor(organisation: Organisation) -> Client:
    user = User.objects.create(username=uuid4().hex, is_staff=True)
    Membership.objects.create(user=user, organisation=organisation)
    user.user_permissions.set(Permission.objects.filter(codename="view_executedagentaction"))
    return client_of(user)


@pytest.fixture
def office() -> Office:
    return Office()


def test_what_was_done_with_a_mail_is_found_by_its_subject(office: Office) -> None:
    mail, other = office.mail("Product Weekly: dark mode"), office.mail("Lunch")
    worked = office.turn(kind="inbound", account=office.account, item_source_id=mail.source_id)
    archived = office.did(resource_id=mail.source_id)
    from_it = office.did(run_id=str(worked.id), action_type="create_jira_task")
    office.did(resource_id=other.source_id)

    assert office.found("product weekly") == [from_it, archived]
    assert office.found("Product Monthly") == []


def test_what_a_request_led_to_is_found_by_its_words(office: Office) -> None:
    talk = Conversation.objects.create(organisation=office.organisation, external_user_id="u-17")
    turn = office.turn(kind="chat", conversation=talk)
    Message.objects.create(
        conversation=talk, turn=turn, role="user", content="Book the Verona train"
    )
    booked = office.did(run_id=str(turn.id), action_type="create_calendar_event")
    office.did(run_id=str(uuid4()))

    assert office.found("verona train") == [booked]


def test_a_person_is_found_by_each_of_their_names(office: Office) -> None:
    Person.objects.create(
        organisation=office.organisation, address="sk@company.com", name="Fia Brandt"
    )
    staff = User.objects.create(username="skeller", first_name="Sonja", is_staff=True)
    Membership.objects.create(user=staff, organisation=office.organisation, external_user_id="u-17")
    hers = office.did(account_id=office.account.id, on_behalf_of="u-17")
    office.did(account_id=uuid4(), on_behalf_of="u-18")

    for name in ("Sofia", "keller sofia", "Fia", "Sonja", "skeller", "u-17", "sk@company.com"):
        assert office.found(name) == [hers], name
    assert office.found("Sofia Brandt") == []


def test_what_was_refused_is_found_alone_and_with_other_words(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail = office.mail("Product Weekly")
    blocked = office.did(status="failed", resource_id=mail.source_id)
    denied = uuid7()
    ledger.append(
        entry(
            tenant_id=office.organisation.id,
            action_id=denied,
            phase="control",
            status="denied",
            action_type="send_email",
        )
    )
    office.did(resource_id=mail.source_id)

    assert office.found("Refused") == [denied]
    assert office.found("refused send") == [denied]
    assert office.found("failed") == office.found("failed product") == [blocked]
    assert office.found("refused product") == []
    assert office.found("done", status="failed") == []
    monkeypatch.setattr(search, "NEWEST", 0)
    assert office.found("refused") == [denied], "however old it is"


def test_words_of_an_action_are_looked_for_in_the_newest_rows(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = office.did(action_type="send_email"), office.did(action_type="send_email")

    assert office.found("send email") == [new, old]
    monkeypatch.setattr(search, "NEWEST", 2)  # an attempt and its outcome
    assert office.found("send email") == [new]
    assert search.HOW_FAR in read_page(office.auditor, reverse(LEDGER), q="send")
    assert search.HOW_FAR not in read_page(office.auditor, reverse(LEDGER))


def test_a_change_of_policy_is_found_by_the_name_of_what_was_changed(office: Office) -> None:
    pattern = LearnedPattern.objects.create(
        account=office.account, name="Product Weekly", list_id="weekly"
    )
    changed = office.did(resource_id=str(pattern.id), action_type="policy.change")

    assert office.found("product weekly") == [changed]


def test_nothing_of_another_organisation_is_found(office: Office) -> None:
    other = Office()
    mail = other.mail("Product Weekly")
    theirs = other.did(
        resource_id=mail.source_id,
        account_id=other.account.id,
        action_type="send_email",
        status="failed",
    )
    # As if the other's mail and its row were in reach by the same id.
    ours = office.did(resource_id=mail.source_id)

    for words in ("Product Weekly", "Sofia", "send_email", "failed", mail.source_id):
        assert theirs not in office.found(words), words
        assert theirs in other.found(words), words
    assert office.found("Product Weekly") == []
    assert office.found(mail.source_id) == [ours]


def test_pages_of_what_is_found_follow_each_other_without_a_gap(office: Office) -> None:
    made = [office.did(account_id=office.account.id, on_behalf_of="u-17") for _ in range(60)][::-1]

    first = office.found("Sofia")
    assert first == made[:50]
    assert office.found("Sofia", before=str(first[-1])) == made[50:]


def test_a_search_takes_the_same_few_statements_whatever_is_found(office: Office) -> None:
    def statements() -> int:
        with (
            CaptureQueriesContext(connections["default"]) as ours,
            CaptureQueriesContext(connections["ledger"]) as ledgers,
        ):
            office.found("product weekly")
        return len(ours) + len(ledgers)

    office.did(resource_id=office.mail("Product Weekly").source_id)
    statements()
    few = statements()
    for _ in range(20):
        office.did(resource_id=office.mail("Product Weekly").source_id)
    assert statements() == few <= 15


def test_rows_of_the_ledger_are_found_from_any_page(office: Office) -> None:
    mail = office.mail("Product Weekly")
    office.did(
        resource_id=mail.source_id,
        on_behalf_of="u-17",
        payload={"description": "Archive “Product\u202e Weekly”"},
    )
    row = search.find_newest("product weekly", tenants=[office.organisation.id], limit=5)[0]

    answer = office.auditor.get(reverse("find"), {"q": "product weekly"})
    [(title, [found])] = answer.context["groups"]
    assert title == "Ledger"
    assert found.title == "Done: Archive “Product⟨U+202E⟩ Weekly”."
    assert found.link == f"{reverse(LEDGER)}{row.id}/change/"
    nobody = auditor(Organisation.objects.create(slug=uuid4().hex, name="Other"))
    assert nobody.get(reverse("find"), {"q": "product weekly"}).context["groups"] == []
