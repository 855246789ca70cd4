"""Which waiting actions a typed message confirms."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from guardrails.approve import approvals, in_words
from guardrails.approve.in_words import Heard
from guardrails.models import AllowedAction, Approval
from guardrails.policies import files
from guardrails.policies.changes import Author
from guardrails.policies.differences import differences
from tests.guardrails.approvals import ask
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
TURN = "turn-of-this-conversation"


@pytest.fixture
def waiting(office: Office) -> list[Approval]:
    """Two tasks that wait, were shown, and may be confirmed in words."""
    office.permit("create_jira_task", "ask")
    office.list_target("create_jira_task", "project", "PROJ", "Customer Portal")
    AllowedAction.objects.update(confirm_in_words=True)
    for name in ("A", "B"):
        ask(office, "create_jira_task", {"project_key": "PROJ", "summary": name, "type": "task"})
    Approval.objects.update(turn_id=TURN, shown_at=timezone.now())
    return list(Approval.objects.order_by("created_at"))


def hear(office: Office, text: str, **more: Any) -> Heard | None:
    now = timezone.now()
    given: dict[str, Any] = {
        "organisation_id": office.organisation.id,
        "external_user_id": office.user_id,
        "turn_ids": [TURN],
        "said_at": now,
        "answered_at": now - timedelta(microseconds=1),
        "asked": False,
    }
    return in_words.hear(text, **(given | more))


def confirmed(office: Office, text: str, **more: Any) -> list[str] | None:
    """What is confirmed; empty where the buttons are for it, None where it is no confirmation."""
    heard = hear(office, text, **more)
    return None if heard is None else [str(one.arguments["summary"]) for one in heard.confirmed]


def test_what_is_clear_is_confirmed_bound_to_what_was_shown(
    office: Office, waiting: list[Approval]
) -> None:
    assert confirmed(office, "Yes, both") == ["A", "B"]
    assert confirmed(office, "Yes") == ["A", "B"]  # like ones are one question
    assert confirmed(office, "Ja, alle") == ["A", "B"]
    assert confirmed(office, "2 and 1") == ["B", "A"]
    assert confirmed(office, "2") == ["B"]
    heard = hear(office, "Confirmed, 1")
    assert heard is not None
    assert [one.digest for one in heard.confirmed] == [waiting[0].digest]


@pytest.mark.parametrize("text", ["Yes, all three", "3", "1, 2 and 3"])
def test_what_does_not_fit_the_list_is_for_the_buttons(
    office: Office, waiting: list[Approval], text: str
) -> None:
    heard = hear(office, text)

    assert heard is not None
    assert heard.confirmed == ()
    assert [one.id for one in heard.waiting] == [one.id for one in waiting]


def test_of_several_questions_a_bare_yes_and_a_number_may_be_about_any(
    office: Office, waiting: list[Approval]
) -> None:
    other = Approval.objects.create(
        **{
            field.attname: getattr(waiting[0], field.attname)
            for field in Approval._meta.fields
            if field.attname not in ("id", "action_id", "question", "created_at")
        },
        action_id=uuid4(),
        question=uuid4(),
    )
    Approval.objects.filter(id=other.id).update(created_at=waiting[1].created_at)

    assert confirmed(office, "Yes") == []
    assert confirmed(office, "2") == []  # the second action, or the second card
    assert confirmed(office, "Yes, both") == ["A", "B", "A"]
    assert confirmed(office, "Yes, all three") == ["A", "B", "A"]


@pytest.mark.parametrize(
    "changes",
    [
        {"delegated_to": "operator:olga"},
        {"delegated_to": "user:omar"},
        {"escalated_at": timezone.now()},
        {"shown_at": None},
        {"shown_at": timezone.now() + timedelta(hours=1)},
    ],
    ids=["operator", "colleague", "escalated", "never shown", "shown later"],
)
def test_one_that_this_user_cannot_decide_in_words_leaves_all_to_the_buttons(
    office: Office, waiting: list[Approval], changes: dict[str, Any]
) -> None:
    Approval.objects.filter(id=waiting[1].id).update(**changes)

    assert confirmed(office, "Yes, both") == []
    assert confirmed(office, "1") == ["A"]
    assert confirmed(office, "2") == []


def test_words_count_only_where_every_allowed_action_says_so(
    office: Office, waiting: list[Approval]
) -> None:
    AllowedAction.objects.update(confirm_in_words=False)
    assert confirmed(office, "Yes, both") == []

    general = AllowedAction.objects.get()
    AllowedAction.objects.update(confirm_in_words=True)
    special = AllowedAction(
        account=general.account,
        action_type=general.action_type,
        resource_type="issue",
        approval_mode="ask",
    )
    special.save()
    assert confirmed(office, "Yes, both") == []
    AllowedAction.objects.update(enabled=False)
    assert confirmed(office, "Yes, both") == []


def test_nothing_is_heard_elsewhere_or_beside_a_question(
    office: Office, waiting: list[Approval]
) -> None:
    assert confirmed(office, "Yes, both", turn_ids=["another"]) is None
    assert confirmed(office, "Yes, both", turn_ids=[]) is None
    assert confirmed(office, "Yes, both", external_user_id="omar") is None
    assert confirmed(office, "Yes, both", answered_at=timezone.now() - timedelta(days=1)) is None
    assert confirmed(office, "Yes, both", asked=True) is None
    assert confirmed(office, "Confirm both", asked=True) == ["A", "B"]
    assert confirmed(office, "Yes, both, please send it too") is None


def test_a_number_keeps_its_place_while_others_are_decided(
    office: Office, waiting: list[Approval]
) -> None:
    before = timezone.now()
    approvals.reject(
        organisation_id=office.organisation.id,
        approval_id=waiting[0].id,
        decided_by="operator:olga",
    )

    assert confirmed(office, "2", answered_at=before) == ["B"]
    assert confirmed(office, "1", answered_at=before) == ["A"]  # and the answer says it was late
    assert confirmed(office, "2", answered_at=timezone.now()) == []


def test_it_is_in_the_policys_file_and_in_its_words(
    office: Office, waiting: list[Approval]
) -> None:
    account = AllowedAction.objects.get().account
    present = files.exported(account)
    assert present.allowed_actions is not None
    (entry,) = present.allowed_actions
    assert entry.confirm_in_words
    assert not type(entry)(action="archive", mode="ask").confirm_in_words

    without = entry.model_copy(update={"confirm_in_words": False})
    wanted = present.model_copy(update={"allowed_actions": [without]})
    (change,) = differences(present, wanted)
    assert change.was.endswith(", also confirmed in words")
    files.apply(account, wanted, author=Author(name="operator:olga", door="command"))
    assert confirmed(office, "Yes, both") == []
