"""What users are called on pages."""

import pytest

from integrations.accounts.names import find_names, label, list_names
from integrations.models import Account, Organisation

pytestmark = pytest.mark.django_db


def connect(organisation: Organisation, user_id: str, source: str, name: str) -> None:
    Account.objects.create(
        organisation=organisation, external_user_id=user_id, source=source, display_name=name
    )


def test_users_have_the_name_of_any_account_or_their_id_and_never_anothers() -> None:
    here, there = (Organisation.objects.create(slug=one, name=one) for one in ("a", "b"))
    connect(here, "maya", "gmail", "")
    connect(here, "maya", "jira", "Maya Lindqvist")
    connect(here, "omar", "gmail", "")
    connect(there, "omar", "gmail", "Somebody else")

    names = {"maya": "Maya Lindqvist", "omar": "omar"}
    assert list_names(here.id, most=9) == names
    assert list_names(here.id, most=1) == {"maya": "Maya Lindqvist"}
    assert find_names(here.id, ["omar", "maya", "gone"]) == names | {"gone": "gone"}
    assert find_names(here.id, ["gone"], and_first=1) == {"maya": "Maya Lindqvist", "gone": "gone"}
    assert [label(*one) for one in names.items()] == ["Maya Lindqvist (maya)", "omar"]
