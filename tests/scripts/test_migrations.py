from functools import cache
from typing import Any

import pytest
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import connection, migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState
from django.db.models.functions import Lower

from scripts import migrations as checked

# Columns that a row cannot do without and that the database does not fill in.
NEEDED = """
SELECT column_name FROM information_schema.columns
WHERE table_name = %s AND is_nullable = 'NO' AND column_default IS NULL
  AND is_identity = 'NO' AND is_generated = 'NEVER'
"""


@cache
def version_before() -> ProjectState:
    """The models as the version before has them."""
    state: ProjectState = MigrationLoader(None).project_state(list(checked.BASELINE.items()))
    return state


def judge(*operations: Operation, **said: Any) -> list[str]:
    """What is said of a migration of these operations on the tables of the version before."""
    migration = type("Migration", (migrations.Migration,), {"operations": list(operations), **said})
    tried = migration("9999_tried", "integrations")
    found = checked.find_harm(tried, version_before(), set())
    return [line.split(": ", 2)[2].removesuffix(".") for line in found]


def text(length: int = 200, **options: Any) -> "models.Field[Any, Any]":
    return models.CharField(max_length=length, **options)


INDEX = models.Index(fields=["name"], name="organisation_name")
ONCE = models.UniqueConstraint(fields=["name", "colour"], name="colour_once")
NAME_ONCE = models.UniqueConstraint(fields=["name"], name="name_once")
CHECK = models.CheckConstraint(condition=~models.Q(name="x"), name="not_x")
ROOM = migrations.CreateModel("Room", [("id", models.BigAutoField(primary_key=True))])


@pytest.mark.parametrize(
    "operations",
    [
        [ROOM],
        [ROOM, migrations.AddField("room", "name", text(default=""))],
        [ROOM, migrations.AddIndex("room", models.Index(fields=["id"], name="room_id"))],
        [migrations.AddField("organisation", "colour", text(null=True))],
        [migrations.AddField("organisation", "colour", text(db_default="red"))],
        [
            migrations.AddField("organisation", "colour", text(null=True)),
            migrations.AddConstraint("organisation", ONCE),
        ],
        [migrations.AddField("organisation", "friends", models.ManyToManyField("self"))],
        [migrations.AlterField("organisation", "name", text(help_text="For people."))],
        [migrations.AlterModelOptions("organisation", {"ordering": ["-id"]})],
        [AddIndexConcurrently("organisation", INDEX)],
    ],
)
def test_what_only_adds_does_the_version_before_no_harm(operations: list[Operation]) -> None:
    assert judge(*operations) == []


LOWER = models.GeneratedField(expression=Lower("name"), output_field=text(), db_persist=True)


@pytest.mark.parametrize(
    ("operation", "why"),
    [
        (migrations.AddField("organisation", "colour", text(default="")), "field"),
        (migrations.AddField("organisation", "lower", LOWER), "generated"),
        (migrations.AlterField("organisation", "name", text(20)), "alter"),
        (migrations.AlterField("organisation", "name", text(unique=True)), "alter"),
        (migrations.AddIndex("organisation", INDEX), "index"),
        (migrations.AddConstraint("organisation", CHECK), "constraint"),
        (migrations.AddConstraint("organisation", NAME_ONCE), "constraint"),
        (migrations.RemoveField("organisation", "name"), "takes"),
        (migrations.RenameField("organisation", "name", "title"), "takes"),
        (migrations.DeleteModel("Delivery"), "takes"),
        (migrations.RenameModel("Delivery", "Parcel"), "takes"),
        (migrations.RunSQL("SELECT 1"), "word"),
        (migrations.RunPython(migrations.RunPython.noop), "word"),
    ],
)
def test_what_the_version_before_trips_over_is_named_with_the_way_out(
    operation: Operation, why: str
) -> None:
    assert judge(operation) == [checked.HOW[why]]


def test_who_says_why_sql_does_no_harm_is_believed() -> None:
    sql = migrations.RunSQL("SELECT 1", "SELECT 1")

    assert judge(sql, harmless_because="It reads one number.") == []
    assert judge(sql, harmless_because="") == [checked.HOW["word"]]


@pytest.mark.parametrize(
    ("first_half", "said"),
    [
        (("integrations", checked.BASELINE["integrations"]), []),
        (
            ("integrations", "9998_not_released"),
            [
                "integrations/9999_tried: its first half is not in the version before. "
                "Wait for a release."
            ],
        ),
    ],
)
def test_a_second_half_comes_a_release_after_the_first(
    first_half: tuple[str, str], said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    migration = type("Migration", (migrations.Migration,), {"second_half_of": first_half})(
        "9999_tried", "integrations"
    )
    monkeypatch.setattr(checked, "list_newer", lambda _: [("integrations", "9999_tried")])
    monkeypatch.setattr(MigrationLoader, "get_migration", lambda *_: migration)

    assert list(checked.find_all()) == said


def test_every_migration_since_the_version_before_only_adds() -> None:
    assert list(checked.find_all()) == []


def find_lacking() -> list[str]:
    """Columns of rows that the version before would read or write, and cannot on these tables."""
    lacking: list[str] = []
    with connection.cursor() as cursor:
        for model in version_before().apps.get_models():
            if model._meta.app_label not in checked.BASELINE or not model._meta.managed:
                continue
            table, known = (
                model._meta.db_table,
                {str(one.column) for one in model._meta.local_fields},
            )
            there = {
                one.name for one in connection.introspection.get_table_description(cursor, table)
            }
            cursor.execute(NEEDED, [table])
            needed = {name for (name,) in cursor.fetchall()}
            lacking += [f"{table}.{name}" for name in sorted((known - there) | (needed - known))]
    return lacking


@pytest.mark.django_db
def test_the_version_before_reads_and_writes_every_row_on_the_new_tables() -> None:
    assert find_lacking() == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("ADD COLUMN colour text NOT NULL", ["colour"]),
        ("ADD COLUMN colour text NOT NULL DEFAULT ''", []),
        ("RENAME COLUMN name TO colour", ["colour", "name"]),
        ("DROP COLUMN name", ["name"]),
    ],
)
def test_a_column_that_the_version_before_lacks_or_leaves_out_is_found(
    change: str, found: list[str]
) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE integrations_organisation {change}")

    assert find_lacking() == [f"integrations_organisation.{name}" for name in found]
