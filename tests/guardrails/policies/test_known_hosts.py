"""Which hosts an operator has named."""

from typing import Any

import pytest

from guardrails.models import AllowedAction
from guardrails.policies.known_hosts import list_known_hosts
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def of_user(office: Office) -> dict[str, Any]:
    return {"organisation_id": office.organisation.id, "external_user_id": office.user_id}


def test_hosts_are_those_of_the_accounts_the_lists_and_the_conditions(office: Office) -> None:
    office.list_target("send_email", "recipient_domain", "client.com")
    office.list_target("send_email", "recipient", "ada@other.com")
    office.permit(
        "send_email", conditions=[{"kind": "links", "links": "known", "domains": ["docs.com"]}]
    )
    whose: dict[str, Any] = {
        "organisation_id": office.organisation.id,
        "external_user_id": office.user_id,
    }

    assert list_known_hosts(**whose) == {"company.com", "client.com", "docs.com"}
    assert list_known_hosts(**whose | {"external_user_id": "omar"}) == set()


def test_a_condition_that_cannot_be_read_names_nothing(office: Office) -> None:
    allowed_action = office.permit("send_email")
    AllowedAction.objects.filter(id=allowed_action.id).update(conditions=[{"kind": "links"}])
    whose: dict[str, Any] = {
        "organisation_id": office.organisation.id,
        "external_user_id": office.user_id,
    }

    assert list_known_hosts(**whose) == {"company.com"}
