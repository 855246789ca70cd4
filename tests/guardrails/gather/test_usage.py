"""Rates, counted in the transaction that decides, at the real sandbox and in many threads."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from audit.ledger.ids import uuid7
from audit.ledger.selectors import recorded
from guardrails.contracts import ActionResult, Origin
from guardrails.decide import evidence
from guardrails.execute.executor import execute
from guardrails.facts.counts import Counts, Question, Use
from guardrails.gather import usage
from guardrails.models import Approval, CeilingLimit, Usage
from guardrails.policies import drafts, simulation
from integrations.providers.data_service.writer import DataServiceWriter
from tests.guardrails.approvals import confirm
from tests.guardrails.office import (
    CHAT,
    Office,
    in_threads,
    interrupted,
    phases,
    policy_that_decided,
)

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)

SEVEN = {"kind": "rate", "max": 7, "per": "hour"}


def rate(most: int, per: str = "hour") -> dict[str, Any]:
    return {"kind": "rate", "max": most, "per": per}


def archive(office: Office, **changes: Any) -> ActionResult:
    return execute(office.request("archive", {"email_id": office.receive()}, **changes))


def send(office: Office, *to: str, run: str = "turn-1") -> ActionResult:
    return execute(
        office.request(
            "send_email",
            {"to": list(to), "subject": "Hello", "body": "Hello."},
            origin=Origin(trigger="chat", turn_id=run, user_words=" ".join(to)),
        )
    )


def permit_sending(office: Office, *conditions: dict[str, Any], mode: str = "auto") -> None:
    office.permit("send_email", mode, conditions=conditions)
    office.list_target("send_email", "recipient_domain", "company.com", "Us")


def age(by: timedelta) -> None:
    """Lets time pass for everything counted so far."""
    for row in Usage.objects.all():
        Usage.objects.filter(pk=row.pk).update(
            counted_at=row.counted_at and row.counted_at - by,
            asked_at=row.asked_at and row.asked_at - by,
            updated_at=row.updated_at - by,
        )


def test_a_rate_refuses_with_the_time_when_it_is_possible_again(office: Office) -> None:
    office.permit("archive", conditions=[rate(2)])
    first = archive(office)
    archive(office)

    result = archive(office)

    began = Usage.objects.get(action_id=first.action_id).counted_at
    assert began is not None
    again = (began + timedelta(hours=1, minutes=1)).strftime("%Y-%m-%d %H:%M UTC")
    assert (result.status, result.reason) == ("refused", "rate_exceeded")
    assert result.sentence == (
        "This was done as often as is permitted for now. This would be number 3 within one hour; "
        f"2 may be. Possible again from {again}."
    )
    assert phases(result) == [("blocked", "blocked", "rate_exceeded")]
    assert len(office.calls()) == 2


def test_the_window_slides(office: Office) -> None:
    office.permit("archive", conditions=[rate(1)])
    archive(office)
    age(timedelta(minutes=59))
    assert archive(office).reason == "rate_exceeded"
    age(timedelta(minutes=1))
    assert archive(office).status == "succeeded"
    assert len(office.calls()) == 2


def test_a_day_is_longer_than_an_hour(office: Office) -> None:
    office.permit("archive", conditions=[rate(1, "day")])
    archive(office)
    age(timedelta(hours=23))
    assert archive(office).reason == "rate_exceeded"
    age(timedelta(hours=1))
    assert archive(office).status == "succeeded"


def test_a_rate_of_the_ceiling_counts_beside_that_of_the_allowed_action(office: Office) -> None:
    CeilingLimit.objects.create(
        organisation=office.organisation, at_most="auto", conditions=[rate(1)]
    )
    office.permit("archive", conditions=[rate(5)])
    office.permit("mark_read")
    assert archive(office).status == "succeeded"
    assert archive(office).reason == "rate_exceeded"
    read = execute(office.request("mark_read", {"email_id": office.receive()}))
    assert read.status == "succeeded"


def test_one_action_counts_once_however_often_it_is_tried(office: Office) -> None:
    office.permit("archive", conditions=[rate(2)])
    request = office.request("archive", {"email_id": office.receive()})
    assert {execute(request).status for _ in range(3)} == {"succeeded"}
    assert archive(office).status == "succeeded"
    assert archive(office).reason == "rate_exceeded"


def test_a_retry_after_a_crash_counts_once(office: Office) -> None:
    CeilingLimit.objects.create(
        organisation=office.organisation, at_most="auto", conditions=[rate(1)]
    )
    request = interrupted(office, after_effect=False)
    assert Usage.objects.count() == 1
    assert execute(request).status == "succeeded"
    assert archive(office).reason == "rate_exceeded"
    assert len(office.calls()) == 1


def test_what_is_so_already_and_what_is_refused_do_not_count(office: Office) -> None:
    office.permit("archive", conditions=[rate(1)])
    done = office.request("archive", {"email_id": office.receive(labels=["UNREAD"])})
    unknown = office.request("archive", {"email_id": "mail-nowhere"})
    assert [execute(one).status for one in (done, unknown)] == ["noop", "refused"]
    assert not Usage.objects.exists()
    assert archive(office).status == "succeeded"


def test_an_ask_counts_when_it_is_confirmed(office: Office) -> None:
    office.permit("archive", "ask", conditions=[rate(1)])
    first, second = archive(office), archive(office)
    assert (first.status, second.status) == ("pending", "pending")

    confirmed = [confirm(one) for one in Approval.objects.order_by("created_at")]

    assert [one.reason for one in confirmed] == ["performed", "rate_exceeded"]
    assert archive(office).reason == "rate_exceeded"
    assert len(office.calls()) == 1


def test_a_run_may_ask_so_often_and_no_more(office: Office) -> None:
    office.permit("archive", "ask", conditions=[{"kind": "asks_per_run", "max": 2}])
    other = replace(CHAT, turn_id="turn-2")
    assert [archive(office).reason for _ in range(3)] == [
        "needs_approval",
        "needs_approval",
        "rate_exceeded",
    ]
    assert archive(office, origin=other).reason == "needs_approval"
    assert Approval.objects.count() == 3
    assert office.calls() == []


def test_asks_per_run_hold_in_many_threads(office: Office) -> None:
    office.permit("archive", "ask", conditions=[{"kind": "asks_per_run", "max": 3}])
    requests = iter([office.request("archive", {"email_id": office.receive()}) for _ in range(12)])
    results = in_threads(12, lambda: execute(next(requests)))
    assert Counter(one.reason for one in results) == {"needs_approval": 3, "rate_exceeded": 9}


def test_what_asks_nobody_is_no_ask(office: Office) -> None:
    office.permit("archive", conditions=[{"kind": "asks_per_run", "max": 1}])
    assert [archive(office).status for _ in range(3)] == ["succeeded"] * 3


def test_new_receivers_per_day(office: Office) -> None:
    permit_sending(office, {"kind": "new_receivers_per_day", "max": 2})
    assert send(office, "ada@company.com").status == "succeeded"
    assert send(office, "ada@company.com", "bob@company.com").status == "succeeded"
    assert send(office, "bob@company.com").status == "succeeded"
    assert send(office, "bob@company.com", "cy@company.com").reason == "rate_exceeded"
    age(timedelta(hours=24))
    assert send(office, "cy@company.com").status == "succeeded"
    assert send(office, "ada@company.com").status == "succeeded"
    assert len(office.calls()) == 5


def test_whom_nobody_wrote_to_for_thirty_days_is_new(office: Office) -> None:
    permit_sending(office, {"kind": "new_receivers_per_day", "max": 0})
    assert send(office, "ada@company.com").reason == "rate_exceeded"
    Usage.objects.create(
        action_id=uuid7(),
        account=office.mailbox,
        action_type="send_email",
        receivers=["ada@company.com"],
        counted_at=timezone.now() - timedelta(days=29),
    )
    assert send(office, "ada@company.com").status == "succeeded"
    age(timedelta(days=30))
    assert send(office, "ada@company.com").reason == "rate_exceeded"


def test_receivers_per_run_are_different_people_over_all_actions(office: Office) -> None:
    permit_sending(office, {"kind": "receivers_per_run", "max": 2})
    assert send(office, "ada@company.com").status == "succeeded"
    assert send(office, "ada@company.com", "bob@company.com").status == "succeeded"
    assert send(office, "cy@company.com").reason == "rate_exceeded"
    assert send(office, "bob@company.com").status == "succeeded"
    assert send(office, "cy@company.com", run="turn-2").status == "succeeded"


def test_what_an_outside_agent_does_in_a_day_is_one_run(office: Office) -> None:
    permit_sending(office, {"kind": "receivers_per_run", "max": 1})
    for address in ("ada@company.com", "bob@company.com"):
        office.list_target("send_email", "recipient", address)

    def sent(to: str, actor: str = "token:1") -> str:
        arguments = {"to": [to], "subject": "Lunch", "body": "Yes."}
        origin = Origin(trigger="mcp", agent="mcp", actor=actor)
        return execute(office.request("send_email", arguments, origin=origin)).reason

    assert [sent("ada@company.com"), sent("bob@company.com")] == ["performed", "rate_exceeded"]
    assert sent("ada@company.com") == "performed"
    assert sent("bob@company.com", "token:2") == "performed"  # another agent


def test_deletes_per_hour_count_whatever_destroys(office: Office) -> None:
    CeilingLimit.objects.create(
        organisation=office.organisation,
        at_most="auto",
        conditions=[{"kind": "deletes_per_hour", "max": 1}],
    )
    office.permit("delete_draft")
    office.permit("archive")
    for number in range(2):
        office.put("drafts", id=f"draft-{number}")
        result = execute(office.request("delete_draft", {"draft_id": f"draft-{number}"}))
        assert result.approval_id is not None
    first, second = (confirm(one) for one in Approval.objects.order_by("created_at"))
    assert (first.reason, second.reason) == ("performed", "rate_exceeded")
    assert archive(office).status == "succeeded"


def test_numbers_add_up_over_a_day(office: Office) -> None:
    question = Question(what="sum", per="day", max=100, field="amount")
    missing = Question(what="sum", per="day", max=100, field="other")

    def use(amount: float) -> Use:
        return Use(
            action_type="archive",
            run="turn-1",
            hidden=False,
            receivers=(),
            destructive=False,
            amounts={"amount": amount},
        )

    first, second = (office.request("archive", {}) for _ in range(2))
    usage.note(use(60), request=first, now=timezone.now())
    counts = usage.counted([question, missing], use(41), request=second, now=timezone.now())
    found = counts.of(question)
    assert found is not None
    assert (found.own, found.count, found.within) == (41, 101, False)
    assert counts.of(missing) is None
    age(timedelta(days=1))
    later = usage.counted([question], use(41), request=second, now=timezone.now()).of(question)
    assert later is not None
    assert (later.count, later.within) == (41, True)


def test_one_accounts_usage_is_not_anothers(office: Office) -> None:
    office.permit("archive", conditions=[rate(1)])
    Usage.objects.create(
        action_id=uuid7(),
        account=office.tracker,
        action_type="archive",
        counted_at=timezone.now(),
    )
    assert archive(office).status == "succeeded"


def test_an_account_without_rates_pays_nothing(office: Office) -> None:
    office.permit("classify")
    office.list_target("classify", "label", "label_fyi", "FYI")
    wish = {"email_id": office.receive(), "label_id": "label_fyi"}
    assert execute(office.request("classify", wish)).status == "succeeded"
    assert not Usage.objects.exists()


def test_what_cannot_be_counted_is_refused(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    office.permit("archive", conditions=[rate(7)])
    nothing = Counts()
    monkeypatch.setattr(usage, "counted", lambda *given, **named: nothing)
    result = archive(office)
    assert (result.status, result.reason) == ("refused", "counts_unavailable")
    assert office.calls() == []


def test_a_try_counts_and_writes_nothing(office: Office) -> None:
    office.permit("archive", conditions=[rate(1)])
    request = office.request("archive", {"email_id": office.receive()})
    assert simulation.simulate(request).decision.verdict == "allow"
    assert not Usage.objects.exists()
    archive(office)
    assert simulation.simulate(request).decision.reason == "rate_exceeded"


def test_sixteen_threads_try_eighty_and_seven_are_done(office: Office) -> None:
    office.permit("archive", conditions=[SEVEN])
    requests = [office.request("archive", {"email_id": office.receive()}) for _ in range(80)]

    def work(number: int) -> list[ActionResult]:
        try:
            return [execute(one) for one in requests[number::16]]
        finally:
            connections.close_all()

    with ThreadPoolExecutor(16) as pool:
        results = [one for some in pool.map(work, range(16)) for one in some]

    assert Counter(one.reason for one in results) == {"performed": 7, "rate_exceeded": 73}
    assert len(office.calls()) == 7
    assert Usage.objects.count() == 7
    refused = [one for one in results if one.status == "refused"]
    assert all(phases(one) == [("blocked", "blocked", "rate_exceeded")] for one in refused)


def past_of(result: ActionResult) -> tuple[Any, Any]:
    row = recorded(result.action_id)[0]
    return evidence.past(row), policy_that_decided(row)


def test_decisions_under_a_rate_are_decided_again_alike(office: Office) -> None:
    allowed_action = office.permit("archive", conditions=[rate(1)])
    done, refused = archive(office), archive(office)
    for result in (done, refused):
        past, policy = past_of(result)
        again = evidence.decide_again(past, policy)
        assert again is not None
        row = recorded(result.action_id)[0]
        assert (again.verdict, again.reason, again.sentence) == (
            row.payload["decision"]["verdict"],
            row.payload["decision"]["reason"],
            row.payload["decision"]["sentence"],
        )
    past, policy = past_of(refused)
    allowed_action.conditions = [rate(2)]
    looser = evidence.decide_again(past, drafts.with_row(policy, allowed_action))
    assert looser is not None
    assert looser.verdict == "allow"
    allowed_action.conditions = [rate(2, "day")]
    assert evidence.decide_again(past, drafts.with_row(policy, allowed_action)) is None


def test_what_no_condition_looks_at_is_forgotten(office: Office) -> None:
    office.permit("archive", conditions=[SEVEN])
    archive(office)
    assert usage.sweep(now=timezone.now() + timedelta(days=30)) == 0
    assert usage.sweep(now=timezone.now() + timedelta(days=32)) == 1
    assert not Usage.objects.exists()


def test_the_lock_is_not_held_while_the_provider_is_asked(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = []
    original = DataServiceWriter.archive

    def watched(self: DataServiceWriter, email_id: str, *, key: str) -> Any:
        inside.append(connections["default"].in_atomic_block)
        return original(self, email_id, key=key)

    monkeypatch.setattr(DataServiceWriter, "archive", watched)
    office.permit("archive", conditions=[SEVEN])
    assert archive(office).status == "succeeded"
    assert inside == [False]
