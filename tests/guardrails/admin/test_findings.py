"""Who saves a part of a policy reads what is wrong with it."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from guardrails.models import AllowedAction, CeilingLimit, TargetGroup
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
NO_LABEL = "Label a mail · automatic: It permits nothing: no label is listed."


def told(client: Client, name: str, query: str = "", /, **data: Any) -> list[tuple[str, str]]:
    """The messages after saving a new row, without the one that it was saved."""
    response = client.post(reverse(f"admin:guardrails_{name}_add") + query, data, follow=True)
    assert response.redirect_chain  # it was saved
    found = [(one.level_tag, str(one)) for one in response.context["messages"]]
    return [one for one in found if one[0] != "success"]


def label_of(office: Office) -> str:
    """Where a label is picked for the mailbox."""
    return f"?account={office.mailbox.pk}&action_type=classify&kind=label"


def allowed_action(office: Office, action_type: str, mode: str = "auto") -> dict[str, Any]:
    return {
        "account": office.mailbox.pk,
        "action_type": action_type,
        "resource_type": "",
        "enabled": "on",
        "approval_mode": mode,
        "hold_seconds": "0",
    }


def ceiling(office: Office, at_most: str) -> dict[str, Any]:
    return {
        "organisation": office.organisation.pk,
        "action_type": "classify",
        "at_most": at_most,
        "hold_seconds": "0",
    }


def test_a_sound_allowed_action_is_saved_without_a_word(office: Office, client: Client) -> None:
    assert told(client, "allowedaction", **allowed_action(office, "archive")) == []


def test_contradicting_conditions_are_saved_and_told(office: Office, client: Client) -> None:
    conditions = {
        "conditions": ["0", "1"],
        "conditions-0-kind": "trigger",
        "conditions-0-any_of": ["chat"],
        "conditions-1-kind": "trigger",
        "conditions-1-any_of": ["webhook"],
    }
    assert told(client, "allowedaction", **allowed_action(office, "archive"), **conditions) == [
        (
            "error",
            "Archive a mail · automatic: “a person in the chat set it off” and “an inbound item "
            "set it off” exclude each other, so it refuses everything.",
        )
    ]
    assert AllowedAction.objects.count() == 1


def test_only_what_the_row_is_about_is_named(office: Office, client: Client) -> None:
    assert told(client, "allowedaction", **allowed_action(office, "classify")) == [
        ("error", NO_LABEL)
    ]
    assert told(client, "allowedaction", **allowed_action(office, "archive")) == []
    assert told(client, "allowedactionoption", label_of(office), target="FYI") == []


def test_a_group_is_named_when_it_has_one_member(office: Office, client: Client) -> None:
    group = TargetGroup.objects.create(account=office.mailbox, name="Status", cardinality="single")
    AllowedAction.objects.create(
        account=office.mailbox, action_type="classify", approval_mode="auto"
    )
    picked = {"target": "FYI", "group": group.pk}
    assert told(client, "allowedactionoption", label_of(office), **picked) == [
        (
            "warning",
            "Label a mail · label “FYI”: It is alone in its one-at-a-time group, so setting it "
            "takes nothing off.",
        )
    ]


def test_what_a_ceiling_leaves_nothing_of_is_named(office: Office, client: Client) -> None:
    AllowedAction.objects.create(account=office.mailbox, action_type="classify")
    found = told(client, "ceilinglimit", **ceiling(office, "never"))
    assert (
        "error",
        "Label a mail · ask a person: It grants nothing: the organisation's ceiling forbids this "
        "action.",
    ) in found
    assert CeilingLimit.objects.count() == 1
