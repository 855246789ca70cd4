"""manage.py directory: shown first, then applied, or nothing at all."""

from pathlib import Path

import pytest
from django.core.management.base import CommandError

from guardrails.policies.history import history
from tests.commands import run_command
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
CSV = "address,name,kind\nzoe@company.com,Zoë Müller,person\nall@company.com,Everyone,group\n"


def run(office: Office, *what: str) -> str:
    return run_command("directory", "--organisation", office.organisation.slug, *what)


def test_a_file_is_shown_and_then_applied(office: Office, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text(CSV, "utf-8")

    assert run(office, "import", str(file)).splitlines() == [
        "+ all@company.com: Everyone, a group: many people read it, entered or imported",
        "+ zoe@company.com: Zoë Müller, entered or imported",
        "2 entries would change. Add --apply to change them.",
    ]
    assert not office.organisation.people.exists()
    assert "2 entries changed." in run(office, "import", str(file), "--whole", "--apply")
    assert office.organisation.people.count() == 2
    assert {one.who for one in history(organisation_id=office.organisation.pk).changes} == {
        "command"
    }
    assert run(office, "import", str(file), "--whole").splitlines() == ["Nothing differs."]


def test_a_wrong_file_changes_nothing_and_says_the_lines(office: Office, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text(CSV + "tom,Tom\n", "utf-8")

    with pytest.raises(CommandError, match=r"Nothing was changed\.\nLine 4: has 2 cells"):
        run(office, "import", str(file), "--apply")
    with pytest.raises(CommandError, match="cannot be read"):
        run(office, "import", str(tmp_path / "none.csv"), "--apply")
    assert not office.organisation.people.exists()


def test_a_providers_directory_follows_its_changes(office: Office) -> None:
    whose = ["--user", office.mailbox.external_user_id, "--source", office.mailbox.source]
    office.list_people(
        {"address": "zoe@company.com", "name": "Zoë Müller"},
        {"address": "tom@company.com", "name": "Tom Becker"},
        {"address": "eve@company.com", "name": "=1+A"},
    )
    said = run(office, "sync", *whose, "--apply")
    assert "! left out: “eve@company.com” (=1+A): a name has signs" in said
    assert "2 entries changed." in said

    office.list_people({"address": "zoe@company.com", "name": "Zoë Weber"})
    run(office, "sync", *whose, "--apply")

    people = office.organisation.people.values_list("address", "name", "source")
    assert list(people) == [("zoe@company.com", "Zoë Weber", "provider")]


def test_a_mailbox_that_is_paused_or_unknown_is_not_asked(office: Office) -> None:
    office.mailbox.paused = True
    office.mailbox.save()
    whose = ["--user", office.mailbox.external_user_id, "--source", office.mailbox.source]

    with pytest.raises(CommandError, match="that is not paused"):
        run(office, "sync", *whose, "--apply")
    with pytest.raises(CommandError, match="There is no organisation"):
        run_command("directory", "--organisation", "nobody", "sync", *whose)
