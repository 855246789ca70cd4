"""What one run puts out of its owner's sight is counted with no rate at all, also in threads."""

from dataclasses import replace
from typing import Any

import pytest

from audit.ledger.selectors import recorded
from guardrails.contracts import ActionResult
from guardrails.decide import evidence
from guardrails.execute.executor import execute
from guardrails.facts.counts import UNASKED
from guardrails.models import Approval, Usage
from tests.guardrails.approvals import confirm
from tests.guardrails.office import (
    CHAT,
    Office,
    in_threads,
    policy_that_decided,
    webhook,
)

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def archive(office: Office, mail: str = "", **changes: Any) -> ActionResult:
    wish = {"email_id": mail or office.receive()}
    return execute(office.request("archive", wish, **changes))


def run_of(number: int) -> dict[str, Any]:
    return {"origin": replace(CHAT, turn_id=f"turn-{number}")}


def test_sixteen_at_once_put_ten_mails_away(office: Office) -> None:
    office.permit("archive")
    mails = [office.receive() for _ in range(16)]

    results = in_threads(16, lambda: archive(office, mails.pop()))

    assert sorted(one.status for one in results) == ["pending"] * 6 + ["succeeded"] * UNASKED
    assert len(office.calls()) == UNASKED


def test_a_large_inbox_gives_a_quarter_and_every_run_begins_anew(office: Office) -> None:
    office.permit("archive")
    for _ in range(60):
        office.receive()
    ten = [archive(office).status for _ in range(UNASKED)]

    # Fifty-two are left with the next two; a quarter of them is 15.
    more = [archive(office).status for _ in range(7)]

    assert ten == ["succeeded"] * UNASKED
    assert more == ["succeeded"] * 5 + ["pending"] * 2
    assert archive(office, **run_of(2)).status == "succeeded"


def test_what_the_user_named_does_not_count(office: Office) -> None:
    office.permit("archive")
    mails = [office.receive() for _ in range(UNASKED + 3)]
    named = {"origin": replace(CHAT, user_words=f"Archive {' '.join(mails)} please.")}

    assert {archive(office, mail, **named).status for mail in mails} == {"succeeded"}
    assert not Usage.objects.filter(hidden=True).exists()
    assert archive(office).status == "succeeded"


def test_a_yes_lets_one_question_through_and_is_counted(office: Office) -> None:
    office.permit("archive")
    office.permit("mark_read")
    for _ in range(UNASKED):
        archive(office)
    asked = archive(office)

    assert (asked.status, len(office.calls())) == ("pending", UNASKED)
    other = execute(office.request("mark_read", {"email_id": office.receive()}))
    assert other.status == "pending"  # hiding is counted over all actions
    assert confirm(Approval.objects.get(action_id=asked.action_id)).status == "succeeded"
    assert Usage.objects.filter(hidden=True, counted_at__isnull=False).count() == UNASKED + 1


def test_a_mail_that_is_moved_goes_out_of_sight_too(office: Office) -> None:
    office.permit("move_email")
    office.list_target("move_email", "folder", "folder_clients", "Clients")
    moved = [
        execute(
            office.request(
                "move_email", {"email_id": office.receive(), "folder_id": "folder_clients"}
            )
        )
        for _ in range(UNASKED + 1)
    ]

    assert [one.status for one in moved] == ["succeeded"] * UNASKED + ["pending"]
    assert len(office.calls()) == UNASKED


def test_mail_by_mail_what_arrives_is_no_run(office: Office) -> None:
    office.permit("archive")
    for number in range(UNASKED + 2):
        mail = office.receive(thread_id=f"t-{number}")
        origin = replace(webhook(mail, f"t-{number}"), turn_id="turn-1")
        assert archive(office, mail, origin=origin).status == "succeeded"


def test_it_is_decided_again_from_what_was_kept(office: Office) -> None:
    office.permit("archive")
    for _ in range(UNASKED):
        archive(office)
    asked = archive(office)

    [row] = recorded(asked.action_id)
    past = evidence.past(row)

    assert past is not None
    again = evidence.decide_again(past, policy_that_decided(row))
    assert again is not None
    assert (again.verdict, again.sentence) == ("ask", row.payload["decision"]["sentence"])
