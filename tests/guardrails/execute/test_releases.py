"""Held actions when their time has come: decided again, carried out once."""

from datetime import timedelta
from types import ModuleType
from typing import Any

import pytest
from django.utils import timezone

from audit.ledger.selectors import recorded
from guardrails.approve.cards import list_cards
from guardrails.contracts import ActionResult, Origin
from guardrails.execute import executor, settling
from guardrails.execute.executor import execute
from guardrails.execute.held_sends import TooLate, recall
from guardrails.execute.releases import finish_released, release, release_due
from guardrails.models import AllowedAction, AllowedActionOption, Approval, HeldSend
from integrations.exceptions import Unavailable
from integrations.models import Account
from integrations.providers.data_service.reader import DataServiceReader
from integrations.providers.data_service.writer import DataServiceWriter
from tests.guardrails.approvals import confirm
from tests.guardrails.office import Office, in_threads, phases, webhook

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)

BOB = "bob@company.com"
MAIL = {"to": [BOB], "subject": "Hello", "body": "Hello."}
TYPED = Origin(trigger="chat", turn_id="turn-1", user_words=BOB)


@pytest.fixture
def held(office: Office) -> ActionResult:
    office.permit("send_email", hold_seconds=300)
    office.list_target("send_email", "recipient_domain", "company.com", "Us")
    result = execute(office.request("send_email", MAIL, origin=TYPED))
    assert result.status == "held"
    return result


def due() -> int:
    HeldSend.objects.update(until=timezone.now())
    return release_due(now=timezone.now())


def test_what_is_due_is_carried_out_once(office: Office, held: ActionResult) -> None:
    assert release_due(now=timezone.now()) == 0
    assert office.calls() == []

    assert (due(), due()) == (1, 0)

    held_send = HeldSend.objects.get()
    assert (held_send.state, held_send.decided_by, held_send.outcome) == (
        "released",
        "clock",
        "Done.",
    )
    assert held_send.finished_at is not None
    assert phases(held) == [
        ("control", "waiting", "held"),
        ("attempt", "pending", "allowed"),
        ("outcome", "succeeded", "performed"),
    ]
    assert [call["idempotency_key"] for call in office.calls()] == [f"remit-{held.action_id}"]
    assert release(held_send.id) is None


@pytest.mark.parametrize("change", ["rule", "target", "pause", "condition"])
def test_the_policy_at_that_time_decides(office: Office, held: ActionResult, change: str) -> None:
    allowed_action = AllowedAction.objects.get()
    if change == "rule":
        allowed_action.enabled = False
        allowed_action.save()
    elif change == "target":
        AllowedActionOption.objects.all().delete()
    elif change == "pause":
        Account.objects.filter(pk=office.mailbox.pk).update(paused=True)
    else:
        allowed_action.conditions = [{"kind": "recipient_domain", "domains": ["other.com"]}]
        allowed_action.save()

    due()

    held_send = HeldSend.objects.get()
    assert held_send.state == "refused"
    assert phases(held)[-1][:2] == ("blocked", "blocked")
    assert held_send.outcome == recorded(held.action_id)[-1].payload["sentence"]
    assert office.calls() == []


def test_an_allowed_action_that_asks_by_then_asks_and_holds_no_second_time(
    office: Office, held: ActionResult
) -> None:
    allowed_action = AllowedAction.objects.get()
    allowed_action.approval_mode = "ask"
    allowed_action.save()
    due()
    assert office.calls() == []
    assert confirm(Approval.objects.get(), decided_by="operator:olga").status == "succeeded"
    assert HeldSend.objects.count() == 1
    assert len(office.calls()) == 1


FORWARD = {"email_id": "mail-1", "to": [BOB]}
NAMED = Origin(trigger="chat", turn_id="turn-1", user_words=f"Forward mail-1 to {BOB}")


def forwarded(office: Office, **change: Any) -> ActionResult:
    """A mail that is forwarded after a while, and is changed meanwhile."""
    office.receive(id="mail-1", body_text="The plan.")
    office.permit("forward_email", hold_seconds=300)
    office.list_target("forward_email", "recipient_domain", "company.com", "Us")
    result = execute(office.request("forward_email", FORWARD, origin=NAMED))
    assert result.status == "held"
    office.change("emails", "mail-1", **change)
    due()
    return result


def test_what_somebody_changed_meanwhile_is_asked_about_with_the_change(office: Office) -> None:
    result = forwarded(office, subject="Pay", body_text="Salaries")

    [card] = list_cards(organisation_id=office.organisation.id, state="pending")
    assert card.reason == "Somebody changed it while it was held: is it still meant?"
    assert card.differences == (
        ("subject (while it was held)", "Lunch on Friday?", "Pay"),
        ("text (while it was held)", "9 characters", "8 characters"),
    )
    assert [one.passage for one in card.exposures] == ["Salaries"]
    assert phases(result)[-1] == ("control", "waiting", "changed_while_held")
    assert (HeldSend.objects.get().state, HeldSend.objects.get().outcome) == (
        "released",
        card.reason,
    )
    assert office.calls() == []

    assert confirm(Approval.objects.get(), decided_by="operator:olga").status == "succeeded"
    assert len(office.calls()) == 1


def test_what_is_changed_once_more_after_the_question_does_not_go_out(office: Office) -> None:
    forwarded(office, body_text="Salaries")
    office.change("emails", "mail-1", body_text="More salaries")

    result = confirm(Approval.objects.get(), decided_by="operator:olga")

    assert (result.status, result.reason) == ("refused", "changed_since_asked")
    assert office.calls() == []


def test_what_nobody_gets_to_see_may_change_meanwhile(office: Office) -> None:
    result = forwarded(office, is_read=True, labels=["INBOX", "STARRED"])

    assert phases(result)[-1] == ("outcome", "succeeded", "performed")
    assert len(office.calls()) == 1


def test_what_a_mail_set_off_asks_nobody_and_does_not_go_out(office: Office) -> None:
    mail = office.receive(id="mail-1")
    office.permit("send_email", hold_seconds=300)
    office.list_target("send_email", "recipient", "ada@client.com", "Ada")
    reply = {"to": ["ada@client.com"], "subject": "Re: Hello", "body": "x", "reply_to_id": mail}
    origin = webhook(mail, office.email(mail)["thread_id"])
    result = execute(office.request("send_email", reply, origin=origin))
    assert result.status == "held", result.sentence
    office.change("emails", mail, body_text="Other words")

    due()

    assert phases(result)[-1] == ("blocked", "blocked", "changed_while_held")
    assert HeldSend.objects.get().state == "refused"
    assert not Approval.objects.exists()
    assert office.calls() == []


def test_a_release_with_an_unknown_outcome_is_settled_when_the_provider_is_back(
    office: Office, held: ActionResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(*given: Any, **named: Any) -> None:
        raise Unavailable("timed out")

    with monkeypatch.context() as patched:
        patched.setattr(DataServiceWriter, "send_email", down)
        patched.setattr(DataServiceReader, "evidence", down)
        due()
    assert phases(held)[-1] == ("attempt", "pending", "allowed")
    assert HeldSend.objects.get().finished_at is None

    assert finish_released(older_than=timezone.now()) == 1

    assert HeldSend.objects.get().outcome == "Done."
    assert phases(held)[-1] == ("outcome", "succeeded", "performed")
    assert [call["performed"] for call in office.calls()] == [True]


def test_a_provider_that_is_away_is_tried_again_until_it_is_back(
    office: Office, held: ActionResult
) -> None:
    office.faults(error_rate=1.0)
    for _ in range(2):
        assert due() == 1
    held_send = HeldSend.objects.get()
    assert (held_send.state, held_send.decided_at, held_send.finished_at) == ("held", None, None)
    assert held_send.outcome == "The provider could not be asked. Try again later."
    assert phases(held) == [("control", "waiting", "held")]
    office.faults()
    assert office.calls() == []

    due()

    assert HeldSend.objects.get().outcome == "Done."
    assert phases(held)[-1] == ("outcome", "succeeded", "performed")
    assert [call["performed"] for call in office.calls()] == [True]


def test_while_its_provider_is_away_it_can_be_recalled(office: Office, held: ActionResult) -> None:
    office.faults(error_rate=1.0)
    due()
    held_send = HeldSend.objects.get()
    recall(organisation_id=office.organisation.id, held_send_id=held_send.id, by="operator:olga")
    office.faults()

    assert (release_due(now=timezone.now()), release(held_send.id)) == (0, None)
    assert HeldSend.objects.get().state == "recalled"
    assert phases(held)[-1] == ("control", "denied", "recalled")
    assert office.calls() == []


def test_a_provider_that_stays_away_for_a_day_refuses(office: Office, held: ActionResult) -> None:
    office.faults(error_rate=1.0)
    HeldSend.objects.update(until=timezone.now() - timedelta(days=1, seconds=1))
    release_due(now=timezone.now())
    office.faults()
    assert HeldSend.objects.get().state == "refused"
    assert phases(held)[-1] == ("blocked", "blocked", "facts_unavailable")
    assert office.calls() == []


def test_a_pause_refuses_although_the_provider_is_away(office: Office, held: ActionResult) -> None:
    office.faults(error_rate=1.0)
    Account.objects.filter(pk=office.mailbox.pk).update(paused=True)
    due()
    office.faults()
    assert HeldSend.objects.get().state == "refused"
    assert phases(held)[-1] == ("blocked", "blocked", "paused")
    assert office.calls() == []


def test_who_lost_a_release_to_another_process_does_not_hold_it_again(
    office: Office, held: ActionResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one may be calling the provider: a recall must not be promised."""

    def overtaken(*given: Any, **named: Any) -> ActionResult:
        HeldSend.objects.update(decided_at=timezone.now())
        return held

    with monkeypatch.context() as patched:
        patched.setattr("guardrails.execute.releases.execute", overtaken)
        due()

    assert HeldSend.objects.get().state == "released"
    with pytest.raises(TooLate):
        recall(
            organisation_id=office.organisation.id,
            held_send_id=HeldSend.objects.get().id,
            by="operator:o",
        )


@pytest.mark.parametrize("after_effect", [True, False])
def test_a_release_killed_in_the_call_is_finished_once(
    office: Office, held: ActionResult, monkeypatch: pytest.MonkeyPatch, after_effect: bool
) -> None:
    send = DataServiceWriter.send_email

    def killed(self: DataServiceWriter, *given: Any, **named: Any) -> None:
        if after_effect:
            send(self, *given, **named)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(DataServiceWriter, "send_email", killed)
        with pytest.raises(KeyboardInterrupt):
            due()
    assert HeldSend.objects.get().state == "released"

    assert finish_released(older_than=timezone.now()) == 1
    assert finish_released(older_than=timezone.now()) == 0
    assert phases(held)[-1] == ("outcome", "succeeded", "performed")
    assert [call["performed"] for call in office.calls()] == [True]


@pytest.mark.parametrize(
    ("module", "point"), [(executor, "judge"), (executor, "_begin"), (settling, "close")]
)
def test_a_release_killed_elsewhere_is_finished_once(
    office: Office,
    held: ActionResult,
    monkeypatch: pytest.MonkeyPatch,
    module: ModuleType,
    point: str,
) -> None:
    def killed(*given: Any, **named: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(module, point, killed)
        with pytest.raises(KeyboardInterrupt):
            due()

    assert finish_released(older_than=timezone.now()) == 1
    assert phases(held)[-1] == ("outcome", "succeeded", "performed")
    assert [call["performed"] for call in office.calls()] == [True]
    assert HeldSend.objects.get().outcome == "Done."


def test_sixteen_workers_release_once(office: Office, held: ActionResult) -> None:
    HeldSend.objects.update(until=timezone.now())
    key = HeldSend.objects.get().id
    in_threads(16, lambda: release(key))
    finish_released(older_than=timezone.now())
    assert [call["performed"] for call in office.calls()] == [True]
    assert phases(held)[-1] == ("outcome", "succeeded", "performed")
    assert [phase for phase, _, _ in phases(held)].count("attempt") == 1


def test_one_that_breaks_does_not_keep_the_others(
    office: Office, held: ActionResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute(office.request("send_email", MAIL, origin=TYPED))
    HeldSend.objects.update(until=timezone.now())
    first = HeldSend.objects.order_by("until", "held_at").first()
    original = release

    def breaking(held_send_id: Any) -> Any:
        if first is not None and held_send_id == first.id:
            raise ZeroDivisionError
        return original(held_send_id)

    monkeypatch.setattr("guardrails.execute.releases.release", breaking)
    assert release_due(now=timezone.now()) == 1
    assert len(office.calls()) == 1
