"""Which actions a person is asked about together, and when they are asked no more."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from django.db import connections

from guardrails.contracts import ActionResult, Origin
from guardrails.execute.executor import execute
from guardrails.models import Approval
from tests.guardrails.approvals import confirm
from tests.guardrails.office import CHAT, Office, in_threads, phases, webhook

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)

BOB, ADA = "bob@company.com", "ada@client.com"


def said(words: str, turn_id: str = "turn-1") -> Origin:
    return replace(CHAT, turn_id=turn_id, user_words=words)


def archive(office: Office, number: int, origin: Origin = CHAT, sender: str = "") -> Sequence[str]:
    """What became of as many mails that the agent would archive, each of somebody else."""
    found = []
    for at in range(number):
        email_id = office.receive(**{"from": sender or f"a{at}-{origin.turn_id}@client.com"})
        result = execute(office.request("archive", {"email_id": email_id}, origin=origin))
        found.append(result.reason)
    return found


def questions() -> int:
    return Approval.objects.filter(state="pending").values("question").distinct().count()


@pytest.fixture
def asking(office: Office) -> Office:
    office.permit("archive", "ask")
    office.permit("send_email", "ask", conditions=[{"kind": "recipient", "relation": ["typed"]}])
    return office


def test_six_like_actions_of_a_request_are_one_question_and_six_rows(asking: Office) -> None:
    assert archive(asking, 6) == ["needs_approval"] * 6

    rows = list(Approval.objects.order_by("created_at"))
    assert [row.question for row in rows] == [rows[0].id] * 6
    assert len({row.digest for row in rows}) == 6
    for row in rows:
        assert phases_of(row) == [("control", "waiting", "needs_approval")]
    confirm(rows[0])
    assert [row.state for row in Approval.objects.order_by("created_at")] == [
        "executed",
        *["pending"] * 5,
    ]
    assert len(asking.calls()) == 1


def phases_of(row: Approval) -> list[tuple[str, str, str]]:
    return phases(ActionResult(status="pending", action_id=row.action_id, action_type=""))


def test_another_run_another_effect_or_an_unnamed_receiver_is_another_question(
    asking: Office,
) -> None:
    archive(asking, 2)
    archive(asking, 1, origin=replace(CHAT, turn_id="turn-2"))
    assert questions() == 2
    archive(asking, 1, sender="security@client.com")
    assert questions() == 3

    words = f"Write to {BOB} and {ADA}"
    for to in ([BOB], [ADA]):
        wish = {"to": to, "subject": "Lunch", "body": "At noon?"}
        execute(asking.request("send_email", wish, origin=said(words)))
    assert questions() == 4


def test_what_somebody_has_seen_does_not_grow(asking: Office) -> None:
    archive(asking, 2)
    Approval.objects.update(shown_at="2026-01-01T00:00:00Z")
    archive(asking, 1)

    assert questions() == 2


def test_a_sender_and_a_mail_bring_up_only_so_many_questions(asking: Office, settings: Any) -> None:
    settings.MAX_OPEN_ASKS_PER_CAUSE = 2
    found = [
        archive(asking, 1, origin=replace(CHAT, turn_id=turn), sender="eve@evil.example")
        for turn in "abc"
    ]

    assert found == [["needs_approval"], ["needs_approval"], ["too_many_asks_about_it"]]
    assert archive(asking, 1, sender="ada@client.com") == ["needs_approval"]
    assert asking.calls() == []


def test_a_sender_about_whom_enough_was_asked_today_is_not_said_to_wait(
    asking: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("guardrails.decide.questions.MOST_A_DAY", 1)
    found = []
    for turn in "ab":
        mail = asking.receive(**{"from": "eve@evil.example"})
        origin = webhook(mail, asking.email(mail)["thread_id"], turn_id=turn)
        found.append(execute(asking.request("archive", {"email_id": mail}, origin=origin)))
        for row in Approval.objects.filter(state="pending"):
            confirm(row)

    assert [one.reason for one in found] == ["needs_approval", "too_many_asks_about_it"]
    assert (
        found[1].sentence == "A person was asked often enough about the same mail, file or person."
    )
    assert len(asking.calls()) == 1  # what was confirmed


def test_one_thread_of_mail_asks_only_so_often(asking: Office, settings: Any) -> None:
    settings.MAX_OPEN_ASKS_PER_CAUSE = 1
    asking.permit("draft", "ask")
    asking.list_target("draft", "recipient", ADA)
    mail = asking.receive(**{"from": ADA})
    thread = asking.email(mail)["thread_id"]
    for turn, reason in (("a", "needs_approval"), ("b", "too_many_asks_about_it")):
        wish = {"reply_to_id": mail, "to": [ADA], "subject": "Re: Hi", "body": f"Yes {turn}"}
        origin = webhook(mail, thread, turn_id=turn)
        assert execute(asking.request("draft", wish, origin=origin)).reason == reason


def test_a_hijacked_flood_leaves_the_room_of_honest_questions(
    asking: Office, settings: Any
) -> None:
    settings.MAX_OPEN_ASKS_PER_TURN, settings.MAX_OPEN_ASKS_PER_ACCOUNT = 2, 8
    settings.OPEN_ASKS_KEPT_FOR_PEOPLE = 3
    found = [
        reason
        for turn in range(10)
        for reason in archive(asking, 1, origin=replace(CHAT, turn_id=f"hijacked-{turn}"))
    ]

    assert found == ["needs_approval"] * 5 + ["too_many_asks_waiting"] * 5
    wish = {"to": [BOB], "subject": "Lunch", "body": "At noon?"}
    honest = execute(asking.request("send_email", wish, origin=said(f"Write to {BOB}", "honest")))
    assert honest.reason == "needs_approval"
    assert asking.calls() == []


def test_concurrent_runs_together_keep_to_the_limit(asking: Office, settings: Any) -> None:
    settings.MAX_OPEN_ASKS_PER_ACCOUNT, settings.OPEN_ASKS_KEPT_FOR_PEOPLE = 5, 2
    mails = [asking.receive(**{"from": f"a{number}@client.com"}) for number in range(8)]
    requests = iter(
        [
            asking.request("archive", {"email_id": mail}, origin=replace(CHAT, turn_id=mail))
            for mail in mails
        ]
    )

    results = in_threads(8, lambda: execute(next(requests)))

    assert sorted(result.reason for result in results) == (
        ["needs_approval"] * 3 + ["too_many_asks_waiting"] * 5
    )
    assert questions() == Approval.objects.count() == 3
    for result in results:
        if result.reason == "too_many_asks_waiting":
            assert phases(result) == [("blocked", "blocked", "too_many_asks_waiting")]
    connections.close_all()
