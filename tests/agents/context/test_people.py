"""Whom a turn works for, and which of their accounts an action is for."""

from typing import Any

import pytest

from agents.context import people
from agents.contracts import Person
from guardrails.actions.registry import BY_NAME
from integrations.contracts import AccountRef
from integrations.models import Account, Organisation, UserPreferences
from knowledge.models import Item
from tests import providers
from tests.knowledge.office import NOW

pytestmark = pytest.mark.django_db
ARCHIVE = BY_NAME["archive"]


def connect(organisation: Organisation, *sources: str) -> Person:
    for source in sources:
        Account.objects.create(organisation=organisation, external_user_id="maya", source=source)
    found = people.load_person(organisation_id=organisation.id, external_user_id="maya")
    assert found is not None
    return found


def chosen(person: Person, params: dict[str, Any] | None = None, **named: Any) -> AccountRef | None:
    return people.find_account(person, ARCHIVE, params or {"email_id": "m1"}, **named)


def test_a_person_is_loaded_with_all_that_they_and_their_accounts_say(
    organisation: Organisation, django_assert_num_queries: Any
) -> None:
    other = Organisation.objects.create(slug="other", name="Other")
    for owner, user in ((organisation, "omar"), (other, "maya")):
        Account.objects.create(organisation=owner, external_user_id=user, source="gmail")
        UserPreferences.objects.create(organisation=owner, external_user_id=user, name=user)
    assert people.load_person(organisation_id=other.id, external_user_id="omar") is None
    connect(organisation, "gmail", "jira")
    rows = Account.objects.filter(organisation=organisation, external_user_id="maya")
    rows.update(features=["plans"], project_keys=["PROJ"], mime_types=["text/csv"], bcc_self=True)
    Organisation.objects.filter(id=organisation.id).update(paused=True)
    accounts = [
        row.ref() for row in rows.select_related("organisation").order_by("created_at", "id")
    ]

    with django_assert_num_queries(1):
        found = people.load_person(organisation_id=organisation.id, external_user_id="maya")

    assert found == Person(
        organisation_id=organisation.id, external_user_id="maya", accounts=tuple(accounts)
    )
    said = UserPreferences.objects.create(
        organisation=organisation,
        external_user_id="maya",
        name="Maya",
        language="de",
        time_zone="Europe/Berlin",
        working_hours={"friday": {"start": "09:00", "end": "12:00"}},
        signature="M.",
    )
    found = people.load_person(organisation_id=organisation.id, external_user_id="maya")
    assert found is not None
    assert found.preferences == said.value()


def test_the_one_that_can_be_written_to_is_chosen(organisation: Organisation) -> None:
    person = connect(organisation, "outlook", "mailbox", "gmail", "jira")

    found = chosen(person)

    assert found is not None
    assert found.source == "gmail"


def test_of_two_the_one_connected_first_is_chosen(
    organisation: Organisation, monkeypatch: pytest.MonkeyPatch
) -> None:
    providers.install(monkeypatch)
    person = connect(organisation, providers.SOURCE, "gmail", providers.SOURCE)

    assert [one.kind for one in person.accounts] == ["mail"] * 3
    assert chosen(person) == person.accounts[0]
    assert person.mailboxes == person.accounts


def test_the_named_account_is_chosen_and_no_other_takes_its_place(
    organisation: Organisation, monkeypatch: pytest.MonkeyPatch
) -> None:
    providers.install(monkeypatch)
    person = connect(organisation, "gmail", providers.SOURCE, "jira")
    _, second, tracker = person.accounts

    assert chosen(person, account_id=second.id) == second
    # An account of another kind is refused by the guardrails, not replaced.
    assert chosen(person, account_id=tracker.id) == tracker
    assert chosen(person, account_id=organisation.id) is None


def test_an_action_on_an_object_is_for_the_account_it_came_from(
    organisation: Organisation, monkeypatch: pytest.MonkeyPatch
) -> None:
    providers.install(monkeypatch)
    person = connect(organisation, "gmail", providers.SOURCE)
    first, second = person.accounts
    for account, name in ((second, "m1"), (first, "both"), (second, "both")):
        Item.objects.create(
            account_id=account.id,
            source=account.source,
            source_id=name,
            identifiers=[name],
            content_type="email",
            occurred_at=NOW,
            ingested_at=NOW,
        )

    assert chosen(person, {"email_id": "m1"}) == second
    assert chosen(person, {"email_id": "nobody's"}) == first
    assert chosen(person, {"email_id": "both"}) == first


def test_without_such_an_account_there_is_none(organisation: Organisation) -> None:
    assert chosen(connect(organisation, "outlook", "jira")) is None
