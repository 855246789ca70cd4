"""Reads of policy: right, and in a fixed number of queries."""

from typing import Any

import pytest
from django.db import connection

from guardrails.decide.checks.stopping import why_stopped
from guardrails.decide.conditions.base import Unreadable
from guardrails.gather import stops
from guardrails.gather.policy_rows import policy_snapshot
from guardrails.models import AllowedAction, AllowedActionOption, KillSwitch, TargetGroup
from guardrails.policies.capabilities import find_capabilities
from integrations.contracts import AccountRef
from integrations.models import Account, Organisation

pytestmark = pytest.mark.django_db


@pytest.fixture
def organisation() -> Organisation:
    return Organisation.objects.create(slug="company", name="Company")


def account(organisation: Organisation, user: str = "maya", source: str = "gmail") -> AccountRef:
    return Account.objects.create(
        organisation=organisation, external_user_id=user, source=source
    ).ref()


def fill(account: AccountRef, listed_targets: int) -> None:
    AllowedAction.objects.create(account_id=account.id, action_type="classify")
    group = TargetGroup.objects.create(account_id=account.id, name="Topics", cardinality="single")
    AllowedActionOption.objects.bulk_create(
        AllowedActionOption(
            account_id=account.id,
            action_type="classify",
            source="gmail",
            kind="label",
            external_id=f"label_{number}",
            name=f"Label {number}",
            group=group,
        )
        for number in range(listed_targets)
    )


@pytest.mark.parametrize("listed_targets", [1, 30])
def test_a_snapshot_takes_one_query(
    organisation: Organisation, django_assert_num_queries: Any, listed_targets: int
) -> None:
    mine = account(organisation)
    fill(mine, listed_targets)
    with django_assert_num_queries(1):
        snapshot = policy_snapshot(mine)
    assert len(snapshot.listed_targets) == listed_targets
    assert all(
        listed_target.single and listed_target.group_id for listed_target in snapshot.listed_targets
    )


def test_a_snapshot_holds_nothing_of_others(organisation: Organisation) -> None:
    mine, theirs = account(organisation), account(organisation, "omar")
    fill(theirs, 3)
    snapshot = policy_snapshot(mine)
    assert (snapshot.allowed_actions, snapshot.listed_targets) == ((), ())


def test_a_stored_condition_nobody_understands_never_holds(organisation: Organisation) -> None:
    mine = account(organisation)
    row = AllowedAction.objects.create(account_id=mine.id, action_type="archive")
    stored = '[{"kind": "from_an_older_version"}]'
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE guardrails_allowedaction SET conditions = %s WHERE id = %s", [stored, row.id]
        )
    (allowed_action,) = policy_snapshot(mine).allowed_actions
    assert isinstance(allowed_action.conditions[0], Unreadable)


def test_pausing_is_read_live(organisation: Organisation) -> None:
    mine = account(organisation)
    row = AllowedAction.objects.create(account_id=mine.id, action_type="archive")

    def stopped() -> str:
        found = stops.read_stops(
            account_id=mine.id, action_type="archive", allowed_action_id=str(row.id)
        )
        return why_stopped(found, undoes=False)

    assert stopped() == ""
    assert not policy_snapshot(mine).paused
    Account.objects.filter(id=mine.id).update(paused=True)
    assert policy_snapshot(mine).paused
    assert stopped() == "paused"


def test_capabilities_say_what_may_be_tried(
    organisation: Organisation, django_assert_num_queries: Any
) -> None:
    mailbox, tracker = account(organisation), account(organisation, source="jira")
    fill(mailbox, 2)
    AllowedAction.objects.create(account_id=mailbox.id, action_type="archive", approval_mode="auto")
    AllowedAction.objects.create(account_id=mailbox.id, action_type="draft", enabled=False)
    AllowedAction.objects.create(account_id=mailbox.id, action_type="send_email")
    AllowedAction.objects.create(account_id=tracker.id, action_type="create_jira_task")

    with django_assert_num_queries(1):
        found = find_capabilities([mailbox, tracker])

    told = [(one.action_type, one.mode) for one in found[mailbox.id]]
    assert told == [("archive", "auto"), ("classify", "ask")]
    assert found[tracker.id] == ()
    classify = found[mailbox.id][1]
    assert [target.id for target in classify.targets] == ["label_0", "label_1"]
    assert classify.schema["additionalProperties"] is False


def test_what_is_stopped_is_offered_so_that_the_refusal_says_so(
    organisation: Organisation,
) -> None:
    mine = account(organisation)
    AllowedAction.objects.create(account_id=mine.id, action_type="archive")
    Organisation.objects.update(paused=True)
    KillSwitch.objects.create(organisation=organisation, why="A wave", thrown_by="operator:olga")
    [offered] = find_capabilities([mine])[mine.id]
    assert offered.action_type == "archive"
