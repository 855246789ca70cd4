"""Several at once: one bad item neither spoils nor carries the others."""

from typing import Any
from uuid import uuid4

import pytest

from guardrails.approve import approval_rows, approvals, batch
from guardrails.execute.executor import execute
from guardrails.models import Approval
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def _state(approval: Approval) -> str:
    return Approval.objects.get(pk=approval.pk).state


def test_a_batch_answers_each_item_for_itself(office: Office) -> None:
    office.permit("archive", "ask")
    for _ in range(4):
        execute(office.request("archive", {"email_id": office.receive()}))
    good, bad, gone, no = Approval.objects.order_by("created_at")
    items = [
        batch.Item(approval_id=bad.id, digest="0" * 64, word="confirm"),
        batch.Item(approval_id=uuid4(), digest=gone.digest, word="confirm"),
        batch.Item(approval_id=good.id, digest=good.digest, word="confirm"),
        batch.Item(approval_id=no.id, digest=no.digest, word="reject", reason="Not this."),
    ]

    answers = batch.decide_all(
        items,
        organisation_id=office.organisation.id,
        decided_by="token:web",
        external_user_id=office.user_id,
    )

    assert [answer.error for answer in answers] == ["conflict", "unknown_approval", "", ""]
    results = [answer.result.reason for answer in answers if answer.result]
    assert results == ["performed", "rejected"]
    states = [_state(one) for one in (good, bad, gone, no)]
    assert states == ["executed", "pending", "pending", "rejected"]
    assert len(office.calls()) == 1


def test_an_item_that_breaks_does_not_stop_the_batch(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    office.permit("archive", "ask")
    for _ in range(2):
        execute(office.request("archive", {"email_id": office.receive()}))
    first, second = Approval.objects.order_by("created_at")
    found = approval_rows.find

    def broken(organisation_id: Any, approval_id: Any, user: Any) -> Approval:
        if approval_id == first.id:
            raise RuntimeError("broken")
        return found(organisation_id, approval_id, user)

    monkeypatch.setattr(approvals, "find", broken)

    answers = batch.decide_all(
        [
            batch.Item(approval_id=one.id, digest=one.digest, word="confirm")
            for one in (first, second)
        ],
        organisation_id=office.organisation.id,
        decided_by="token:web",
    )

    assert [answer.error for answer in answers] == ["not_decided", ""]
    assert (_state(first), _state(second)) == ("pending", "executed")
