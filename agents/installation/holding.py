"""Trials of the time in which a held action is recalled, and of whose word counts."""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from uuid import uuid4

from django.db import DatabaseError
from django.utils import timezone

from agents.installation.acting import AT_ONCE, PERSON, full_ledger
from agents.installation.approving import confirm
from agents.installation.guarantees import Broken, expect
from agents.installation.limiting import CLIENT, STRANGER, permit_mail, send
from agents.installation.office import AGENT_TEXT, Office, at_once
from audit.contracts import LedgerError
from audit.ledger.selectors import recorded
from guardrails.approve import approvals
from guardrails.contracts import ActionResult
from guardrails.contracts.cards import HeldSendCard
from guardrails.execute import held_sends, releases, switches
from guardrails.execute.executor import execute
from guardrails.execute.undo import ActionNotFound, undo
from guardrails.models import Approval, HeldSend
from guardrails.policies.changes import Author

FOR_SECONDS = 600


def held_and_recalled(office: Office) -> None:
    """What is held is not done while it can be recalled, and never after it was."""
    result = _held(office)
    card = _recall(office, result)
    expect("It became", card.state, "recalled")
    expect("Asked for again it became", _again(office, result).reason, "recalled")
    _pass_time(result)
    expect("Released it became", _release(result), None)
    expect("Writes at the provider", len(office.writes()), 0)
    expect("It is", _row(result).state, HeldSend.State.RECALLED)
    expect("Its last row", recorded(result.action_id)[-1].decision_reason, "recalled")


def recalled_without_the_ledger(office: Office) -> None:
    """What is recalled while the ledger cannot be written is never done, and its row follows."""
    result = _held(office)
    with full_ledger(), suppress(DatabaseError, LedgerError):
        _recall(office, result)
    expect("Its rows", len(recorded(result.action_id)), 1)
    expect("Asked for again it became", _again(office, result).reason, "recalled")
    _pass_time(result)
    expect("Released it became", _release(result), None)
    expect("Writes at the provider", len(office.writes()), 0)
    held_sends.finish_recalled(older_than=timezone.now())
    expect("Its last row", recorded(result.action_id)[-1].decision_reason, "recalled")


def held_and_released(office: Office) -> None:
    """When its time has come, what was held is done once, by however many processes."""
    result = _held(office)
    expect("Before its time it became", _release(result), None)
    expect("Writes before its time", len(office.writes()), 0)
    _pass_time(result)
    at_once(_release, result, times=AT_ONCE)
    expect("Writes at the provider", len(office.writes()), 1)
    _too_late(lambda: _recall(office, result))
    # What counts among the due holds up what comes after it.
    expect("Due after it was done", releases.release_due(now=timezone.now()), 0)


def held_while_away(office: Office) -> None:
    """What was held goes on being held while its provider is away, and can be recalled."""
    result = _held(office)
    _pass_time(result)
    office.strike(error_rate=1.0)
    tried = _release(result)
    office.strike()
    expect("It became", tried and tried.status, "held")
    expect("Recalled it became", _recall(office, result).state, "recalled")
    expect("Released it became", _release(result), None)
    expect("Writes at the provider", len(office.writes()), 0)


def held_and_no_longer_permitted(office: Office) -> None:
    """What was held is decided again when its time has come."""
    result = _held(office)
    office.withdraw("send_email")
    _pass_time(result)
    releases.release_due(now=timezone.now())
    expect("Writes at the provider", len(office.writes()), 0)
    expect("It became", _row(result).state, HeldSend.State.REFUSED)


def stop_recalls(office: Office) -> None:
    """A stop recalls what is held and what it stops, and nothing else."""
    result = _held(office)
    for effect, recalled in (("concealing", 0), ("egress", 1)):
        scope = switches.Scope(organisation_id=office.organisation.id, effect=effect)
        thrown = switches.throw(scope, why="A trial.", author=Author(name=PERSON, door="command"))
        expect(f"Recalled by a stop of what is {effect}", thrown.recalled, recalled)
    _pass_time(result)
    releases.release_due(now=timezone.now())
    expect("Writes at the provider", len(office.writes()), 0)


def edited_is_judged_again(office: Office) -> None:
    """What a person changes in a request is held to the same limits as what the agent wrote."""
    permit_mail(office, "ask")
    approval = office.ask("send_email", to=[CLIENT], subject="Figures", body="See below.")
    edited = approvals.edit(
        organisation_id=office.organisation.id,
        approval_id=approval.id,
        decided_by=PERSON,
        changes={"to": [STRANGER]},
    )
    expect("It became", (edited.status, edited.reason), ("refused", "target_not_listed"))
    expect("Writes at the provider", len(office.writes()), 0)
    approval.refresh_from_db()
    expect("What was asked", approval.state, Approval.State.PENDING)
    expect("It would go to", approval.arguments["to"], [CLIENT])


def of_another_person(office: Office) -> None:
    """One person neither decides what another was asked nor takes back what was done for them."""
    office.permit("archive", "ask")
    approval = office.ask("archive", email_id=office.receive())
    try:
        confirm(approval, external_user_id="somebody-else")
    except approvals.ApprovalNotFound:
        expect("Writes at the provider", len(office.writes()), 0)
    else:
        raise Broken("Another person's word counted.")
    done = confirm(approval, external_user_id=office.user_id)
    expect("Theirs became", done.status, "succeeded")
    for organisation_id, user_id in (
        (office.organisation.id, "somebody-else"),
        (uuid4(), None),
    ):
        try:
            undo(
                organisation_id=organisation_id,
                action_id=done.action_id,
                by=PERSON,
                external_user_id=user_id,
            )
        except ActionNotFound:
            continue
        raise Broken("Another person took it back.")
    expect("Writes at the provider", len(office.writes()), 1)


def _held(office: Office) -> ActionResult:
    """A mail that is held for a while."""
    permit_mail(office, conditions=[AGENT_TEXT], hold_seconds=FOR_SECONDS)
    result = send(office)
    expect("It became", result.status, "held")
    expect("Writes at the provider", len(office.writes()), 0)
    return result


def _row(result: ActionResult) -> HeldSend:
    return HeldSend.objects.select_related("account__organisation").get(action_id=result.action_id)


def _recall(office: Office, result: ActionResult) -> HeldSendCard:
    assert result.held_send_id is not None  # noqa: S101  # it is held
    return held_sends.recall(
        organisation_id=office.organisation.id, held_send_id=result.held_send_id, by=PERSON
    )


def _release(result: ActionResult) -> ActionResult | None:
    assert result.held_send_id is not None  # noqa: S101  # it is held
    return releases.release(result.held_send_id)


def _again(office: Office, result: ActionResult) -> ActionResult:
    return execute(held_sends.request_of(_row(result)))


def _pass_time(result: ActionResult) -> None:
    past = timezone.now() - timedelta(seconds=1)
    HeldSend.objects.filter(action_id=result.action_id).update(until=past)


def _too_late(recall: Callable[[], object]) -> None:
    try:
        recall()
    except held_sends.TooLate:
        return
    raise Broken("It was recalled after it was done.")


TRIALS = (
    held_and_recalled,
    recalled_without_the_ledger,
    held_and_released,
    held_while_away,
    held_and_no_longer_permitted,
    stop_recalls,
    edited_is_judged_again,
    of_another_person,
)
