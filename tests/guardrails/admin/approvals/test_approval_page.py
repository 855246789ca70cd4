"""Whom the inbox, a card and the page of deciders name, they name as people know them."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import translation

from guardrails.approve.cards import list_cards
from guardrails.models import Approval
from integrations.models import Account
from tests.guardrails.admin.approvals.test_approvals import at, text, waiting
from tests.guardrails.office import Office

__all__ = ["waiting"]
pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def test_people_are_called_by_name_on_cards_in_lists_and_among_deciders(
    office: Office, client: Client, waiting: Approval
) -> None:
    User.objects.filter(username="olga").update(first_name="Olga", last_name="Berg")
    Account.objects.create(
        organisation=office.organisation,
        external_user_id="omar",
        source="gmail",
        address="omar@company.com",
        display_name="Omar Haddad",
    )
    client.post(at("delegate", waiting.pk), {"kind": "user", "name": "omar"})
    handed_on = text(client.get(at("change", waiting.pk)))
    asked = text(client.get(at("changelist")))
    client.post(at("decide", waiting.pk), {"word": "reject", "digest": waiting.digest})
    decided = text(client.get(at("change", waiting.pk)))
    listed = text(client.get(at("changelist")))
    deciders = text(client.get(at("deciders"), {"organisation": office.organisation.slug}))
    [card] = list_cards(organisation_id=office.organisation.id)
    with translation.override("de"):
        [in_german] = list_cards(organisation_id=office.organisation.id)

    assert "for Maya Lindqvist." in handed_on
    assert "Delegated to Omar Haddad by operator Olga Berg at" in handed_on
    assert "Omar Haddad is asked" in asked
    assert "Rejected by operator Olga Berg at" in decided
    assert "Rejected by operator Olga Berg at" in listed
    assert "operator Olga Berg</th>" in deciders
    assert card.handled.startswith("Rejected by operator Olga Berg at ")
    assert in_german.handled.startswith("Abgelehnt von Betreiber Olga Berg um ")
    assert office.calls() == []
