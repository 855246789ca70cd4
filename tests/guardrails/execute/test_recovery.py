"""Closing what a crash left open, by asking the provider."""

from datetime import timedelta

import pytest

from audit.keeping import end
from audit.ledger import ledger
from audit.ledger.selectors import recorded
from guardrails.execute import recovery
from guardrails.execute.executor import execute
from guardrails.models import AllowedAction
from tests.audit.entries import entry
from tests.guardrails.office import Office, interrupted, recover

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
DAY = timedelta(hours=24, seconds=1)


def test_what_the_provider_performed_is_closed_as_succeeded(office: Office) -> None:
    request = interrupted(office)

    recover(request)

    last = recorded(request.action_id)[-1]
    assert (last.phase, last.status, last.actor_type) == ("outcome", "succeeded", "recovery")
    assert execute(request).status == "succeeded"
    assert len(office.calls()) == 1


def test_what_it_did_not_perform_is_left_to_the_callers_retry(office: Office) -> None:
    request = interrupted(office, after_effect=False)

    recover(request)

    assert [row.phase for row in recorded(request.action_id)] == ["attempt"]
    assert office.calls() == []
    assert execute(request).status == "succeeded"


@pytest.mark.parametrize("later", [timedelta(minutes=4, seconds=1), DAY])
def test_what_nobody_goes_on_with_is_closed_by_the_providers_proof_that_it_did_nothing(
    office: Office, later: timedelta
) -> None:
    request = interrupted(office, after_effect=False)

    recover(request, later=later)

    last = recorded(request.action_id)[-1]
    assert (last.phase, last.status, last.decision_reason) == ("outcome", "failed", "interrupted")
    assert last.payload["proved_by"] == "The data service knows no operation of this key."
    assert office.calls() == []
    assert execute(request).status == "succeeded"
    assert [(row.phase, row.attempt_no) for row in recorded(request.action_id)] == [
        ("attempt", 1),
        ("outcome", 1),
        ("attempt", 2),
        ("outcome", 2),
    ]
    assert len(office.calls()) == 1


def test_an_account_that_is_gone_leaves_its_attempt_to_a_person(office: Office) -> None:
    request = interrupted(office)
    AllowedAction.objects.all().delete()
    office.mailbox.delete()

    recover(request)

    last = recorded(request.action_id)[-1]
    assert (last.status, last.payload["arguments"]) == ("unknown", request.arguments)


def test_a_provider_that_does_not_answer_is_asked_again_later(office: Office) -> None:
    request = interrupted(office)
    office.faults(error_rate=1.0)
    recover(request, later=DAY)
    assert [row.phase for row in recorded(request.action_id)] == ["attempt"]
    office.faults()

    recover(request, later=DAY)

    assert recorded(request.action_id)[-1].status == "succeeded"


def test_calls_under_way_are_left_alone(office: Office) -> None:
    request = interrupted(office)

    recovery.recover_open_attempts(now=recorded(request.action_id)[0].recorded_at)

    assert [row.phase for row in recorded(request.action_id)] == ["attempt"]


def test_an_organisation_whose_ledger_has_ended_keeps_no_other_from_recovery(
    office: Office,
) -> None:
    """It could not record the outcome, so its provider is not even asked."""
    gone = interrupted(office)
    tenant_id = office.organisation.id
    end.destroy_key(end.load_state(tenant_id), reason="They left.", actor_id="olga")
    before = len(office.calls())

    recover(gone, later=DAY)

    assert [row.phase for row in recorded(gone.action_id)] == ["attempt"]
    assert len(office.calls()) == before


def test_a_row_with_an_approval_that_is_no_id_stops_nobody() -> None:
    odd = entry(approval_id="no id")
    ledger.append(odd)
    (attempt,) = recorded(odd.action_id)

    recovery.recover_open_attempts(
        older_than_seconds=0, now=attempt.recorded_at + timedelta(hours=25)
    )

    assert [row.status for row in recorded(odd.action_id)] == ["pending", "unknown"]
