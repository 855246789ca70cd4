"""What mail sets off waits for a person where an operator wants that."""

import pytest

from guardrails.approve import approvals
from guardrails.models import AllowedAction, Approval
from tests.office import Office
from tests.stories.steps import scripted

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
INGEST = "You summarise an item and list its entities."
SUMMARY = {"summary": "A mail.", "entities": []}


def test_what_an_operator_wants_to_be_asked_about_waits_and_is_done_on_their_word(
    office: Office,
) -> None:
    """FINDINGS C8: the page said that a person is asked, and it was refused each time."""
    AllowedAction.objects.filter(
        account_id=office.account("maya", "gmail").id, action_type="archive"
    ).update(approval_mode="ask")
    with scripted({INGEST: lambda body: SUMMARY}):
        for _ in range(2):
            office.deliver("newsletter")
        office.drain()

    asked = Approval.objects.order_by("created_at")
    assert [one.action_type for one in asked] == ["archive", "archive"]
    assert len({one.question for one in asked}) == 1
    first, second = (one.arguments["email_id"] for one in asked)
    assert "INBOX" in office.mail(first)["labels"]
    result = approvals.confirm(
        organisation_id=office.organisation.id,
        approval_id=asked[0].id,
        decided_by="operator:ines",
        digest=asked[0].digest,
    )
    assert result.status == "succeeded"
    assert "INBOX" not in office.mail(first)["labels"]
    assert "INBOX" in office.mail(second)["labels"]
