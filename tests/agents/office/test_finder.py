"""Finding pages, people, mails and rows from any page."""

import pytest
from django.contrib.auth.models import User
from django.db import connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from guardrails.models import Person
from integrations.models import Account, Membership, Organisation
from knowledge.ingest import indexing
from knowledge.models import Item
from tests.agents.pages import SCRIPT, delivery, mailbox
from tests.clients import log_in, read_page

pytestmark = pytest.mark.django_db(databases=["default", "ledger"])
RIGHTS = (
    *("view_account", "view_person", "view_user", "view_item", "view_delivery", "view_approval"),
    "view_executedagentaction",
)


def mail(account: Account, title: str) -> Item:
    item = Item.objects.create(
        account=account,
        source="gmail",
        source_id=title,
        content_type="email",
        title=title,
        sender_name="Ines Braun",
        occurred_at=timezone.now(),
        ingested_at=timezone.now(),
    )
    Item.objects.filter(id=item.id).update(search=indexing.index(item))
    return item


def found(client: Client, words: str) -> dict[str, list[str]]:
    answer = client.get(reverse("find"), {"q": words})
    assert answer.status_code == 200
    return {title: [row.title for row in rows] for title, rows in answer.context["groups"]}


def test_pages_people_accounts_mails_and_rows_are_found_by_their_words() -> None:
    account = mailbox("maya")
    Person.objects.create(
        organisation=account.organisation, address="ines@company.com", name="Ines Braun"
    )
    mail(account, f"Braun quarterly {SCRIPT}")
    arrived = delivery(account, 1)
    client = log_in("olga", *RIGHTS)

    assert found(client, "Braun") == {
        "People": ["Ines Braun"],
        "Mails and documents": [f"Braun quarterly {SCRIPT}"],
    }
    assert found(client, "deliv") == {"Pages": ["Deliveries"]}
    assert found(client, "maya")["Accounts"] == [str(account)]
    assert found(client, str(arrived.id)) == {"Rows of this id": ["delivery"]}
    assert found(client, "  ") == {}
    assert SCRIPT not in read_page(client, reverse("find"), q="Braun")
    assert "Nothing is found for “zzz\N{RIGHT DOUBLE QUOTATION MARK}" in read_page(
        client, reverse("find"), q="zzz\0"
    )


def test_somebody_is_found_by_the_names_of_their_account_and_of_their_log_in() -> None:
    account = mailbox("maya")
    Account.objects.filter(id=account.id).update(display_name="Maya Lindqvist")
    user = User.objects.create(username="ml", first_name="Maja", last_name="Berg", is_staff=True)
    Membership.objects.create(user=user, organisation=account.organisation, external_user_id="maya")
    other = Organisation.objects.create(slug="other", name="Other")
    stranger = User.objects.create(username="maja", first_name="Maja", is_staff=True)
    Membership.objects.create(user=stranger, organisation=other)
    client = log_in("olga", "view_account", "view_user")
    Membership.objects.filter(user__username="olga", organisation=other).delete()

    account.refresh_from_db()
    assert found(client, "lindqvist maya") == {"Accounts": [str(account)]}
    assert found(client, "maja berg") == {"Accounts": [str(account)], "Users": ["Maja Berg"]}
    assert found(client, "maja lindqvist") == {}
    without = log_in("rita", "view_account")
    assert found(without, "berg") == {"Accounts": [str(account)]}


def test_nothing_of_another_organisation_or_without_the_right_is_found() -> None:
    account = mailbox("maya")
    mail(account, "Braun quarterly")
    arrived = delivery(account, 1)
    Person.objects.create(
        organisation=account.organisation, address="ines@company.com", name="Ines Braun"
    )
    theirs = log_in("olga", *RIGHTS)
    Membership.objects.filter(user__username="olga").update(
        organisation=Organisation.objects.create(slug="other", name="Other")
    )
    without = log_in("rita")

    for client in (theirs, without):
        for words in ("Braun", "maya", str(arrived.id)):
            assert found(client, words) == {}
    assert Client().get(reverse("find"), {"q": "maya"}).status_code == 302


def test_it_asks_as_often_with_much_as_with_little() -> None:
    account = mailbox("maya")
    client = log_in("olga", *RIGHTS)

    def queries() -> int:
        with (
            CaptureQueriesContext(connections["default"]) as asked,
            CaptureQueriesContext(connections["ledger"]) as of_ledger,
        ):
            found(client, "Braun")
        return len(asked) + len(of_ledger)

    queries()
    few = queries()
    for number in range(20):
        mail(account, f"Braun {number}")
    assert queries() == few <= 15
    assert len(found(client, "Braun")["Mails and documents"]) == 5
