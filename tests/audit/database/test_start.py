import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import OperationalError, connections
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone
from pytest_django.fixtures import Settings

from audit.database import start
from audit.ledger import ledger, months
from audit.ledger.months import Month
from tests.audit.entries import entry
from tests.audit.tampering import undoing

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def refusals_after(statement: str) -> list[str]:
    with undoing() as cursor:
        cursor.execute(statement)
        return start.find_refusals()


def test_a_ledger_as_it_should_be_refuses_nobody() -> None:
    assert start.find_refusals() == []


def test_a_weakened_guard_refuses() -> None:
    found = refusals_after("ALTER TABLE audit_leaf DISABLE TRIGGER audit_leaf_keep")
    assert found == [
        "The trigger audit_leaf_keep on audit_leaf is not ENABLE ALWAYS: it can be switched off."
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE audit_action DROP CONSTRAINT audit_action_is_entry",
        "ALTER TABLE audit_action DROP CONSTRAINT audit_action_is_entry; "
        "ALTER TABLE audit_action ADD CONSTRAINT audit_action_is_entry CHECK (phase <> '')",
        "CREATE OR REPLACE FUNCTION audit_is_entry(action_id uuid, attempt_no smallint, "
        "phase text, status text, actor_type text, decision text, action_type text) "
        "RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN true; END $$",
    ],
)
def test_a_weakened_check_of_rows_refuses(statement: str) -> None:
    found = refusals_after(statement)
    assert found[0] == (
        "The check audit_action_is_entry on audit_action is missing or was changed: rows that "
        "are not entries could be appended."
    )
    assert len(found) == 1 + len(months.list_months())


def test_a_missing_month_is_made_at_the_start() -> None:
    suffix = Month.of(timezone.now()).following.suffix
    tables = ", ".join(f"audit_{part}_{suffix}" for part in ("action", "payload", "artifact"))
    assert refusals_after(f"DROP TABLE {tables}") == []


@pytest.mark.parametrize("part", ["action", "payload", "artifact"])
def test_a_month_that_lacks_one_of_its_tables_refuses(part: str) -> None:
    following = Month.of(timezone.now()).following
    (sentence,) = refusals_after(f"DROP TABLE audit_{part}_{following.suffix}")
    assert sentence.startswith(f"The ledger's month {following} lacks the table of its rows, ")


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        (
            "GRANT UPDATE ON audit_action TO PUBLIC",
            "The role PUBLIC has UPDATE on audit_action. Take it away: "
            "REVOKE UPDATE ON audit_action FROM PUBLIC",
        ),
        (
            "GRANT EXECUTE ON FUNCTION audit_redact(jsonb, bytea, text) TO PUBLIC",
            "The role PUBLIC may call audit_redact(jsonb, bytea, text). Take it away: "
            "REVOKE EXECUTE ON FUNCTION audit_redact(jsonb, bytea, text) FROM PUBLIC",
        ),
        (
            "GRANT EXECUTE ON FUNCTION audit_make_month(date) TO PUBLIC",
            "The role PUBLIC may call audit_make_month(date). Take it away: "
            "REVOKE EXECUTE ON FUNCTION audit_make_month(date) FROM PUBLIC",
        ),
    ],
)
def test_a_right_of_others_refuses_also_where_one_role_does_everything(
    statement: str, sentence: str
) -> None:
    assert refusals_after(statement) == [sentence]


def test_a_month_that_cannot_be_made_refuses_and_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused() -> list[Month]:
        raise OperationalError("permission denied")

    monkeypatch.setattr(months, "make_ahead", refused)
    monkeypatch.setattr(months, "list_months", lambda: [Month.of(timezone.now())])
    (sentence,) = start.find_refusals()
    assert sentence.endswith("is refused. Make it with: manage.py make_ledger_months")


def test_a_database_without_the_ledger_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(months, "are_installed", lambda: False)
    assert start.find_refusals() == [
        "The ledger's tables are missing. Make them with: manage.py migrate"
    ]


def test_a_database_of_another_version_is_not_migrated() -> None:
    with undoing("default"):
        MigrationRecorder(connections["default"]).record_applied("audit", "0019_of_before")
        with pytest.raises(SystemCheckError, match="another version") as refused:
            call_command("migrate", verbosity=0, skip_checks=False)
    assert "(audit.E004)" in str(refused.value)
    assert "`make reset` deletes the database" in str(refused.value)


def test_a_database_that_is_away_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> bool:
        raise OperationalError("connection refused\n")

    monkeypatch.setattr(months, "are_installed", away)
    assert start.find_refusals() == ["The ledger's database does not answer: connection refused"]


def test_another_vault_key_refuses_all_but_the_sealer(settings: Settings) -> None:
    ledger.append(entry())
    settings.LEDGER_VAULT_KEY = "another one"
    (sentence,) = start.find_refusals()
    assert sentence.startswith("The data key of the organisation ")
    settings.PROCESS = "sealer"
    assert start.find_refusals() == []
