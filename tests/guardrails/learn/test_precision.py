from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from audit.contracts import Filters
from audit.ledger.selectors import actions
from guardrails.contracts import Origin
from guardrails.execute.executor import execute
from guardrails.learn import patterns, precision
from guardrails.models import LearnedPattern, PatternAction, PatternHit
from tests.guardrails.office import CHAT, Office, webhook

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
NOW = timezone.now()


@pytest.fixture
def pattern(office: Office) -> LearnedPattern:
    row = LearnedPattern.objects.create(
        account=office.mailbox, name="Ada", sender_address="ada@client.com", tried_at=NOW
    )
    PatternAction.objects.create(pattern=row, action_type="archive")
    patterns.approve(pattern_id=row.id, by="operator:olga", now=NOW)
    return row


def act(office: Office, pattern: LearnedPattern, *, mode: str = "auto") -> str:
    """The pattern archives a new mail; returns its id."""
    office.permit("archive", mode)
    mail = office.receive()
    origin = webhook(
        mail, office.email(mail)["thread_id"], trigger="pattern", pattern_id=str(pattern.pk)
    )
    execute(office.request("archive", {"email_id": mail}, origin=origin))
    hit(office, pattern, mail)
    return mail


def hit(office: Office, pattern: LearnedPattern, mail: str) -> None:
    precision.count_hit(
        pattern.id,
        account=office.ref(office.mailbox),
        item_id=mail,
        subject="Lunch",
        turn_id=f"turn-{mail}",
        now=NOW,
    )


def look(office: Office, mail: str, **later: Any) -> bool:
    return precision.look(office.ref(office.mailbox), mail, now=timezone.now() + timedelta(**later))


def status(pattern: LearnedPattern) -> tuple[str, int, int]:
    pattern.refresh_from_db()
    return pattern.state, pattern.hits, pattern.corrections


def test_a_mail_counts_once_and_only_for_a_pattern_that_acts(
    office: Office, pattern: LearnedPattern
) -> None:
    hit(office, pattern, "mail-1")
    hit(office, pattern, "mail-1")
    patterns.suspend(pattern_id=pattern.id, why="Enough.", now=NOW)
    hit(office, pattern, "mail-2")
    assert status(pattern) == ("suspended", 1, 0)
    assert pattern.precision == 1.0


def test_what_nobody_touched_is_no_correction(office: Office, pattern: LearnedPattern) -> None:
    mail = act(office, pattern)
    office.change("emails", mail, is_starred=True)
    assert not look(office, mail)
    assert status(pattern) == ("approved", 1, 0)


def test_the_first_mail_that_is_put_back_suspends_the_pattern(
    office: Office, pattern: LearnedPattern
) -> None:
    mail = act(office, pattern)
    office.change("emails", mail, labels=["INBOX"])

    assert look(office, mail)
    assert not look(office, mail)
    assert status(pattern) == ("suspended", 1, 1)
    assert pattern.suspended_why == (
        "Somebody put a mail back that it had treated: “Archive a mail”."
    )
    assert pattern.precision == 0.0
    assert PatternHit.objects.get().correction == "Put back: “Archive a mail”."
    filters = Filters(tenant_id=office.organisation.id, action_type="policy.change")
    [change] = actions(filters=filters).rows
    assert (
        change.actor_id,
        change.payload["before"]["state"],
        change.payload["after"]["state"],
    ) == (
        "correction",
        "approved",
        "suspended",
    )


def test_a_correction_that_two_processes_see_at_once_counts_once(
    office: Office, pattern: LearnedPattern, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail = act(office, pattern)
    office.change("emails", mail, labels=["INBOX"])
    put_back = precision.put_back
    others: list[bool] = []

    def compare(*given: Any) -> tuple[str, ...]:
        monkeypatch.setattr(precision, "put_back", put_back)
        others.append(look(office, mail))
        return put_back(*given)

    monkeypatch.setattr(precision, "put_back", compare)

    assert (look(office, mail), others) == (False, [True])
    assert status(pattern) == ("suspended", 1, 1)


def test_an_undo_that_the_user_asked_for_in_a_chat_is_a_correction(
    office: Office, pattern: LearnedPattern
) -> None:
    mail = act(office, pattern)
    office.list_target("move_email", "folder", "INBOX", "Inbox")
    office.permit("move_email")
    arguments = {"email_id": mail, "folder_id": "INBOX"}
    done = execute(office.request("move_email", arguments, origin=CHAT))

    assert done.status == "succeeded"
    assert look(office, mail)
    assert status(pattern)[0] == "suspended"


def test_what_the_agent_did_next_by_itself_is_no_correction(
    office: Office, pattern: LearnedPattern
) -> None:
    mail = act(office, pattern)
    office.list_target("move_email", "folder", "INBOX", "Inbox")
    office.permit("move_email")
    thread = office.email(mail)["thread_id"]
    origin: Origin = webhook(mail, thread, turn_id="turn-later")
    done = execute(
        office.request("move_email", {"email_id": mail, "folder_id": "INBOX"}, origin=origin)
    )

    assert done.status == "succeeded"
    assert not look(office, mail)
    assert status(pattern)[0] == "approved"


def test_a_mail_that_was_deleted_takes_nothing_back(
    office: Office, pattern: LearnedPattern
) -> None:
    mail = act(office, pattern)
    office.control("DELETE", f"/users/{office.user_id}/emails/{mail}")
    assert not look(office, mail)


def test_what_the_guardrails_refused_cannot_be_put_back(
    office: Office, pattern: LearnedPattern
) -> None:
    mail = act(office, pattern, mode="never")
    assert office.calls() == []
    assert not look(office, mail)
    assert status(pattern) == ("approved", 1, 0)


def test_a_mail_put_back_weeks_later_is_no_correction(
    office: Office, pattern: LearnedPattern
) -> None:
    mail = act(office, pattern)
    office.change("emails", mail, labels=["INBOX"])
    assert not look(office, mail, days=31)


def test_a_mail_that_no_pattern_touched_costs_one_query(
    office: Office, django_assert_num_queries: Any
) -> None:
    account = office.ref(office.mailbox)
    with django_assert_num_queries(1):
        assert not precision.look(account, "mail-1", now=NOW)


def test_open_hits_are_those_of_patterns_that_act(office: Office, pattern: LearnedPattern) -> None:
    hit(office, pattern, "mail-1")
    since = NOW - timedelta(days=1)
    assert precision.open_hits(office.mailbox.pk, since=since, limit=9) == ("mail-1",)
    assert precision.open_hits(office.tracker.pk, since=since, limit=9) == ()
    patterns.suspend(pattern_id=pattern.id, why="Enough.", now=NOW)
    assert precision.open_hits(office.mailbox.pk, since=since, limit=9) == ()


def test_a_pattern_carries_no_authority_that_the_policy_lacks(
    office: Office, pattern: LearnedPattern
) -> None:
    """Whatever is approved, a pattern's request is decided like any other."""
    mail = office.receive()
    thread = office.email(mail)["thread_id"]
    origin = webhook(mail, thread, trigger="pattern", pattern_id=str(pattern.pk))
    office.permit("forward_email")
    office.list_target("forward_email", "recipient", "omar@company.com")
    office.permit("send_email")
    office.list_target("send_email", "recipient", "omar@company.com")
    message = {"subject": "Hello", "body": "Hello."}
    wishes: list[tuple[str, dict[str, Any]]] = [
        ("archive", {"email_id": mail}),
        ("forward_email", {"email_id": mail, "to": ["omar@company.com"]}),
        ("send_email", {"to": ["omar@company.com"], **message}),
    ]
    found = [execute(office.request(*wish, origin=origin)) for wish in wishes]

    assert [one.status for one in found] == ["refused"] * 3
    assert [one.reason for one in found] == [
        "not_permitted",
        "not_from_mail",
        "outside_own_item",
    ]
    assert office.calls() == []
