"""Permitted actions that wait: held, recalled, and never carried out after that."""

from collections import Counter
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from audit.contracts import Entry
from audit.ledger.selectors import recorded
from guardrails.approve import deadlines
from guardrails.contracts import ActionResult, Origin
from guardrails.execute import executor, held_sends, switches
from guardrails.execute.executor import execute
from guardrails.execute.held_sends import HeldSendNotFound, TooLate
from guardrails.execute.releases import release_due
from guardrails.execute.switches import Scope
from guardrails.gather import judgement
from guardrails.models import Approval, CeilingLimit, HeldSend, Usage
from guardrails.policies.changes import Author
from tests.guardrails.approvals import confirm
from tests.guardrails.office import Office, in_threads, phases

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)

BOB = "bob@company.com"
MAIL = {"to": [BOB], "subject": "Hello", "body": "Hello."}
TYPED = Origin(trigger="chat", turn_id="turn-1", user_words=BOB)
OLGA = "operator:olga"


def permit(office: Office, mode: str = "auto", **fields: Any) -> None:
    office.permit("send_email", mode, **({"hold_seconds": 300} | fields))
    office.list_target("send_email", "recipient_domain", "company.com", "Us")


def send(office: Office) -> ActionResult:
    return execute(office.request("send_email", MAIL, origin=TYPED))


def recall(office: Office, held_send: HeldSend, **fields: Any) -> object:
    given: dict[str, Any] = {
        "organisation_id": office.organisation.id,
        "held_send_id": held_send.id,
        "by": OLGA,
    }
    return held_sends.recall(**(given | fields))


def due() -> None:
    HeldSend.objects.update(until=timezone.now())


def test_what_reaches_others_is_held_and_said_to_be(office: Office) -> None:
    permit(office)
    before = timezone.now()

    result = send(office)

    held_send = HeldSend.objects.get()
    assert before + timedelta(seconds=300) <= held_send.until
    assert (result.status, result.reason, result.held_send_id) == ("held", "held", held_send.id)
    assert result.held_until == held_send.until
    assert result.sentence == held_sends.until_when(held_send.until, now=before)
    assert result.sentence.endswith(" UTC; it can be recalled until then.")
    assert phases(result) == [("control", "waiting", "held")]
    row = recorded(result.action_id)[0]
    assert (row.decision, row.payload["decision"]["hold_seconds"]) == ("allowed", 300)
    assert office.calls() == []


def test_asking_again_for_a_held_action_holds_it_once(office: Office) -> None:
    permit(office)
    request = office.request("send_email", MAIL, origin=TYPED)
    assert execute(request) == execute(request)
    assert HeldSend.objects.count() == 1
    assert len(recorded(request.action_id)) == 1
    assert office.calls() == []


def test_the_longest_hold_counts(office: Office) -> None:
    permit(office, hold_seconds=60)
    for action_type, seconds in (("", 600), ("send_email", 30), ("archive", 9000)):
        CeilingLimit.objects.create(
            organisation=office.organisation,
            action_type=action_type,
            at_most="auto",
            hold_seconds=seconds,
        )
    result = send(office)
    assert recorded(result.action_id)[0].payload["decision"]["hold_seconds"] == 600
    assert result.status == "held"


def test_what_nobody_else_sees_is_not_held(office: Office) -> None:
    office.permit("archive", hold_seconds=300)
    result = execute(office.request("archive", {"email_id": office.receive()}))
    assert result.status == "succeeded"
    assert not HeldSend.objects.exists()


def test_a_recalled_action_is_never_carried_out(office: Office) -> None:
    permit(office)
    request = office.request("send_email", MAIL, origin=TYPED)
    result = execute(request)

    card = recall(office, HeldSend.objects.get())
    due()
    released = release_due(now=timezone.now())
    again = execute(request)

    assert (released, getattr(card, "state", "")) == (0, "recalled")
    assert (again.status, again.reason) == ("refused", "recalled")
    assert phases(result) == [("control", "waiting", "held"), ("control", "denied", "recalled")]
    row = recorded(result.action_id)[-1]
    assert (row.actor_type, row.actor_id, row.decision) == ("admin", OLGA, "blocked")
    assert office.calls() == []


def test_recalling_again_changes_nothing(office: Office) -> None:
    permit(office)
    result = send(office)
    held_send = HeldSend.objects.get()
    assert recall(office, held_send) == recall(office, held_send, by="operator:omar")
    assert len(phases(result)) == 2
    assert HeldSend.objects.get().decided_by == OLGA


def test_a_released_action_cannot_be_recalled(office: Office) -> None:
    permit(office)
    result = send(office)
    due()
    assert release_due(now=timezone.now()) == 1
    with pytest.raises(TooLate, match="released at"):
        recall(office, HeldSend.objects.get())
    assert phases(result)[-1] == ("outcome", "succeeded", "performed")


def test_another_users_hold_is_as_unknown_as_none(office: Office) -> None:
    permit(office)
    send(office)
    held_send = HeldSend.objects.get()
    for fields in (
        {"external_user_id": "other"},
        {"organisation_id": uuid4()},
        {"held_send_id": uuid4()},
    ):
        with pytest.raises(HeldSendNotFound):
            recall(office, held_send, **fields)
    assert HeldSend.objects.get().state == "held"


def test_a_confirmed_action_is_held_too_and_stays_confirmed_meanwhile(office: Office) -> None:
    permit(office, "ask")
    asked = send(office)
    approval = Approval.objects.get()
    assert "It is held for 5 minutes first." in approval.reason

    first = confirm(approval, decided_by=OLGA, digest=approval.digest)
    second = confirm(approval, decided_by=OLGA, digest=approval.digest)

    assert (asked.status, first.status, second.status) == ("pending", "held", "held")
    assert deadlines.finish_confirmed(older_than_seconds=0, now=timezone.now()) == 0
    assert Approval.objects.get().state == "approved"
    assert office.calls() == []
    due()
    assert release_due(now=timezone.now()) == 1
    assert deadlines.finish_confirmed(older_than_seconds=0, now=timezone.now()) == 1
    assert Approval.objects.get().state == "executed"
    attempt = recorded(asked.action_id)[-2]
    assert (attempt.decision, attempt.approved_by) == ("approved", OLGA)
    assert len(office.calls()) == 1


@pytest.mark.parametrize("scope", ["everything", "organisation", "account", "action", "source"])
def test_a_thrown_switch_recalls_what_it_stops(office: Office, scope: str) -> None:
    permit(office)
    results = [send(office) for _ in range(2)]
    key = office.organisation.id
    thrown = switches.throw(
        {
            "everything": Scope(),
            "organisation": Scope(organisation_id=key),
            "account": Scope(organisation_id=key, account_id=office.mailbox.id),
            "action": Scope(organisation_id=key, action_type="send_email"),
            "source": Scope(organisation_id=key, source="gmail"),
        }[scope],
        why="A phishing wave",
        author=Author(name=OLGA, door="admin"),
        patience_seconds=0,
    )
    switches.lift(switch_id=thrown.switch_id, why="Over", author=Author(name=OLGA, door="admin"))
    due()

    assert thrown.recalled == 2
    assert release_due(now=timezone.now()) == 0
    assert [phases(one)[-1] for one in results] == [("control", "denied", "recalled")] * 2
    assert office.calls() == []


def test_a_switch_of_something_else_recalls_nothing(office: Office) -> None:
    permit(office)
    send(office)
    key = office.organisation.id
    for scope in (
        Scope(organisation_id=key, account_id=office.tracker.id),
        Scope(organisation_id=key, action_type="archive"),
        Scope(organisation_id=key, source="jira"),
    ):
        thrown = switches.throw(scope, why="x", author=Author(name=OLGA, door="admin"))
        assert thrown.recalled == 0
    assert HeldSend.objects.get().state == "held"


def test_a_switch_thrown_while_something_is_being_held_recalls_it(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    permit(office)
    keep = held_sends.keep

    def late(*given: Any, **named: Any) -> HeldSend:
        switches.throw(
            Scope(organisation_id=office.organisation.id),
            why="Now",
            author=Author(name=OLGA, door="admin"),
            patience_seconds=0,
        )
        return keep(*given, **named)

    monkeypatch.setattr(held_sends, "keep", late)
    result = send(office)
    assert (result.status, result.reason) == ("refused", "recalled")
    assert HeldSend.objects.get().state == "recalled"
    assert office.calls() == []


def test_a_switch_whose_process_died_recalls_with_the_sweep(office: Office) -> None:
    permit(office)
    send(office)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(held_sends, "recall_all", lambda rows: 0)
        switches.throw(
            Scope(), why="Now", author=Author(name=OLGA, door="admin"), patience_seconds=0
        )
    assert HeldSend.objects.get().state == "held"
    assert switches.recall_stopped() == 1
    assert HeldSend.objects.get().state == "recalled"


def test_a_recall_whose_process_died_gets_its_row_with_the_sweep(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    permit(office)
    request = office.request("send_email", MAIL, origin=TYPED)
    result = execute(request)

    def killed(entry: Entry) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("audit.ledger.ledger.append", killed)
        with pytest.raises(KeyboardInterrupt):
            recall(office, HeldSend.objects.get())

    assert execute(request).reason == "recalled"
    assert phases(result)[-1] == ("control", "waiting", "held")
    assert held_sends.finish_recalled(older_than=timezone.now()) == 1
    assert held_sends.finish_recalled(older_than=timezone.now()) == 0
    assert phases(result)[-1] == ("control", "denied", "recalled")


def test_a_held_send_whose_process_died_is_made_by_the_next_try(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    permit(office)
    request = office.request("send_email", MAIL, origin=TYPED)

    def killed(*given: Any, **named: Any) -> HeldSend:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(held_sends, "keep", killed)
        with pytest.raises(KeyboardInterrupt):
            execute(request)

    assert execute(request).status == "held"
    assert HeldSend.objects.count() == 1
    assert len(recorded(request.action_id)) == 1


def test_a_recall_gives_its_rate_back(office: Office) -> None:
    permit(office, conditions=[{"kind": "rate", "max": 1, "per": "hour"}])
    assert send(office).status == "held"
    assert send(office).reason == "rate_exceeded"
    recall(office, HeldSend.objects.get())
    assert Usage.objects.get().counted_at is None
    assert send(office).status == "held"


def test_recall_and_release_at_the_same_moment_never_both(office: Office) -> None:
    permit(office)
    results = [send(office) for _ in range(12)]
    due()
    rows = list(HeldSend.objects.order_by("held_at"))
    work = iter(
        [lambda: release_due(now=timezone.now())] * 2 + [recalling(office, r) for r in rows]
    )

    def run() -> None:
        next(work)()

    in_threads(14, run)

    states = Counter(HeldSend.objects.values_list("state", flat=True))
    assert states["recalled"] + states["released"] == 12
    assert len(office.calls()) == states["released"]
    for result in results:
        held_send = HeldSend.objects.get(action_id=result.action_id)
        ended = phases(result)[-1]
        assert ended == (
            ("control", "denied", "recalled")
            if held_send.state == "recalled"
            else ("outcome", "succeeded", "performed")
        )


def recalling(office: Office, held_send: HeldSend) -> Any:
    def work() -> None:
        try:
            recall(office, held_send)
        except TooLate:
            return

    return work


def test_no_call_begins_after_an_acknowledged_recall(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    permit(office)
    result = send(office)
    due()
    judge = judgement.judge
    told = []

    def late(*given: Any, **named: Any) -> Any:
        try:
            recall(office, HeldSend.objects.get())
        except TooLate:
            told.append("too late")
        return judge(*given, **named)

    monkeypatch.setattr(executor, "judge", late)
    release_due(now=timezone.now())
    assert told == ["too late"]
    assert phases(result)[-1] == ("outcome", "succeeded", "performed")
    assert len(office.calls()) == 1
