"""Counts that stop where enough is known."""

from typing import Any

import pytest

from integrations.models import Account, Organisation
from integrations.web.counts import count_up_to, say_up_to


@pytest.mark.django_db
def test_several_tables_are_counted_in_one_query_and_no_further_than_wanted(
    django_assert_num_queries: Any,
) -> None:
    ours, _ = Organisation.objects.get_or_create(slug="default")
    for number in range(3):
        Account.objects.create(
            organisation=ours, external_user_id=f"user-{number}", source="gmail", address="a@b.c"
        )

    with django_assert_num_queries(1):
        found = count_up_to(
            2,
            accounts=Account.objects.filter(organisation=ours),
            one=Account.objects.filter(organisation=ours, external_user_id="user-1"),
            none=Account.objects.filter(organisation=ours, external_user_id="nobody"),
        )

    assert (found["accounts"], found["one"], found["none"]) == (2, 1, 0)


def test_more_than_is_counted_is_said_so() -> None:
    assert (say_up_to(1_000, 1_000), say_up_to(1_000, 1_001)) == ("1,000", "1,000+")
