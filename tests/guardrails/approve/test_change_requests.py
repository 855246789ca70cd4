"""What operators decide about what users ask for, and what that changes."""

from typing import Any

import pytest

from audit.contracts import Filters
from audit.ledger.selectors import actions, recorded
from guardrails.approve import change_requests
from guardrails.approve.change_request_rows import card
from guardrails.decide.smallest_change import NoChange
from guardrails.execute.executor import execute
from guardrails.models import AllowedAction, AllowedActionOption, CeilingLimit, ChangeRequest
from guardrails.policies import history
from tests.guardrails.change_requests import BY, approve, ask_for, digest_of, load, refuse
from tests.guardrails.office import Office, in_threads
from tests.guardrails.values import ADA

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
TO_ADA = {"to": [ADA], "subject": "Hello", "body": "Text."}


def rows(office: Office) -> list[tuple[str, str, list[Any]]]:
    found = AllowedAction.objects.filter(account=office.mailbox)
    return [(one.action_type, one.approval_mode, one.conditions) for one in found]


def test_approving_changes_the_policy_and_does_nothing_else(office: Office) -> None:
    result = refuse(office)
    request = ask_for(office, result)
    assert rows(office) == []  # asking grants nothing

    approve(request)

    chats = {"kind": "trigger", "any_of": ["chat"]}
    assert rows(office) == [("archive", "ask", [chats])]
    assert office.calls() == []
    assert recorded(result.action_id)[-1].status == "blocked"
    again = execute(office.request("archive", result.arguments))
    assert again.status == "pending"
    assert office.calls() == []


def test_a_listed_receiver_is_that_one_alone(office: Office) -> None:
    office.permit("send_email", "ask")
    approve(ask_for(office, refuse(office, "send_email", TO_ADA)))

    assert execute(office.request("send_email", TO_ADA)).status == "pending"
    refuse(office, "send_email", TO_ADA | {"to": ["bob@client.com"]})
    refuse(office, "send_email", TO_ADA | {"cc": ["bob@client.com"]})
    assert office.calls() == []


def test_request_change_and_refusal_are_linked_in_the_ledger(office: Office) -> None:
    result = refuse(office)
    request = ask_for(office, result)
    approve(request)

    page = history.history(organisation_id=office.organisation.id)
    (change,) = page.changes
    assert (change.who, change.verb, change.kind) == ("operator olga", "added", "allowed action")
    assert change.answers == request.id
    asked, decided = recorded(request.id)
    assert (asked.parent_action_id, decided.parent_action_id) == (result.action_id,) * 2
    assert (asked.actor_id, decided.actor_id) == ("token:test", BY)
    assert (asked.payload["said"], decided.payload["said"]) == ("asked", "approved")
    assert decided.payload["differences"] == asked.payload["differences"]


def test_the_user_reads_who_decided_and_when(office: Office) -> None:
    first, second = (ask_for(office, refuse(office, name)) for name in ("archive", "mark_read"))
    approve(first)
    change_requests.decline(second.id, by=BY, answer=" Read it yourself. ")

    yes, no = (card(load(one.id), zone="UTC").sentence for one in (first, second))

    assert yes.startswith("Approved by operator olga at 20")
    assert yes.endswith("Nothing was done by that: ask the agent again.")
    assert no.startswith("Declined by operator olga at 20")
    assert no.endswith("“Read it yourself.”")
    assert [one[0] for one in rows(office)] == ["archive"]


@pytest.mark.parametrize("change", ["another target", "a ceiling limit", "a changed row"])
def test_what_was_not_shown_is_not_approved(office: Office, change: str) -> None:
    row = office.permit("send_email", "ask", conditions=[{"kind": "max_recipients", "max": 3}])
    request = ask_for(office, refuse(office, "send_email", TO_ADA))
    seen = digest_of(request)
    if change == "another target":
        office.list_target("send_email", "recipient", "bob@client.com")
    elif change == "a ceiling limit":
        CeilingLimit.objects.create(
            organisation=office.organisation, action_type="archive", at_most="never"
        )
    else:
        row.conditions = [{"kind": "max_recipients", "max": 2}]
        row.save()

    with pytest.raises(change_requests.Changed, match=r"The policy changed meanwhile\."):
        change_requests.approve(request.id, digest=seen, by=BY)

    assert not AllowedActionOption.objects.filter(external_id=ADA).exists()
    assert load(request.id).state == "open"
    assert len(recorded(request.id)) == 1
    approve(request)  # what is shown now
    assert AllowedActionOption.objects.filter(external_id=ADA).count() == 1


def test_what_the_organisation_forbids_meanwhile_is_not_approved(office: Office) -> None:
    request = ask_for(office, refuse(office))
    seen = digest_of(request)
    CeilingLimit.objects.create(organisation=office.organisation, at_most="never")

    assert isinstance(change_requests.load_proposal(request), NoChange)
    with pytest.raises(change_requests.Changed, match="No small change of the policy permits"):
        change_requests.approve(request.id, digest=seen, by=BY)

    assert (rows(office), load(request.id).state) == ([], "open")


def test_what_somebody_permitted_by_hand_is_approved_without_a_change(office: Office) -> None:
    request = ask_for(office, refuse(office))
    office.permit("archive")

    approve(request)

    found = load(request.id)
    assert (found.state, found.differences) == ("approved", [])
    assert rows(office) == [("archive", "auto", [])]


def test_the_first_decision_counts(office: Office) -> None:
    request = ask_for(office, refuse(office))
    seen = digest_of(request)
    change_requests.decline(request.id, by=BY, answer="No.")

    with pytest.raises(change_requests.Decided, match="Declined by operator olga"):
        change_requests.approve(request.id, digest=seen, by="operator:oscar")
    with pytest.raises(change_requests.Decided):
        change_requests.decline(request.id, by="operator:oscar", answer="Never.")

    assert rows(office) == []
    assert [one.payload["said"] for one in recorded(request.id)] == ["asked", "declined"]


def test_two_operators_at_once_change_the_policy_once(office: Office) -> None:
    request = ask_for(office, refuse(office))
    seen = digest_of(request)

    def press() -> str:
        try:
            change_requests.approve(request.id, digest=seen, by=BY)
        except change_requests.Decided:
            return "too late"
        return "approved"

    assert sorted(in_threads(4, press)) == ["approved", *["too late"] * 3]
    assert len(rows(office)) == 1
    assert len(history.history(organisation_id=office.organisation.id).changes) == 1


def test_two_presses_at_once_are_one_request(office: Office) -> None:
    result = refuse(office)
    ids = in_threads(4, lambda: ask_for(office, result).id)
    assert len(set(ids)) == 1
    assert len(recorded(ids[0])) == 1


def test_a_refusal_that_was_declined_stays_declined_and_a_new_one_may_be_asked_for(
    office: Office,
) -> None:
    result = refuse(office)
    first = ask_for(office, result)
    change_requests.decline(first.id, by=BY, answer="No.")

    assert ask_for(office, result).id == first.id
    later = ask_for(office, refuse(office))
    assert (later.id == first.id, later.state) == (False, "open")


@pytest.mark.parametrize("answer", ["", "  ", "x" * 1001])
def test_a_user_is_declined_with_a_sentence(office: Office, answer: str) -> None:
    request = ask_for(office, refuse(office))
    with pytest.raises(ValueError, match=r"\.$"):
        change_requests.decline(request.id, by=BY, answer=answer)
    assert load(request.id).state == "open"


def test_asking_leaves_the_refusal_as_it_was(office: Office) -> None:
    result = refuse(office)
    ask_for(office, result)
    filters = Filters(tenant_id=office.organisation.id, status="blocked")
    assert [one.action_id for one in actions(filters=filters).rows] == [result.action_id]


def test_nothing_is_asked_for_while_the_provider_is_away(office: Office) -> None:
    result = refuse(office)  # before anything was read
    office.faults(error_rate=1.0)
    with pytest.raises(change_requests.CannotAsk, match="could not be asked"):
        ask_for(office, result)
    assert not ChangeRequest.objects.exists()
