import pytest
from django.db import DatabaseError, connection, transaction

from integrations.database.arrays import write_array
from integrations.database.pipelines import fetch_all

SETTING = "SELECT set_config('work_mem', '123kB', true)"
SET = "SELECT current_setting('work_mem')"


def set_now() -> str:
    with connection.cursor() as cursor:
        cursor.execute(SET)
        return str(cursor.fetchone()[0])


@pytest.mark.django_db(transaction=True)
def test_what_is_set_holds_for_these_statements_alone() -> None:
    before = set_now()

    found = fetch_all("default", [(SET, None), ("SELECT %s::int", [7])], setting=SETTING)

    assert found == [[("123kB",)], [(7,)]]
    assert set_now() == before != "123kB"


@pytest.mark.django_db(transaction=True)
def test_of_statements_of_which_one_fails_none_is_done() -> None:
    kept = "CREATE TABLE pipeline_trial ()"

    with pytest.raises(DatabaseError, match="division by zero"):
        fetch_all("default", [(f"{kept}", None), ("SELECT 1 / %s::int", [0])], setting=SETTING)

    assert fetch_all("default", [("SELECT to_regclass('pipeline_trial')", None)], setting=SET) == [
        [(None,)]
    ]


@pytest.mark.django_db
def test_inside_a_transaction_they_are_part_of_it() -> None:
    with transaction.atomic():
        [[first], [second]] = fetch_all(
            "default",
            [("SELECT pg_current_xact_id()::text", None), ("SELECT txid_current()::text", None)],
            setting=SETTING,
        )

    assert first == second


@pytest.mark.django_db
@pytest.mark.parametrize(
    "values",
    [
        [],
        ["a", "", None, "NULL", "null"],
        ['"', "\\", '\\"', "{a,b}", "a,b", " ", "'", "é\n\t"],
    ],
)
def test_an_array_is_read_as_it_was_written(values: list[str | None]) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::text[]", [write_array(values)])
        assert cursor.fetchone()[0] == values
