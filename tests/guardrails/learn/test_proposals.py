from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from audit.contracts import Filters
from audit.ledger.selectors import actions
from guardrails.contracts.learning import Pattern, PatternProposal, Precedent, Proposed, Tried
from guardrails.learn import evidence, patterns, proposals
from guardrails.models import AllowedAction, LearnedPattern
from guardrails.policies.changes import Author
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
NOW = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
AGENT = Author(name="agent:mail_reader", door="agent")


def precedent(number: int, **changes: Any) -> Precedent:
    values: dict[str, Any] = {
        "item_id": f"mail-{number}",
        "thread_id": "t",
        "subject": f"Issue {number}",
        "occurred_at": NOW - timedelta(days=number),
        "side": "supporting",
        "by_person": True,
        "sentence": "Archive a mail: yes, in the mailbox.",
        "occasion": f"run-{number}",
    }
    return Precedent(**(values | changes))


ENOUGH = tuple(precedent(number) for number in range(5))


def propose(
    office: Office,
    *,
    precedents: tuple[Precedent, ...] = ENOUGH,
    proposed_by: Any = "webhook",
    actions: tuple[tuple[str, dict[str, Any]], ...] = (("archive", {}),),
    **changes: Any,
) -> Proposed:
    values: dict[str, Any] = {
        "id": UUID(int=0),
        "name": "Weekly",
        "sender_address": "news@weekly.example",
        "sender_domain": "",
        "list_id": "",
        "subject": "",
        "content_type": "email",
        "actions": actions,
    }
    return proposals.propose(
        PatternProposal(
            account=office.ref(office.mailbox),
            pattern=Pattern(**(values | changes)),
            proposed_by=proposed_by,
            example_id="mail-0",
            tried=Tried(precedents=precedents, mails=40, since=NOW - timedelta(days=90)),
            reason="The administrator approved this pattern.",
        ),
        author=AGENT,
        now=NOW,
    )


def acting(office: Office) -> list[UUID]:
    return [one.id for one in patterns.approved_patterns(office.ref(office.mailbox), now=NOW)]


def test_a_proposal_waits_acts_on_nothing_and_is_in_the_history(office: Office) -> None:
    proposed = propose(office, precedents=ENOUGH)

    row = LearnedPattern.objects.get()
    assert proposed == Proposed(
        status="new",
        sentence="It waits for an operator to approve it.",
        pattern_id=row.id,
    )
    assert (row.state, row.proposed_by, row.example_id) == ("proposed", "webhook", "mail-0")
    assert acting(office) == []
    filters = Filters(tenant_id=office.organisation.id, action_type="policy.change")
    [change] = actions(filters=filters).rows
    assert (change.actor_id, change.actor_type) == ("agent:mail_reader", "agent")
    assert change.payload["after"]["actions"] == [["archive", {}]]


def test_the_same_proposal_is_one_row_with_the_evidence_of_the_last_trial(
    office: Office,
) -> None:
    first = propose(office, precedents=(*ENOUGH, precedent(7, side="undecided")))
    again = propose(
        office,
        name="Another name",
        sender_address="NEWS@WEEKLY.example".replace("NEWS", "news"),
        precedents=(
            precedent(2),
            precedent(3, side="contradicting", sentence="Archive a mail: no."),
        ),
    )

    row = LearnedPattern.objects.get()
    assert (again.status, again.pattern_id) == ("known", first.pattern_id)
    assert [(one.item_id, one.side) for one in row.evidence.order_by("item_id")] == [
        ("mail-2", "supporting"),
        ("mail-3", "contradicting"),
    ]
    assert (row.tried_at, row.tried_mails) == (NOW, 40)


def test_the_same_matcher_with_other_actions_changes_nothing(office: Office) -> None:
    propose(office)
    taken = propose(office, actions=(("mark_read", {}),))

    assert taken.status == "taken"
    [only] = LearnedPattern.objects.get().actions.all()
    assert only.action_type == "archive"


def test_a_suspended_pattern_is_not_woken_by_a_proposal(office: Office) -> None:
    key = propose(office).pattern_id
    assert key is not None
    patterns.approve(pattern_id=key, by="operator:olga", now=NOW)
    patterns.suspend(pattern_id=key, why="Corrected.", now=NOW)

    again = propose(office, proposed_by="repetition", precedents=ENOUGH)
    assert (again.status, again.acts) == ("known", False)
    assert LearnedPattern.objects.get().state == "suspended"


@pytest.mark.parametrize(
    "changes",
    [
        {"sender_address": ""},
        {"sender_address": "Boss <boss@company.com>"},
        {"sender_address": "", "list_id": "a\nb"},
        {"actions": (("send_email", {"to": ["a@b.example"]}),)},
        {"actions": (("classify", {}),)},
        {"actions": (("archive", {"email_id": "another"}),)},
        {"actions": (("invented", {}),)},
    ],
)
def test_what_could_never_be_a_pattern_is_not_stored(office: Office, changes: Any) -> None:
    assert propose(office, **changes).status == "invalid"
    assert not LearnedPattern.objects.exists()


def test_a_flood_of_proposals_ends(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proposals, "MAX_WAITING", 2)
    found = [propose(office, list_id=f"list-{number}").status for number in range(3)]
    assert found == ["new", "new", "crowded"]


TOO_LITTLE = {
    "none": ((), "needs 3 like mails that a person treated so: here it is 0."),
    "two": (ENOUGH[:2], "needs 3 like mails that a person treated so: here it is 2."),
    "the agent's own": (
        tuple(precedent(number, by_person=False) for number in range(50)),
        "needs 3 like mails that a person treated so: here it is 0.",
    ),
    "one against": (
        (*ENOUGH, precedent(9, side="contradicting", by_person=False)),
        "needs mail that nobody treated otherwise: here 1 speak against it.",
    ),
    "of one run": (
        tuple(precedent(number, occasion="run-1") for number in range(50)),
        "needs mails treated so on 3 occasions: here it is 1.",
    ),
    "of two runs": (
        (*ENOUGH[:1], *(precedent(number, occasion="run-9") for number in (7, 8, 9))),
        "needs mails treated so on 3 occasions: here it is 2.",
    ),
}


@pytest.mark.parametrize("proposed_by", ["chat", "webhook", "repetition"])
@pytest.mark.parametrize(("precedents", "sentence"), TOO_LITTLE.values(), ids=TOO_LITTLE)
def test_without_enough_evidence_there_is_no_proposal_from_anybody(
    office: Office, precedents: tuple[Precedent, ...], sentence: str, proposed_by: str
) -> None:
    exempt(office)
    refused = propose(office, precedents=precedents, proposed_by=proposed_by)

    assert (refused.status, refused.pattern_id, refused.acts) == ("unproven", None, False)
    assert refused.sentence == f"A learned pattern {sentence} {proposals.UNTIL_THEN}"
    assert not LearnedPattern.objects.exists()
    filters = Filters(tenant_id=office.organisation.id, action_type="policy.change")
    assert actions(filters=filters).rows == ()


@pytest.mark.parametrize(("precedents", "sentence"), TOO_LITTLE.values(), ids=TOO_LITTLE)
def test_a_proposal_whose_evidence_fell_away_is_not_approved_until_it_is_back(
    office: Office, precedents: tuple[Precedent, ...], sentence: str
) -> None:
    key = propose(office).pattern_id
    assert key is not None
    proposals.gather(key, Tried(precedents=precedents, mails=40), now=NOW)

    assert not patterns.approve(pattern_id=key, by="operator:olga", now=NOW)
    patterns.decline(pattern_id=key, why="olga declined it.", now=NOW)
    assert not patterns.approve(pattern_id=key, by="operator:olga", now=NOW)
    row = LearnedPattern.objects.get()
    lack = evidence.refuse_approval(row, row.evidence.all())
    assert str(lack) == f"A learned pattern {sentence}"
    assert acting(office) == []

    proposals.gather(key, Tried(precedents=ENOUGH[:3], mails=40), now=NOW)
    assert patterns.approve(pattern_id=key, by="operator:olga", now=NOW)
    assert acting(office) == [key]


def test_what_a_person_approved_they_may_let_act_again_but_not_once_it_was_changed(
    office: Office,
) -> None:
    key = propose(office).pattern_id
    assert key is not None
    assert patterns.approve(pattern_id=key, by="operator:olga", now=NOW)
    proposals.gather(key, Tried(precedents=(precedent(1, side="contradicting"),)), now=NOW)
    patterns.suspend(pattern_id=key, why="Corrected.", now=NOW)
    assert patterns.approve(pattern_id=key, by="operator:olga", now=NOW)

    patterns.suspend(pattern_id=key, why="Corrected.", now=NOW)
    patterns.reopen(pattern_id=key)
    assert not patterns.approve(pattern_id=key, by="operator:olga", now=NOW)
    proposals.gather(key, Tried(precedents=(precedent(1, side="contradicting"),)), now=NOW)
    assert not patterns.approve(pattern_id=key, by="operator:olga", now=NOW)
    assert LearnedPattern.objects.get().state == "suspended"
    proposals.gather(key, Tried(precedents=ENOUGH), now=NOW)
    assert patterns.approve(pattern_id=key, by="operator:olga", now=NOW)


# --- exempted from approval ------------------------------------------------------------


def exempt(office: Office, **changes: Any) -> None:
    office.permit("archive", patterns_unapproved=True, **changes)


def test_an_exempted_action_acts_at_once_on_enough_evidence(office: Office) -> None:
    exempt(office)
    proposed = propose(office, proposed_by="repetition", precedents=ENOUGH)

    row = LearnedPattern.objects.get()
    assert proposed.acts
    assert (row.state, row.approved_by) == ("approved", "policy:exempted")
    assert acting(office) == [row.id]
    AllowedAction.objects.update(patterns_unapproved=False)
    assert acting(office) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"proposed_by": "webhook"},
        {"precedents": ENOUGH[:4]},
        {"precedents": (*ENOUGH[:4], precedent(9, by_person=False))},
        {"actions": (("archive", {}), ("mark_read", {}))},
    ],
)
def test_an_exemption_covers_nothing_else(office: Office, changes: Any) -> None:
    exempt(office)
    proposed = propose(office, **({"proposed_by": "chat", "precedents": ENOUGH} | changes))

    assert (proposed.status, proposed.acts) == ("new", False)
    assert LearnedPattern.objects.get().state == "proposed"


def alike(by_person: int, seen: int, **changes: Any) -> tuple[Precedent, ...]:
    return (
        *(precedent(number) for number in range(by_person)),
        *(precedent(50 + number, by_person=False, seen=True, **changes) for number in range(seen)),
    )


def test_an_exemption_needs_what_people_did_themselves(office: Office) -> None:
    exempt(office)
    assert not propose(office, proposed_by="repetition", precedents=alike(4, 30)).acts


def test_nobody_is_exempted_by_default(office: Office) -> None:
    office.permit("archive")
    assert not propose(office, proposed_by="repetition", precedents=ENOUGH).acts
