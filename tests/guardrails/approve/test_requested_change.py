"""On what a change is judged: on the refusal's own facts, or those that were read for it."""

import pytest
from django.utils import timezone

from audit.keeping import erasure
from audit.ledger.selectors import recorded
from guardrails.approve import change_requests, requested_change
from guardrails.approve.cards import UNKNOWN
from guardrails.decide.smallest_change import NoChange
from guardrails.models import AllowedAction
from integrations.models import Account
from tests.guardrails.change_requests import ask_for, load, refuse
from tests.guardrails.office import Office
from tests.guardrails.values import ADA

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
TO_ADA = {"to": [ADA], "subject": "Hello", "body": "Text."}


def test_facts_that_the_ledger_keeps_are_not_read_again(office: Office) -> None:
    office.permit("send_email", "ask")
    result = refuse(office, "send_email", TO_ADA)
    office.faults(error_rate=1.0)  # the provider answers nothing

    request = ask_for(office, result)

    [asked] = recorded(request.id)
    assert "decided_on" not in asked.payload
    assert request.differences == [f"Recipient {ADA} for “Send a mail” added: called “{ADA}”"]


def test_facts_that_were_read_for_it_are_kept_and_suffice_later(office: Office) -> None:
    request = ask_for(office, refuse(office))
    office.faults(error_rate=1.0)

    found = change_requests.load_proposal(request)

    [asked] = recorded(request.id)
    assert asked.payload["decided_on"]["facts"]["email"]["subject"] == "Lunch on Friday?"
    assert "body_text" not in asked.payload["decided_on"]["facts"]["email"]
    assert not isinstance(found, NoChange)
    assert found.change.decision.verdict == "ask"


def test_a_policy_that_needs_more_than_was_read_cannot_be_judged(office: Office) -> None:
    request = ask_for(office, refuse(office))
    office.permit(
        "archive", "never", conditions=[{"kind": "sender_relation", "any_of": ["thread"]}]
    )
    assert change_requests.load_proposal(request) == NoChange(why=requested_change.NOT_READ)


def test_refusals_that_it_would_have_ended_are_counted(office: Office) -> None:
    before = timezone.now()
    for _ in range(3):
        last = refuse(office)
    refuse(office, "mark_read")
    refuse(office, "send_email", TO_ADA)

    request = ask_for(office, last)

    assert request.times_refused == 3
    assert before < request.first_refused_at < recorded(last.action_id)[0].occurred_at


def test_only_refusals_about_the_same_target_are_counted(office: Office) -> None:
    bob = TO_ADA | {"to": ["bob@client.com"]}
    refuse(office, "send_email", bob)
    last = refuse(office, "send_email", TO_ADA)  # before anything was read, as the others
    refuse(office, "send_email", TO_ADA | {"cc": ["bob@client.com"]})
    assert ask_for(office, last).times_refused == 1


def test_patterns_that_an_operator_exempted_stay_exempted(office: Office) -> None:
    office.permit("archive", "never", patterns_unapproved=True, hold_seconds=60)
    request = ask_for(office, refuse(office))

    found = change_requests.load_proposal(load(request.id))
    assert not isinstance(found, NoChange)
    change_requests.approve(request.id, digest=found.digest, by="operator:olga")

    row = AllowedAction.objects.get(account=office.mailbox)
    assert (row.approval_mode, row.patterns_unapproved, row.hold_seconds) == ("ask", True, 60)


def test_arguments_that_were_cut_are_not_judged(office: Office) -> None:
    result = refuse(office, "archive", {"email_id": "x", "note": "y" * 5000})
    account = Account.objects.select_related("organisation").get(pk=office.mailbox.pk)
    found = requested_change.read_grounds(recorded(result.action_id)[0], account)
    assert found == NoChange(why=requested_change.NOT_KEPT)


def test_each_value_says_where_it_came_from_before_the_change(office: Office) -> None:
    office.permit("send_email", "never")
    request = ask_for(office, refuse(office, "send_email", TO_ADA))

    found = change_requests.load_proposal(request)

    assert not isinstance(found, NoChange)
    said = {one.path: (one.value, one.provenance) for one in found.values}
    assert said["to[0]"] == (ADA, UNKNOWN)
    assert said["subject"] == ("Hello", "written by the agent or found in content")
    assert found.change.decision.provenance["to[0]"] == "A"


def test_what_was_erased_is_not_judged(office: Office) -> None:
    request = ask_for(office, refuse(office))
    everything = erasure.Scope(tenant_id=office.organisation.id)
    erasure.erase(everything, reason="They asked.", actor_id="operator:olga")
    assert change_requests.load_proposal(request) == NoChange(why=requested_change.NOT_KEPT)
