"""Where two people have to say yes: one is never enough, on whichever way they say it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connections
from django.utils import timezone
from hypothesis import HealthCheck, given, settings as hypothesis_settings, strategies as st

from audit.ledger.selectors import recorded
from guardrails.approve import (
    approval_rows,
    approvals,
    batch,
    deadlines,
    delegation,
    second_yes,
)
from guardrails.approve.approvals import ApprovalConflict
from guardrails.approve.cards import list_cards
from guardrails.contracts import ActionResult
from guardrails.execute import releases
from guardrails.execute.executor import Confirmation, execute
from guardrails.execute.held_sends import request_of
from guardrails.models import Approval, CeilingLimit, HeldSend
from integrations.models import Account, Membership
from tests.guardrails.approvals import ask, confirm, edit, reject
from tests.guardrails.office import CHAT, Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
TWO = {"kind": "two_people"}
WISH = {"project_key": "PROJ", "summary": "User Auth", "type": "task"}
MAYA, BEN = {"decided_by": "operator:maya"}, {"decided_by": "operator:ben"}


@pytest.fixture
def waiting(office: Office) -> Approval:
    office.permit("create_jira_task", conditions=[TWO])
    office.list_target("create_jira_task", "project", "PROJ", "Customer Portal")
    for name in ("maya", "ben"):
        User.objects.create(username=name, is_staff=True)
    return ask(office, "create_jira_task", WISH)


def owner(office: Office) -> dict[str, Any]:
    """The word of whose account it is, as their frontend brings it."""
    return {"decided_by": "token:web", "external_user_id": office.user_id}


def state(approval: Approval) -> str:
    return Approval.objects.get(pk=approval.pk).state


def card_of(approval: Approval) -> Any:
    (card,) = list_cards(organisation_id=approval.organisation_id, ids=[approval.id])
    return card


def reasons(approval: Approval) -> list[str]:
    return [row.decision_reason for row in recorded(approval.action_id)]


def test_one_yes_does_nothing_and_that_of_another_person_does_it(
    office: Office, waiting: Approval
) -> None:
    assert (waiting.people_needed, card_of(waiting).yeses) == (2, "0 of 2 yes")

    first = confirm(waiting, **owner(office), digest=waiting.digest)

    at = Approval.objects.get(pk=waiting.pk).first_yes_at
    assert at is not None
    said = f"1 of 2 yes: Maya Lindqvist, {at:%Y-%m-%d %H:%M} UTC"
    assert (first.status, first.reason, first.sentence) == ("pending", "first_yes", f"{said}.")
    assert (state(waiting), card_of(waiting).yeses) == ("pending", said)
    assert office.calls() == []

    second = confirm(waiting, **MAYA, digest=waiting.digest)

    assert second.status == "succeeded"
    assert len(office.calls()) == 1
    card = card_of(waiting)
    assert (card.state, card.yeses) == ("executed", "")
    assert card.handled.startswith("Confirmed by Maya Lindqvist at ")
    assert " and by operator maya at " in card.handled
    rows = recorded(waiting.action_id)
    assert [(row.phase, row.status, row.decision, row.decision_reason) for row in rows] == [
        ("control", "waiting", "none", "needs_approval"),
        ("control", "recorded", "none", "first_yes"),
        ("control", "recorded", "approved", "approved"),
        ("attempt", "pending", "approved", "needs_approval"),
        ("outcome", "succeeded", "approved", "performed"),
    ]
    _, one, two, attempt, _ = rows
    assert [(row.actor_id, row.payload["yes"]) for row in (one, two)] == [
        ("token:web", "1 of 2"),
        ("operator:maya", "2 of 2"),
    ]
    assert {row.payload["digest"] for row in (one, two)} == {waiting.digest}
    assert (one.payload["as_user"], two.payload["first_yes_as"]) == (office.user_id,) * 2
    assert (one.approved_by, attempt.approved_by) == ("", "operator:maya")


def test_who_said_yes_and_who_asked_read_on_the_card_that_the_other_yes_is_not_theirs(
    office: Office, waiting: Approval
) -> None:
    def told(by: str, user: str = "") -> str:
        (card,) = second_yes.seen_by([card_of(waiting)], by, user)
        return card.not_yours

    assert told("operator:maya") == ""
    confirm(waiting, **MAYA)

    assert told("operator:maya") == "Your yes is recorded; one more person has to agree."
    assert told("operator:maya", office.user_id) == second_yes.SAID_ALREADY
    assert told("token:web", office.user_id) == second_yes.NOT_THE_SECOND
    assert told("operator:ben") == ""
    confirm(waiting, **BEN)
    assert told("operator:maya") == ""


def test_the_ceiling_asks_two_about_what_is_automatic_in_every_account(office: Office) -> None:
    office.permit("archive")
    CeilingLimit.objects.create(
        organisation=office.organisation, action_type="archive", at_most="auto", conditions=[TWO]
    )
    approval = ask(office, "archive", {"email_id": office.receive()})

    assert approval.reason.endswith("Two people have to say yes.")
    assert confirm(approval, **MAYA).reason == "first_yes"
    assert office.calls() == []
    assert confirm(approval, **BEN).status == "succeeded"


def in_a_batch(approval: Approval, **word: Any) -> ActionResult:
    item = batch.Item(approval_id=approval.id, digest=approval.digest, word="confirm")
    (answer,) = batch.decide_all([item], organisation_id=approval.organisation_id, **word)
    assert answer.result is not None
    return answer.result


def in_chat(approval: Approval, **word: Any) -> ActionResult:
    given: dict[str, Any] = {
        "organisation_id": approval.organisation_id,
        "approval_id": approval.id,
    }
    return approvals.decide(**given, word="confirm", digest=approval.digest, **word)


WAYS: tuple[Callable[..., ActionResult], ...] = (confirm, in_a_batch, in_chat)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_the_same_person_is_never_the_second(
    office: Office, waiting: Approval, way: Callable[..., ActionResult]
) -> None:
    for first_way in WAYS:
        assert first_way(waiting, **MAYA).reason == "first_yes"

    assert way(waiting, **MAYA).status == "pending"
    # In the console, for the user whose account it is: it is maya still.
    assert way(waiting, **MAYA, external_user_id=office.user_id).status == "pending"

    assert reasons(waiting) == ["needs_approval", "first_yes"]
    assert (state(waiting), office.calls()) == ("pending", [])


@pytest.mark.parametrize("link", ["membership", "membership, since removed", "mail", "same mail"])
def test_one_person_with_two_names_is_one(office: Office, waiting: Approval, link: str) -> None:
    maya = User.objects.get(username="maya")
    other: dict[str, Any] = {"decided_by": "token:web", "external_user_id": "m.lopez"}
    Account.objects.create(
        organisation=office.organisation,
        external_user_id="m.lopez",
        source="gmail",
        address="M.Lopez@company.com",
    )
    if link.startswith("membership"):
        member = Membership.objects.create(
            user=maya, organisation=office.organisation, external_user_id="m.lopez"
        )
    elif link == "mail":
        User.objects.filter(pk=maya.pk).update(email="m.lopez@company.com")
    else:
        User.objects.filter(username__in=["maya", "ben"]).update(email="m.lopez@company.com")
        other = BEN
    Approval.objects.filter(pk=waiting.pk).update(delegated_to="user:m.lopez")

    confirm(waiting, **other)
    if "removed" in link:
        member.delete()
    result = confirm(waiting, **MAYA)

    assert (result.status, result.reason) == ("pending", "first_yes")
    assert (state(waiting), office.calls()) == ("pending", [])


@pytest.mark.parametrize("who", ["owner", "who asked", "who changed it", "nobody"])
def test_who_asked_is_not_the_second(office: Office, who: str) -> None:
    office.permit("create_jira_task", conditions=[TWO])
    office.list_target("create_jira_task", "project", "PROJ", "Customer Portal")
    origin = replace(CHAT, actor="operator:maya") if who == "who asked" else CHAT
    waiting = ask(office, "create_jira_task", WISH, origin=origin)
    if who == "who changed it":
        edit(waiting, {"summary": "Passkeys"}, **MAYA)
        waiting = Approval.objects.get(revises=waiting)
    word = {"owner": owner(office), "nobody": {"decided_by": "token:web"}}.get(who, MAYA)
    confirm(waiting, **BEN)

    for answer in (confirm, in_a_batch_refused):
        with pytest.raises(ApprovalConflict, match="yes"):
            answer(waiting, **word)
    told = in_chat(waiting, **word)

    assert (told.status, told.late, "yes" in told.sentence) == ("pending", False, True)
    assert (state(waiting), office.calls()) == ("pending", [])
    assert confirm(waiting, decided_by="operator:olga").status == "succeeded"


def in_a_batch_refused(approval: Approval, **word: Any) -> None:
    item = batch.Item(approval_id=approval.id, digest=approval.digest, word="confirm")
    (answer,) = batch.decide_all([item], organisation_id=approval.organisation_id, **word)
    assert answer.error == "conflict"
    raise ApprovalConflict(answer.sentence)


def test_it_is_handed_on_for_the_second_yes(office: Office, waiting: Approval) -> None:
    Account.objects.create(
        organisation=office.organisation, external_user_id="boss", source="gmail", address="b@c.d"
    )
    confirm(waiting, **owner(office))
    delegation.delegate(
        organisation_id=office.organisation.id,
        approval_id=waiting.id,
        to="user:boss",
        by="token:web",
        external_user_id=office.user_id,
    )
    assert office.calls() == []

    result = in_chat(waiting, decided_by="token:web", external_user_id="boss")

    assert (result.status, len(office.calls())) == ("succeeded", 1)


@pytest.mark.parametrize("by", [MAYA, BEN], ids=["who said yes", "the other one"])
def test_a_refusal_ends_it(office: Office, waiting: Approval, by: dict[str, str]) -> None:
    confirm(waiting, **MAYA)
    reject(waiting, **by, reason="No.")

    with pytest.raises(ApprovalConflict, match="no longer waiting: rejected by operator"):
        confirm(waiting, **BEN)
    assert reasons(waiting) == ["needs_approval", "first_yes", "rejected"]
    assert card_of(waiting).yeses.startswith("1 of 2 yes: operator maya, ")
    assert office.calls() == []


def test_time_ends_it(office: Office, waiting: Approval) -> None:
    confirm(waiting, **MAYA)
    Approval.objects.filter(pk=waiting.pk).update(expires_at=timezone.now() - timedelta(seconds=1))

    assert confirm(waiting, **BEN).reason == "approval_expired"
    assert reasons(waiting) == ["needs_approval", "first_yes", "approval_expired"]
    assert office.calls() == []


def test_a_first_yes_that_comes_too_late_is_none(office: Office, waiting: Approval) -> None:
    Approval.objects.filter(pk=waiting.pk).update(expires_at=timezone.now() - timedelta(seconds=1))

    assert confirm(waiting, **MAYA).reason == "approval_expired"
    assert reasons(waiting) == ["needs_approval", "approval_expired"]
    assert office.calls() == []


def test_a_changed_card_has_no_yes(office: Office, waiting: Approval) -> None:
    confirm(waiting, **MAYA)
    edit(waiting, {"summary": "Passkeys"}, **owner(office))
    changed = Approval.objects.get(revises=waiting)

    assert (changed.first_yes_at, card_of(changed).yeses) == (None, "0 of 2 yes")
    with pytest.raises(ApprovalConflict, match="no longer waiting"):
        confirm(waiting, **BEN)
    assert confirm(changed, **BEN).reason == "first_yes"
    assert office.calls() == []


@pytest.mark.parametrize("needed", ["two people", "one person"])
def test_another_policy_makes_both_words_void(office: Office, needed: str) -> None:
    allowed = office.permit("create_jira_task", "ask", conditions=[TWO] * (needed == "one person"))
    office.list_target("create_jira_task", "project", "PROJ", "Customer Portal")
    waiting = ask(office, "create_jira_task", WISH)
    if needed == "one person":
        confirm(waiting, **MAYA)
    allowed.conditions = [TWO] * (needed == "two people")
    allowed.save()

    result = confirm(waiting, **BEN)

    assert (result.status, result.reason) == ("refused", "changed_since_asked")
    assert office.calls() == []


@pytest.mark.parametrize("forged", ["no first yes", "the same name", "another card"])
def test_the_executor_counts_for_itself(office: Office, waiting: Approval, forged: str) -> None:
    if forged != "no first yes":
        confirm(waiting, **MAYA)
    Approval.objects.filter(pk=waiting.pk).update(
        state="approved",
        decided_by="operator:maya" if forged == "the same name" else "operator:ben",
        decided_at=timezone.now(),
        **({"digest": "0" * 64} if forged == "another card" else {}),
    )
    word = Confirmation(approval_id=waiting.id, decided_by="operator:ben", digest=waiting.digest)

    result = execute(request_of(waiting), word)

    assert (result.status, result.reason) == ("refused", "second_yes_missing")
    assert office.calls() == []


def test_a_held_send_keeps_both(office: Office) -> None:
    office.permit("send_email", conditions=[TWO], hold_seconds=60)
    office.list_target("send_email", "recipient", "ada@client.com")
    wish = {"to": ["ada@client.com"], "subject": "Hi", "body": "Hello"}
    approval = ask(office, "send_email", wish)
    confirm(approval, **MAYA)

    assert confirm(approval, **BEN).status == "held"
    assert office.calls() == []
    Approval.objects.filter(pk=approval.pk).update(first_yes_names=["operator:ben"])
    assert released(office, approval) == "second_yes_missing"
    assert office.calls() == []


def released(office: Office, approval: Approval) -> str:
    held = HeldSend.objects.get(action_id=approval.action_id)
    HeldSend.objects.filter(pk=held.pk).update(until=timezone.now() - timedelta(seconds=1))
    result = releases.release(held.id)
    assert result is not None
    return result.reason


def test_a_row_that_a_crash_lost_is_written_before_anything_is_done(
    office: Office, waiting: Approval, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: Any, **__: Any) -> None:
        raise OSError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(approval_rows, "remark", die)
        with pytest.raises(OSError, match="killed"):
            confirm(waiting, **MAYA)
        with pytest.raises(OSError, match="killed"):
            confirm(waiting, **BEN)
    assert office.calls() == []

    assert confirm(waiting, **BEN).status == "succeeded"
    assert reasons(waiting)[:3] == ["needs_approval", "first_yes", "approved"]
    assert len(office.calls()) == 1


@pytest.mark.parametrize("people", [[MAYA], [MAYA, BEN]], ids=["one person", "two people"])
def test_many_at_once_do_it_once_or_not_at_all(
    office: Office, waiting: Approval, people: list[dict[str, str]]
) -> None:
    def say(word: dict[str, str]) -> None:
        try:
            confirm(waiting, **word)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(say, people * (4 // len(people))))

    assert len(office.calls()) == (len(people) == 2)
    assert reasons(waiting).count("first_yes") == 1


WHO = ("owner", "maya", "ben", "maya for the owner", "nobody")
Said = tuple[str, str]


@hypothesis_settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=12, deadline=None
)
@given(
    said=st.lists(
        st.tuples(
            st.sampled_from(WHO), st.sampled_from(["confirm", "batch", "chat", "reject", "expire"])
        ),
        min_size=1,
        max_size=6,
    )
)
def test_whatever_is_said_nothing_is_done_without_two(office: Office, said: list[Said]) -> None:
    """Against a model that knows who is who by heart."""
    if not office.tracker.allowed_actions.exists():
        office.permit("create_jira_task", conditions=[TWO])
        office.list_target("create_jira_task", "project", "PROJ", "Customer Portal")
    approval = ask(office, "create_jira_task", WISH, origin=replace(CHAT, turn_id=""))
    before, first, ended = len(office.calls()), "", ""
    words: dict[str, dict[str, Any]] = {
        "owner": owner(office),
        "maya": MAYA,
        "ben": BEN,
        "maya for the owner": {**MAYA, "external_user_id": office.user_id},
        "nobody": {"decided_by": "token:web"},
    }
    ways = {"confirm": confirm, "batch": in_any_batch, "chat": in_chat, "reject": reject}
    for who, how in said:
        if how == "expire":
            Approval.objects.filter(pk=approval.pk).update(expires_at=timezone.now())
            deadlines.expire_overdue(now=timezone.now())
            ended = ended or "expired"
            continue
        with suppress(ApprovalConflict):
            ways[how](approval, **words[who])
        if ended or (who == "nobody" and how != "reject"):
            continue
        if how == "reject":
            ended = "rejected"
        elif not first:
            first = who
        elif {first, who} in ({"maya", "ben"}, {"maya for the owner", "ben"}, {"owner", "ben"}):
            ended = "executed" if who in ("maya", "ben") else ""
        elif (first, who) == ("owner", "maya"):
            ended = "executed"
        assert len(office.calls()) - before == (ended == "executed")

    assert state(approval) == (ended or "pending")
    assert len(office.calls()) - before == (ended == "executed")
    Approval.objects.filter(pk=approval.pk, state="pending").update(
        state="expired", decided_at=timezone.now()
    )


def in_any_batch(approval: Approval, **word: Any) -> None:
    item = batch.Item(approval_id=approval.id, digest=approval.digest, word="confirm")
    batch.decide_all([item], organisation_id=approval.organisation_id, **word)
