"""A person's word: bound to what was shown, used once, decided again."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, connections
from django.utils import timezone

from audit.ledger.selectors import recorded
from guardrails.approve import approvals, deadlines
from guardrails.approve.approvals import ApprovalConflict, ApprovalNotFound
from guardrails.approve.cards import list_cards
from guardrails.contracts import ActionResult
from guardrails.execute.executor import execute
from guardrails.models import Approval
from integrations.models import Organisation
from integrations.providers.data_service.writer import DataServiceWriter
from tests.guardrails.approvals import ask, confirm, reject
from tests.guardrails.office import CHAT, Office, webhook

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


@pytest.fixture
def waiting(office: Office) -> Approval:
    office.permit("create_jira_task", "ask")
    office.list_target("create_jira_task", "project", "PROJ", "Customer Portal")
    wish = {"project_key": "PROJ", "summary": "User Auth", "type": "task"}
    return ask(office, "create_jira_task", wish)


def state(approval: Approval) -> str:
    return Approval.objects.get(pk=approval.pk).state


def test_confirming_executes_exactly_what_was_shown(office: Office, waiting: Approval) -> None:
    result = confirm(waiting, external_user_id=office.user_id, digest=waiting.digest)

    assert result.status == "succeeded"
    assert set(result.result) == {"task_key", "url"}
    (call,) = office.calls()
    assert call["body"]["summary"] == "User Auth"
    assert state(waiting) == "executed"
    rows = [
        (row.phase, row.status, row.decision, row.decision_reason)
        for row in recorded(waiting.action_id)
    ]
    assert rows == [
        ("control", "waiting", "none", "needs_approval"),
        ("control", "recorded", "approved", "approved"),
        ("attempt", "pending", "approved", "needs_approval"),
        ("outcome", "succeeded", "approved", "performed"),
    ]
    attempt = recorded(waiting.action_id)[2]
    assert (attempt.approval_id, attempt.approved_by) == (str(waiting.id), "token:web")


def test_the_same_answer_again_gives_the_same_result(office: Office, waiting: Approval) -> None:
    first, second = confirm(waiting), confirm(waiting)

    assert first == second
    assert len(office.calls()) == 1


def test_a_rejection_is_final_and_recorded(office: Office, waiting: Approval) -> None:
    first, again = reject(waiting, reason="Not now."), reject(waiting)

    assert (first.status, first.reason, first.sentence) == (
        "refused",
        "rejected",
        "A person said no.",
    )
    assert (again, state(waiting)) == (first, "rejected")
    with pytest.raises(
        ApprovalConflict, match="no longer waiting: rejected by a user of the API at"
    ):
        confirm(waiting)
    last = recorded(waiting.action_id)[-1]
    assert (last.status, last.decision_reason) == ("denied", "rejected")
    assert last.payload["person_said"] == "Not now."
    assert len(recorded(waiting.action_id)) == 2
    assert office.calls() == []


def test_what_was_done_cannot_be_rejected(office: Office, waiting: Approval) -> None:
    confirm(waiting)

    with pytest.raises(ApprovalConflict, match="no longer waiting"):
        reject(waiting)


def test_the_action_itself_learns_of_the_rejection(office: Office, waiting: Approval) -> None:
    reject(waiting)
    wish = office.request("create_jira_task", waiting.arguments, action_id=waiting.action_id)

    result = execute(wish)

    assert (result.status, result.reason) == ("refused", "rejected")


def test_a_digest_of_something_else_decides_nothing(office: Office, waiting: Approval) -> None:
    for answer in (confirm, reject):
        with pytest.raises(ApprovalConflict, match="not what was shown"):
            answer(waiting, digest="0" * 64)
    assert state(waiting) == "pending"


@pytest.mark.parametrize("foreign", ["organisation", "user", "id"])
def test_what_belongs_to_others_does_not_exist(
    office: Office, waiting: Approval, foreign: str
) -> None:
    other = Organisation.objects.create(slug=f"other-{uuid4().hex[:6]}", name="Other")
    changes: dict[str, dict[str, Any]] = {
        "organisation": {"organisation_id": other.id},
        "user": {"external_user_id": "somebody-else"},
        "id": {"approval_id": uuid4()},
    }

    for answer in (confirm, reject):
        with pytest.raises(ApprovalNotFound, match=r"^There is no such approval\.$"):
            answer(waiting, **changes[foreign])

    assert state(waiting) == "pending"
    cards = list_cards(organisation_id=other.id, ids=[waiting.id])
    assert cards == ()


def test_an_allowed_action_taken_away_meanwhile_refuses(office: Office, waiting: Approval) -> None:
    office.tracker.allowed_actions.all().delete()

    result = confirm(waiting)

    assert (result.status, result.reason) == ("refused", "not_permitted")
    assert state(waiting) == "refused"
    assert confirm(waiting) == result
    assert office.calls() == []


def test_a_target_taken_away_meanwhile_refuses(office: Office, waiting: Approval) -> None:
    office.tracker.listed_targets.all().delete()

    assert confirm(waiting).reason == "target_not_listed"
    assert office.calls() == []


def test_a_paused_account_refuses_what_was_confirmed(office: Office, waiting: Approval) -> None:
    office.tracker.paused = True
    office.tracker.save()

    assert confirm(waiting).reason == "paused"
    assert office.calls() == []


def test_tampered_arguments_are_not_executed(office: Office, waiting: Approval) -> None:
    Approval.objects.filter(pk=waiting.pk).update(
        arguments=waiting.arguments | {"summary": "Something else"}
    )

    assert confirm(waiting).status == "refused"
    assert office.calls() == []


def ask_to_send(office: Office, email_id: str) -> Approval:
    office.permit("send_email", "ask")
    office.list_target("send_email", "recipient", "ada@client.com")
    wish = {"to": ["ada@client.com"], "subject": "Re", "body": "Yes.", "reply_to_id": email_id}
    return ask(office, "send_email", wish, origin=webhook(email_id, "thread-1"))


def test_a_mail_that_changed_since_needs_a_new_word(office: Office) -> None:
    email_id = office.receive(thread_id="thread-1")
    approval = ask_to_send(office, email_id)
    office.control("PATCH", f"/users/{office.user_id}/emails/{email_id}", {"subject": "Other"})

    result = confirm(approval)

    assert (result.status, result.reason) == ("refused", "changed_since_asked")
    assert office.calls() == []


def test_a_reply_to_a_proved_sender_is_sent_once_confirmed(office: Office) -> None:
    approval = ask_to_send(office, office.receive(thread_id="thread-1"))

    result = confirm(approval)

    assert result.status == "succeeded"
    assert approval.provenance["to[0]"] == "A"
    assert approval.description == "Send to ada@client.com: “Re”"
    assert [call["path"].rsplit("/", 1)[-1] for call in office.calls()] == ["send"]


def test_an_approval_without_a_deadline_waits_for_ever(office: Office, waiting: Approval) -> None:
    assert waiting.expires_at is None
    assert deadlines.expire_overdue(now=timezone.now() + timedelta(days=3650)) == 0
    assert confirm(waiting).status == "succeeded"


def test_an_overdue_approval_expires(office: Office, waiting: Approval) -> None:
    Approval.objects.filter(pk=waiting.pk).update(expires_at=timezone.now())

    result = confirm(waiting)

    assert (result.status, result.reason) == ("refused", "approval_expired")
    assert state(waiting) == "expired"
    last = recorded(waiting.action_id)[-1]
    assert (last.status, last.decision_reason, last.actor_type) == (
        "denied",
        "approval_expired",
        "system",
    )
    with pytest.raises(ApprovalConflict):
        reject(waiting)
    assert office.calls() == []


def test_the_clock_expires_what_nobody_decided(office: Office, waiting: Approval) -> None:
    Approval.objects.filter(pk=waiting.pk).update(expires_at=timezone.now())

    assert deadlines.expire_overdue(now=timezone.now()) == 1
    assert deadlines.expire_overdue(now=timezone.now()) == 0
    assert state(waiting) == "expired"


def test_the_setting_gives_the_deadline(office: Office, settings: Any) -> None:
    settings.APPROVAL_HOURS = 2
    office.permit("archive", "ask")
    approval = ask(office, "archive", {"email_id": office.receive()})

    assert approval.expires_at is not None
    assert timedelta(hours=1.9) < approval.expires_at - approval.created_at < timedelta(hours=2.1)


def crash_once(monkeypatch: pytest.MonkeyPatch, *, after_effect: bool) -> None:
    create, left = DataServiceWriter.create_issue, [1]

    def killed(self: DataServiceWriter, **fields: Any) -> Any:
        if not left[0]:
            return create(self, **fields)
        left[0] = 0
        if after_effect:
            create(self, **fields)
        raise KeyboardInterrupt

    monkeypatch.setattr(DataServiceWriter, "create_issue", killed)


@pytest.mark.parametrize("after_effect", [True, False])
def test_a_crash_after_the_claim_is_finished_once(
    office: Office, waiting: Approval, monkeypatch: pytest.MonkeyPatch, after_effect: bool
) -> None:
    crash_once(monkeypatch, after_effect=after_effect)
    with pytest.raises(KeyboardInterrupt):
        confirm(waiting)
    assert state(waiting) == "approved"

    assert deadlines.finish_confirmed(older_than_seconds=0, now=timezone.now()) == 1

    assert state(waiting) == "executed"
    assert confirm(waiting).status == "succeeded"
    assert [call["performed"] for call in office.calls()] == [True]
    approved = [row for row in recorded(waiting.action_id) if row.decision_reason == "approved"]
    assert len(approved) == 1


def test_a_confirmed_approval_under_way_is_not_pending_work_for_a_day(
    office: Office, waiting: Approval
) -> None:
    confirm(waiting)

    assert deadlines.finish_confirmed(older_than_seconds=0, now=timezone.now()) == 0


@pytest.mark.parametrize("round_number", range(5))
def test_of_sixteen_answers_at_once_one_wins(
    office: Office, waiting: Approval, round_number: int
) -> None:
    def answer(number: int) -> str:
        try:
            if number % 2:
                return confirm(waiting).status
            return reject(waiting).reason
        except ApprovalConflict:
            return "conflict"
        finally:
            connections.close_all()

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(answer, range(16)))

    performed = len(office.calls())
    if state(waiting) == "executed":
        assert (set(answers), performed) == ({"succeeded", "conflict"}, 1)
    else:
        assert (set(answers), performed) == ({"rejected", "conflict"}, 0)


def test_one_answer_gives_the_result_that_counts(office: Office, waiting: Approval) -> None:
    def decide(*, yes: bool, digest: str | None = None) -> ActionResult:
        return approvals.decide(
            organisation_id=waiting.organisation_id,
            approval_id=waiting.id,
            decided_by="token:web",
            word="confirm" if yes else "reject",
            digest=digest,
        )

    assert decide(yes=True, digest="0" * 64).status == "pending"
    assert decide(yes=False).reason == "rejected"
    assert decide(yes=True).reason == "rejected"
    assert decide(yes=False).status == "refused"
    assert office.calls() == []


def test_cards_are_made_of_fields(office: Office, waiting: Approval) -> None:
    (card,) = list_cards(
        organisation_id=office.organisation.id,
        external_user_id=office.user_id,
        turn_ids=["turn-1"],
        state="pending",
    )

    assert (card.description, card.state) == ("Create a task in PROJ: “User Auth”", "pending")
    assert card.provenance == {"project_key": "A", "summary": "X", "type": "X"}
    assert card.reason == "A person must confirm this first. The policy says so."


def test_the_database_keeps_one_approval_an_action_and_a_moment_for_each_word(
    office: Office, waiting: Approval
) -> None:
    with pytest.raises(IntegrityError):
        Approval.objects.filter(pk=waiting.pk).update(state="approved")
    with pytest.raises(IntegrityError):
        Approval.objects.filter(pk=waiting.pk).update(state="maybe", decided_at=timezone.now())


def test_asks_of_another_turn_have_their_own_allowance(office: Office, settings: Any) -> None:
    settings.MAX_OPEN_ASKS_PER_TURN = 1
    office.permit("archive", "ask")
    for turn_id, sender, expected in (
        ("a", "ada@client.com", "pending"),
        ("a", "security@client.com", "refused"),
        ("b", "ada@client.com", "pending"),
    ):
        origin = replace(CHAT, turn_id=turn_id)
        mail = office.receive(**{"from": sender})
        wish = office.request("archive", {"email_id": mail}, origin=origin)
        assert execute(wish).status == expected


def test_an_account_has_only_so_many_open_questions(office: Office, settings: Any) -> None:
    settings.MAX_OPEN_ASKS_PER_ACCOUNT, settings.OPEN_ASKS_KEPT_FOR_PEOPLE = 2, 0
    office.permit("archive", "ask")
    results = [
        execute(
            office.request(
                "archive", {"email_id": office.receive()}, origin=replace(CHAT, turn_id=turn_id)
            )
        )
        for turn_id in "abc"
    ]

    assert [result.reason for result in results] == [
        "needs_approval",
        "needs_approval",
        "too_many_asks_waiting",
    ]
    assert office.calls() == []


def test_a_changed_allowed_action_needs_a_new_word(office: Office, waiting: Approval) -> None:
    allowed_action = office.tracker.allowed_actions.get()
    allowed_action.conditions = [{"kind": "trigger", "any_of": ["chat"]}]
    allowed_action.save()

    result = confirm(waiting)

    assert (result.status, result.reason) == ("refused", "changed_since_asked")
    assert office.calls() == []


def test_a_change_of_the_policy_elsewhere_leaves_the_word_good(
    office: Office, waiting: Approval
) -> None:
    office.permit("archive")
    office.list_target("create_jira_task", "project", "OPS", "Operations")

    assert confirm(waiting).status == "succeeded"


def test_a_decision_whose_row_was_lost_is_recorded_later(
    office: Office, waiting: Approval, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(entry: Any) -> None:
        raise OSError("away")

    with monkeypatch.context() as patched:
        patched.setattr("audit.ledger.ledger.append", unreachable)
        with pytest.raises(OSError, match="away"):
            reject(waiting, reason="No.")
    assert state(waiting) == "rejected"
    assert len(recorded(waiting.action_id)) == 1

    for _ in range(2):
        deadlines.finish_confirmed(older_than_seconds=0, now=timezone.now())

    reasons = [row.decision_reason for row in recorded(waiting.action_id)]
    assert reasons == ["needs_approval", "rejected"]
    assert recorded(waiting.action_id)[-1].payload["seconds_to_decide"] >= 0
