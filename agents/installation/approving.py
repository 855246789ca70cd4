"""Trials of a person's word: it counts for exactly what was shown, once, and only theirs."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

from django.utils import timezone

from agents.installation.acting import refused
from agents.installation.guarantees import Broken, expect
from agents.installation.office import SENDER, Office
from audit.keeping import erasure
from guardrails.approve import approvals
from guardrails.contracts import ActionResult
from guardrails.models import AllowedAction, Approval

PERSON, ANOTHER = "operator:trial", "operator:another"
TWO_PEOPLE = {"kind": "two_people"}


def waits_for_a_person(office: Office) -> None:
    """What waits for a person is not done before they say yes, and then it is done."""
    approval = asked(office)
    expect("Writes before", len(office.writes()), 0)
    expect("It became", confirm(approval).status, "succeeded")
    expect("Writes after", len(office.writes()), 1)


def altered_after_the_question(office: Office) -> None:
    """A request that was altered in the database after it was shown is refused."""
    approval = asked(office)
    other = office.receive(subject="Something else")
    Approval.objects.filter(pk=approval.pk).update(arguments={"email_id": other})
    expect("It became", confirm(approval).status, "refused")
    expect("Writes at the provider", len(office.writes()), 0)


def altered_after_it_was_erased(office: Office) -> None:
    """So is one of which the ledger no longer has the contents."""
    office.permit("send_email", "ask")
    office.list_target("send_email", "recipient", SENDER)
    approval = office.ask("send_email", to=[SENDER], subject="Figures", body="They are good.")
    scope = erasure.Scope(tenant_id=office.organisation.id, action_id=approval.action_id)
    erasure.erase(scope, reason="A trial.", actor_id="trial")
    other = approval.arguments | {"body": "They are bad."}
    Approval.objects.filter(pk=approval.pk).update(arguments=other)
    result = confirm(approval)
    expect("It became", (result.status, result.reason), ("refused", "changed_since_asked"))
    expect("Writes at the provider", len(office.writes()), 0)


def word_about_something_else(office: Office) -> None:
    """A yes with the digest of something else decides nothing."""
    approval = asked(office)
    _conflicts(lambda: confirm(approval, digest="0" * 64))
    expect("Writes at the provider", len(office.writes()), 0)
    expect("It became", confirm(approval).status, "succeeded")


def yes_said_twice(office: Office) -> None:
    """A yes that is sent again has the same result and does nothing more."""
    approval = asked(office)
    first, second = confirm(approval), confirm(approval)
    expect("They became", (first.status, second.status), ("succeeded", "succeeded"))
    expect("Writes at the provider", len(office.writes()), 1)


def no_is_final(office: Office) -> None:
    """After a no, no yes counts."""
    approval = asked(office)
    approvals.reject(
        organisation_id=office.organisation.id, approval_id=approval.id, decided_by=PERSON
    )
    _conflicts(lambda: confirm(approval))
    expect("Writes at the provider", len(office.writes()), 0)


def too_late(office: Office) -> None:
    """A yes after the deadline comes to nothing."""
    approval = asked(office)
    past = timezone.now() - timedelta(seconds=1)
    Approval.objects.filter(pk=approval.pk).update(expires_at=past)
    expect("It became", confirm(approval).reason, "approval_expired")
    expect("Writes at the provider", len(office.writes()), 0)


def of_another_organisation(office: Office) -> None:
    """Nobody of another organisation finds a request, let alone decides it."""
    approval = asked(office)
    try:
        confirm(approval, organisation_id=uuid4())
    except approvals.ApprovalNotFound:
        expect("Writes at the provider", len(office.writes()), 0)
        return
    raise Broken("It was found.")


def allowed_action_withdrawn(office: Office) -> None:
    """An allowed action that was taken away while a request waited refuses it after the yes."""
    approval = asked(office)
    AllowedAction.objects.filter(account=office.accounts["mail"]).delete()
    expect("It became", confirm(approval).status, "refused")
    expect("Writes at the provider", len(office.writes()), 0)


def changed_since_shown(office: Office) -> None:
    """An object that changed after it was shown needs a new word."""
    office.permit("archive", "ask")
    for change in ({"subject": "Other words"}, {"body_text": "Other words."}):
        approval = office.ask("archive", email_id=office.receive())
        office.change(f"emails/{approval.arguments['email_id']}", **change)
        result = confirm(approval)
        expect("It became", (result.status, result.reason), ("refused", "changed_since_asked"))
    expect("Writes at the provider", len(office.writes()), 0)


def two_people(office: Office) -> None:
    """Where two people have to say yes, one who says it twice is one."""
    office.permit("archive", "ask", conditions=[TWO_PEOPLE])
    approval = office.ask("archive", email_id=office.receive())
    for _ in range(2):
        expect("After one yes it became", confirm(approval).status, "pending")
    expect("Writes before the second", len(office.writes()), 0)
    expect("It became", confirm(approval, decided_by=ANOTHER).status, "succeeded")
    expect("Writes at the provider", len(office.writes()), 1)


def second_person_written_off(office: Office) -> None:
    """A request that was altered in the database to need one person is refused after one yes."""
    office.permit("archive", "ask", conditions=[TWO_PEOPLE])
    approval = office.ask("archive", email_id=office.receive())
    Approval.objects.filter(pk=approval.pk).update(people_needed=1)
    result = confirm(approval)
    expect("It became", (result.status, result.reason), ("refused", "second_yes_missing"))
    expect("Writes at the provider", len(office.writes()), 0)


def for_undoing_alone(office: Office) -> None:
    """What only takes an action back is for a person's command: the agent may not do it, even where
    somebody altered the database to allow it."""
    allowed = office.permit("archive")
    type(allowed).objects.filter(pk=allowed.pk).update(action_type="restore_labels")
    result = office.do("restore_labels", email_id=office.receive(), add=["label_fyi"])
    refused(office, result, "unknown_action")


def asked(office: Office) -> Approval:
    """A mail that waits to be put away."""
    office.permit("archive", "ask")
    return office.ask("archive", email_id=office.receive())


def confirm(approval: Approval, **changes: Any) -> ActionResult:
    given: dict[str, Any] = {
        "organisation_id": approval.organisation_id,
        "approval_id": approval.id,
        "decided_by": PERSON,
    }
    return approvals.confirm(**given | changes)


def _conflicts(decide: Callable[[], object]) -> None:
    try:
        decide()
    except approvals.ApprovalConflict:
        return
    raise Broken("The word counted.")


TRIALS = (
    waits_for_a_person,
    altered_after_the_question,
    altered_after_it_was_erased,
    word_about_something_else,
    yes_said_twice,
    no_is_final,
    too_late,
    of_another_organisation,
    allowed_action_withdrawn,
    changed_since_shown,
    two_people,
    second_person_written_off,
    for_undoing_alone,
)
