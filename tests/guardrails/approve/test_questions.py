"""One word on like actions, bound to all of them; each is decided and recorded for itself."""

from typing import Any
from uuid import uuid4

import pytest

from audit.ledger.selectors import recorded
from guardrails.approve import questions
from guardrails.approve.approval_rows import ApprovalConflict, ApprovalNotFound
from guardrails.approve.cards import list_cards
from guardrails.contracts.cards import QuestionCard
from guardrails.models import Approval
from tests.guardrails.approvals import ask, reject
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


@pytest.fixture
def six(office: Office) -> list[Approval]:
    """Six mails that the agent would archive, of one request."""
    office.permit("archive", "ask")
    return [
        ask(office, "archive", {"email_id": office.receive(subject=f"News {number}")})
        for number in range(6)
    ]


def question_of(office: Office) -> QuestionCard:
    waiting = list_cards(organisation_id=office.organisation.id, state="pending")
    [found] = questions.group(waiting)
    return found


def word(office: Office, question: QuestionCard, **changes: Any) -> dict[str, Any]:
    return {
        "organisation_id": office.organisation.id,
        "question_id": question.id,
        "digest": question.digest,
        "decided_by": "token:web",
        "word": "confirm",
    } | changes


def states() -> list[str]:
    return list(Approval.objects.order_by("created_at").values_list("state", flat=True))


def test_a_question_lists_all_its_actions_under_one_heading(
    office: Office, six: list[Approval]
) -> None:
    question = question_of(office)

    assert question.heading == "6 actions: Archive"
    assert [card.id for card in question.cards] == [row.id for row in six]
    assert [card.about for card in question.cards] == [f"“News {number}”" for number in range(6)]


def test_one_word_does_all_but_those_that_are_left_out(office: Office, six: list[Approval]) -> None:
    answers = questions.decide(**word(office, question_of(office), without={six[2].id}))

    became = [answer.result.status if answer.result else "" for answer in answers]
    assert became == ["succeeded", "succeeded", "refused", *["succeeded"] * 3]
    assert states() == ["executed", "executed", "rejected", *["executed"] * 3]
    assert len(office.calls()) == 5
    for row in six:
        words = [one for one in recorded(row.action_id) if one.payload.get("question")]
        assert [one.payload["question"] for one in words] == [str(six[0].id)]
        assert words[0].payload["digest"] == row.digest


def test_a_no_is_for_all(office: Office, six: list[Approval]) -> None:
    questions.decide(**word(office, question_of(office), word="reject", reason="Keep them"))

    assert states() == ["rejected"] * 6
    assert office.calls() == []


def test_the_word_counts_only_for_exactly_what_was_shown(
    office: Office, six: list[Approval]
) -> None:
    before = question_of(office)
    reject(six[0])

    with pytest.raises(ApprovalConflict):
        questions.decide(**word(office, before))
    with pytest.raises(ApprovalConflict):
        questions.decide(**word(office, question_of(office), digest="0" * 64))
    assert states() == ["rejected", *["pending"] * 5]
    assert office.calls() == []


def test_nobody_else_finds_it_and_nothing_else_is_left_out(
    office: Office, six: list[Approval]
) -> None:
    question = question_of(office)
    for changes in (
        {"external_user_id": "omar"},
        {"organisation_id": uuid4()},
        {"question_id": uuid4()},
        {"without": {uuid4()}},
    ):
        with pytest.raises(ApprovalNotFound):
            questions.decide(**word(office, question, **changes))
    assert states() == ["pending"] * 6
    assert office.calls() == []


def test_one_that_has_changed_is_refused_and_spoils_no_other(
    office: Office, six: list[Approval]
) -> None:
    question = question_of(office)
    office.change("emails", six[3].arguments["email_id"], subject="Something else")

    answers = questions.decide(**word(office, question))

    reasons = [answer.result.reason if answer.result else "" for answer in answers]
    assert reasons == [*["performed"] * 3, "changed_since_asked", *["performed"] * 2]
