from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from guardrails.learn import patterns
from guardrails.models import AllowedAction, LearnedPattern, PatternAction
from guardrails.models.patterns import UNUSED
from integrations.contracts import AccountRef
from integrations.models import Account, Organisation

pytestmark = pytest.mark.django_db
NOW = timezone.now()


@pytest.fixture
def mine() -> AccountRef:
    organisation = Organisation.objects.create(slug="default", name="Default")
    row = Account.objects.create(
        organisation=organisation,
        external_user_id="maya",
        source="gmail",
        address="maya@company.com",
        display_name="Maya",
    )
    return row.ref()


def learned(mine: AccountRef, number: int = 0, **changes: Any) -> LearnedPattern:
    values = {"account_id": mine.id, "name": f"P{number}", "list_id": f"list-{number}"}
    values |= {"tried_at": NOW}
    row = LearnedPattern.objects.create(**(values | changes))
    PatternAction.objects.create(pattern=row, order=1, action_type="archive")
    PatternAction.objects.create(
        pattern=row, order=0, action_type="classify", arguments={"label_id": "label_1"}
    )
    return row


def approved(mine: AccountRef, number: int = 0, *, by: str = "operator:olga") -> UUID:
    row = learned(mine, number)
    assert patterns.approve(pattern_id=row.id, by=by, now=NOW)
    return row.id


def ids(mine: AccountRef, **later: Any) -> list[UUID]:
    now = NOW + timedelta(**later)
    return [one.id for one in patterns.approved_patterns(mine, now=now)]


def test_only_approved_patterns_are_listed_in_two_queries(
    mine: AccountRef, django_assert_num_queries: Any
) -> None:
    learned(mine)
    wanted = [approved(mine, number) for number in range(1, 5)]
    with django_assert_num_queries(2):
        found = patterns.approved_patterns(mine, now=NOW)
    assert [one.id for one in found] == wanted
    assert found[0].actions == (("classify", {"label_id": "label_1"}), ("archive", {}))


def test_a_pattern_expires_until_a_person_renews_it(mine: AccountRef, settings: Any) -> None:
    settings.PATTERN_DAYS = 30
    key = approved(mine)

    assert ids(mine, days=29) == [key]
    assert ids(mine, days=30) == []
    later = NOW + timedelta(days=40)
    assert patterns.approve(pattern_id=key, by="operator:olga", now=later)
    assert ids(mine, days=69) == [key]
    assert ids(mine, days=70) == []


def test_a_pattern_that_matches_nothing_for_long_acts_no_more(
    mine: AccountRef, settings: Any
) -> None:
    settings.PATTERN_DAYS = 400
    key = approved(mine)
    row = LearnedPattern.objects.filter(id=key)
    limit = UNUSED.days

    assert ids(mine, days=limit - 1) == [key]
    assert ids(mine, days=limit) == []
    assert row.get().is_unused(NOW + UNUSED)
    row.update(last_hit_at=NOW + timedelta(days=50))
    assert ids(mine, days=limit + 49) == [key]
    assert ids(mine, days=limit + 50) == []
    later = NOW + timedelta(days=limit + 60)
    assert patterns.approve(pattern_id=key, by="operator:olga", now=later)
    assert ids(mine, days=limit + 61) == [key]


def test_what_was_not_tried_on_past_mail_cannot_be_approved(mine: AccountRef) -> None:
    row = learned(mine, tried_at=None)

    assert [one.id for one in patterns.list_untried(mine.id)] == [row.id]
    assert patterns.list_untried_accounts(limit=9) == [mine.id]
    assert not patterns.approve(pattern_id=row.id, by="operator:olga", now=NOW)
    assert ids(mine) == []


def test_a_suspended_pattern_acts_again_only_after_a_person_approved_it(mine: AccountRef) -> None:
    key = approved(mine)
    patterns.suspend(pattern_id=key, why="Enough.", now=NOW)
    assert ids(mine) == []

    patterns.approve(pattern_id=key, by="operator:olga", now=NOW)
    row = LearnedPattern.objects.get()
    assert ids(mine) == [key]
    assert (row.suspended_at, row.suspended_why) == (None, "")


def test_a_reopened_pattern_waits(mine: AccountRef) -> None:
    key = approved(mine)
    assert patterns.reopen(pattern_id=key)
    assert ids(mine) == []
    assert [one.id for one in patterns.list_untried(mine.id)] == [key]
    assert not patterns.reopen(pattern_id=key)


@pytest.mark.parametrize(
    ("exempted", "acts"),
    [
        ({}, False),
        ({"archive": True}, False),
        ({"archive": True, "classify": False}, False),
        ({"archive": True, "classify": True}, True),
    ],
)
def test_an_exempted_pattern_acts_only_while_every_action_is_exempted(
    mine: AccountRef, exempted: dict[str, bool], acts: bool
) -> None:
    key = approved(mine, by=patterns.EXEMPTED)
    for action_type, is_exempted in exempted.items():
        AllowedAction.objects.create(
            account_id=mine.id, action_type=action_type, patterns_unapproved=is_exempted
        )

    assert ids(mine) == ([key] if acts else [])
    AllowedAction.objects.update(enabled=False)
    assert ids(mine) == []


def test_nobody_gets_the_patterns_of_another_account(mine: AccountRef) -> None:
    other = Account.objects.create(
        organisation_id=mine.organisation_id,
        external_user_id="omar",
        source="gmail",
        address="omar@company.com",
        display_name="Omar",
    )
    approved(mine)
    assert patterns.approved_patterns(other.ref(), now=NOW) == ()


def test_a_pattern_that_is_gone_cannot_be_decided_on() -> None:
    gone = UUID(int=1)
    assert not patterns.approve(pattern_id=gone, by="operator:olga", now=NOW)
    assert not patterns.suspend(pattern_id=gone, why="Gone.", now=NOW)
