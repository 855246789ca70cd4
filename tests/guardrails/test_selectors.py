"""Reads of policy: right, and in a fixed number of queries."""

from typing import Any

import pytest
from django.db import connection

from guardrails import conditions, selectors, skills
from guardrails.models import (
    AllowedAction,
    AllowedActionOption,
    TargetGroup,
)
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


def fill(account: AccountRef, options: int) -> None:
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
        for number in range(options)
    )


@pytest.mark.parametrize("options", [1, 30])
def test_a_snapshot_takes_four_queries(
    organisation: Organisation, django_assert_num_queries: Any, options: int
) -> None:
    mine = account(organisation)
    fill(mine, options)
    with django_assert_num_queries(4):
        snapshot = selectors.policy_snapshot(mine)
    assert len(snapshot.options) == options
    assert all(option.single and option.group_id for option in snapshot.options)


def test_a_snapshot_holds_nothing_of_others(organisation: Organisation) -> None:
    mine, theirs = account(organisation), account(organisation, "omar")
    fill(theirs, 3)
    snapshot = selectors.policy_snapshot(mine)
    assert (snapshot.rules, snapshot.options) == ((), ())


def test_a_stored_condition_nobody_understands_never_holds(organisation: Organisation) -> None:
    mine = account(organisation)
    row = AllowedAction.objects.create(account_id=mine.id, action_type="archive")
    stored = '[{"kind": "from_an_older_version"}]'
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE guardrails_allowedaction SET conditions = %s WHERE id = %s", [stored, row.id]
        )
    (rule,) = selectors.policy_snapshot(mine).rules
    assert isinstance(rule.conditions[0], conditions.Unreadable)


def test_pausing_is_read_live(organisation: Organisation) -> None:
    mine = account(organisation)
    row = AllowedAction.objects.create(account_id=mine.id, action_type="archive")
    permitted: dict[str, Any] = {"account_id": mine.id, "rule_id": str(row.id)}
    assert selectors.still_permitted(**permitted)
    assert not selectors.policy_snapshot(mine).paused
    Account.objects.filter(id=mine.id).update(paused=True)
    assert selectors.policy_snapshot(mine).paused
    assert not selectors.still_permitted(**permitted)


def test_capabilities_say_what_may_be_tried(
    organisation: Organisation, django_assert_num_queries: Any
) -> None:
    mailbox, tracker = account(organisation), account(organisation, source="jira")
    fill(mailbox, 2)
    AllowedAction.objects.create(account_id=mailbox.id, action_type="archive", approval_mode="auto")
    AllowedAction.objects.create(account_id=mailbox.id, action_type="draft", enabled=False)
    AllowedAction.objects.create(account_id=mailbox.id, action_type="send_email")
    AllowedAction.objects.create(account_id=tracker.id, action_type="create_jira_task")

    with django_assert_num_queries(4):
        found = selectors.capabilities([mailbox, tracker])

    told = [(one.action_type, one.mode) for one in found[mailbox.id]]
    assert told == [("archive", "auto"), ("classify", "ask")]
    assert found[tracker.id] == ()
    classify = found[mailbox.id][1]
    assert [target.id for target in classify.targets] == ["label_0", "label_1"]
    assert classify.schema["additionalProperties"] is False


def test_a_paused_account_can_do_nothing(organisation: Organisation) -> None:
    mine = account(organisation)
    AllowedAction.objects.create(account_id=mine.id, action_type="archive")
    Organisation.objects.update(paused=True)
    assert selectors.capabilities([mine]) == {mine.id: ()}


def publish(mine: AccountRef, content: str, *, shared: bool, enabled: bool = True) -> None:
    skills.publish(
        organisation_id=mine.organisation_id,
        account_id=None if shared else mine.id,
        name="invoices",
        description="Invoices.",
        content=content,
        enabled=enabled,
    )


def test_the_newest_version_is_offered_and_its_use_counted(organisation: Organisation) -> None:
    mine = account(organisation)
    publish(mine, "Old.", shared=True)
    publish(mine, "New.", shared=True)

    loaded = selectors.load_skill(mine, "invoices")

    assert loaded is not None
    assert (loaded.version, loaded.content) == (2, "New.")
    assert [(one.name, one.version) for one in selectors.skills(mine)] == [("invoices", 2)]
    counts = organisation.skills.order_by("version").values_list("use_count", flat=True)
    assert list(counts) == [0, 1]


def test_an_accounts_own_skill_takes_the_place_of_the_shared_one(
    organisation: Organisation,
) -> None:
    mine, other = account(organisation), account(organisation, "omar")
    publish(mine, "Shared.", shared=True)
    publish(mine, "Own.", shared=False)
    assert getattr(selectors.load_skill(mine, "invoices"), "content", "") == "Own."
    assert getattr(selectors.load_skill(other, "invoices"), "content", "") == "Shared."


def test_a_skill_whose_newest_version_is_off_is_not_offered(organisation: Organisation) -> None:
    mine = account(organisation)
    publish(mine, "Old.", shared=True)
    publish(mine, "Off.", shared=True, enabled=False)
    assert selectors.skills(mine) == ()
    assert selectors.load_skill(mine, "invoices") is None
    assert selectors.load_skill(mine, "unheard-of") is None


def test_skills_of_another_organisation_are_unknown(organisation: Organisation) -> None:
    mine = account(organisation)
    publish(mine, "Ours.", shared=True)
    stranger = account(Organisation.objects.create(slug="other", name="Other"))
    assert selectors.skills(stranger) == ()
    assert selectors.load_skill(stranger, "invoices") is None
