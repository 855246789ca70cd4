"""PostgreSQL itself says what is wrong: a trigger raises it."""

import pytest
from django.db import DatabaseError, transaction

from integrations.database.trouble import DATABASE_AWAY, STORAGE_FULL, Trouble, describe
from integrations.models import Organisation
from tests.database import failing_with

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("state", "found"),
    [
        ("53100", STORAGE_FULL),
        ("25006", DATABASE_AWAY),
        ("53300", DATABASE_AWAY),
        ("57P01", DATABASE_AWAY),
        ("23505", None),
        ("22021", None),
    ],
)
def test_trouble_that_passes_is_known_by_its_state(state: str, found: Trouble | None) -> None:
    with (
        failing_with("integrations_organisation", state),
        pytest.raises(DatabaseError) as raised,
        transaction.atomic(),
    ):
        Organisation.objects.create(slug="a", name="A")

    assert describe(raised.value) == found


def test_what_is_no_error_of_the_database_is_nobodys_trouble_here() -> None:
    assert describe(ValueError("x")) is None
