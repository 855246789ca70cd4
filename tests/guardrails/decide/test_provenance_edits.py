"""A person changes what was proposed: another action, decided and confirmed for itself."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from django.db import connections
from django.utils import timezone

from audit.ledger.selectors import recorded
from guardrails.actions.base import InvalidArguments
from guardrails.approve.approvals import ApprovalConflict, ApprovalNotFound
from guardrails.contracts import ActionResult
from guardrails.decide import evidence, provenance
from guardrails.execute.executor import execute
from guardrails.models import Approval
from tests.guardrails.approvals import ask, confirm, edit
from tests.guardrails.office import CHAT, Office, phases, policy_that_decided

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


@pytest.fixture
def waiting(office: Office) -> Approval:
    office.permit("send_email", "ask")
    office.list_target("send_email", "recipient_domain", "client.com")
    wish = {"to": ["ada@client.com", "eve@client.com"], "subject": "Offer", "body": "Dear Ada"}
    return ask(office, "send_email", wish, origin=replace(CHAT, reason="Asked."))


def revision_of(approval: Approval) -> Approval:
    return Approval.objects.get(revises=approval)


def test_what_a_person_typed_is_known_by_its_path() -> None:
    proposed = {"to": ["a@x.com", "b@x.com"], "subject": "Hi", "body": "B", "cc": []}
    arguments = {"to": ["b@x.com", "c@x.com"], "subject": "Hi", "body": "C", "cc": []}

    assert provenance.typed_paths(arguments, proposed=proposed) == {"to[1]", "body"}
    assert provenance.typed_paths({"labels": ["x"]}, proposed={"labels": None}) == {"labels[0]"}
    assert provenance.typed_paths(proposed, proposed=proposed) == frozenset()


def test_an_edit_is_another_action_that_waits_in_place_of_the_first(
    office: Office, waiting: Approval
) -> None:
    result = edit(waiting, {"to": ["joe@client.com"]}, digest=waiting.digest)

    revision = revision_of(waiting)
    assert (result.status, result.reason, result.approval_id) == (
        "pending",
        "needs_approval",
        revision.id,
    )
    assert result.sentence == (
        "A person must confirm this first. A person changed what the agent proposed."
    )
    assert revision.arguments == waiting.arguments | {"to": ["joe@client.com"]}
    assert result.proposed == waiting.arguments
    assert revision.digest != waiting.digest
    assert revision.provenance["to[0]"] == "U"
    assert revision.provenance["body"] == "X"
    old = Approval.objects.get(pk=waiting.pk)
    assert (old.state, old.decided_by) == ("superseded", "token:web")
    last = recorded(waiting.action_id)[-1]
    assert (last.status, last.decision_reason, last.actor_id) == ("denied", "edited", "token:web")
    assert last.payload["replaced_by"] == str(revision.action_id)
    assert office.calls() == []


def test_what_runs_is_recorded_with_what_was_proposed_beside_it(
    office: Office, waiting: Approval
) -> None:
    edit(waiting, {"subject": "Our offer"})
    revision = revision_of(waiting)

    result = confirm(revision, digest=revision.digest)

    assert (result.status, result.proposed) == ("succeeded", waiting.arguments)
    (call,) = office.calls()
    assert call["body"]["subject"] == "Our offer"
    rows = recorded(revision.action_id)
    assert [(row.phase, row.status) for row in rows] == [
        ("control", "waiting"),
        ("control", "recorded"),
        ("attempt", "pending"),
        ("outcome", "succeeded"),
    ]
    assert {row.parent_action_id for row in rows} == {waiting.action_id}
    assert {row.payload["proposed_by_agent"]["subject"] for row in rows} == {"Offer"}
    assert {row.payload["arguments"]["subject"] for row in rows} == {"Our offer"}


def test_an_edit_is_confirmed_for_itself(office: Office, waiting: Approval) -> None:
    """The word for the first proposal is no word for what it was changed to."""
    edit(waiting, {"body": "Dear Ada,"})

    with pytest.raises(
        ApprovalConflict, match="no longer waiting: changed by a user of the API at"
    ):
        confirm(waiting)
    with pytest.raises(ApprovalConflict, match="not what was shown"):
        confirm(revision_of(waiting), digest=waiting.digest)

    assert revision_of(waiting).state == "pending"
    assert office.calls() == []


def test_an_edit_the_policy_refuses_leaves_the_first_waiting(
    office: Office, waiting: Approval
) -> None:
    result = edit(waiting, {"bcc": ["mallory@evil.example"]})

    assert (result.status, result.reason) == ("refused", "target_not_listed")
    assert Approval.objects.get(pk=waiting.pk).state == "pending"
    assert not Approval.objects.filter(revises=waiting).exists()
    (row,) = recorded(result.action_id)
    assert (row.phase, row.parent_action_id) == ("blocked", waiting.action_id)
    assert row.payload["edited_by"] == "token:web"
    assert confirm(waiting).status == "succeeded"
    assert [call["body"]["bcc"] for call in office.calls()] == [[]]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"to": "joe@client.com"}, r"^to: "),
        ({"to": []}, r"^to: "),
        ({"to": None}, r"^to: "),
        ({"attachment": "secret"}, r"^attachment: "),
        ({"subject": "a\nbcc: x@y.z"}, r"^subject: "),
        ({"subject": "Offer"}, r"^nothing is changed$"),
        ({"reply_to_id": "mail-2"}, r"^reply_to_id: another object needs a new action$"),
    ],
)
def test_an_edit_must_fit_the_action(
    office: Office, waiting: Approval, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidArguments, match=message):
        edit(waiting, changes)
    assert Approval.objects.get().state == "pending"


def test_the_same_edit_again_is_the_same_revision(office: Office, waiting: Approval) -> None:
    first, again = edit(waiting, {"subject": "New"}), edit(waiting, {"subject": "New"})

    assert first == again
    with pytest.raises(ApprovalConflict, match="no longer waiting"):
        edit(waiting, {"subject": "Other"})
    assert Approval.objects.count() == 2


def test_a_revision_can_be_changed_again(office: Office, waiting: Approval) -> None:
    edit(waiting, {"to": ["joe@client.com"]})
    edit(revision_of(waiting), {"subject": "Third"})

    third = revision_of(revision_of(waiting))

    assert third.provenance["to[0]"] == "U"  # typed in the first edit
    assert third.provenance["subject"] == "U"
    assert third.origin["proposed"] == waiting.arguments  # what the agent had said
    assert confirm(third).status == "succeeded"
    assert len(office.calls()) == 1


def test_what_was_decided_cannot_be_changed(office: Office, waiting: Approval) -> None:
    confirm(waiting)

    with pytest.raises(ApprovalConflict, match="no longer waiting: confirmed by"):
        edit(waiting, {"subject": "New"})
    assert Approval.objects.count() == 1


def test_an_overdue_approval_cannot_be_changed(office: Office, waiting: Approval) -> None:
    Approval.objects.filter(pk=waiting.pk).update(expires_at=timezone.now())

    with pytest.raises(ApprovalConflict, match="no longer waiting: expired"):
        edit(waiting, {"subject": "New"})

    assert Approval.objects.get().state == "expired"
    assert office.calls() == []


def test_strangers_cannot_edit(office: Office, waiting: Approval) -> None:
    for foreign in ({"organisation_id": uuid4()}, {"external_user_id": "x"}):
        with pytest.raises(ApprovalNotFound):
            edit(waiting, {"subject": "New"}, **foreign)
    with pytest.raises(ApprovalConflict):
        edit(waiting, {"subject": "New"}, digest="0" * 64)
    assert Approval.objects.get().state == "pending"


def test_a_limit_of_open_asks_does_not_stop_an_edit(
    office: Office, waiting: Approval, settings: Any
) -> None:
    settings.MAX_OPEN_ASKS_PER_TURN = 1

    assert edit(waiting, {"subject": "New"}).status == "pending"


def test_an_automatic_allowed_action_still_asks_about_an_edit(office: Office) -> None:
    allowed_action = office.permit("send_email", "ask")
    office.list_target("send_email", "recipient", "ada@client.com")
    wish = {"to": ["ada@client.com"], "subject": "Offer", "body": "Dear Ada"}
    execute(office.request("send_email", wish))
    allowed_action.approval_mode = "auto"
    allowed_action.save()

    result = edit(Approval.objects.get(), {"subject": "New"})

    assert result.status == "pending"
    assert office.calls() == []


def test_a_decision_about_an_edit_can_be_decided_again(office: Office, waiting: Approval) -> None:
    edit(waiting, {"to": ["joe@client.com"]})
    row = recorded(revision_of(waiting).action_id)[0]
    past = evidence.past(row)
    policy = policy_that_decided(row)
    assert past is not None

    again = evidence.decide_again(past, policy)

    assert again is not None
    assert (again.verdict, again.provenance["to[0]"]) == ("ask", "U")


@pytest.mark.parametrize("round_number", range(3))
def test_of_edits_and_answers_at_once_one_wins(
    office: Office, waiting: Approval, round_number: int
) -> None:
    def answer(number: int) -> str:
        try:
            if number % 2:
                return confirm(waiting).status
            return edit(waiting, {"subject": f"Number {number}"}).status
        except ApprovalConflict:
            return "conflict"
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(answer, range(8)))

    old = Approval.objects.get(pk=waiting.pk)
    revisions = Approval.objects.filter(revises=waiting)
    if old.state == "executed":
        assert (set(answers), len(office.calls())) == ({"succeeded", "conflict"}, 1)
        assert not revisions.exists()
    else:
        assert old.state == "superseded"
        assert answers.count("pending") == 1
        assert [one.state for one in revisions] == ["pending"]
        assert office.calls() == []
        assert ("control", "denied", "edited") in phases(
            ActionResult(
                status="refused", action_id=waiting.action_id, action_type=waiting.action_type
            )
        )
