"""Most tests of the whole of Remit work on a copied office. It is like one that was loaded."""

from pathlib import Path
from typing import Any

import pytest

from tests import copies
from tests.office import Office, running_office
from tests.sandbox.data_service.client import mail

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def rows_of(office: Office) -> copies.Rows:
    office.sync("gmail", "calendar")
    office.sync("jira")
    return copies.read(office.copy.original.settled)


def ids(rows: copies.Rows) -> set[str]:
    return {id for text in rows.values() for id in copies.ID.findall(text)}


def without_ids(rows: copies.Rows) -> dict[str, list[str]]:
    return copies.in_order({table: copies.ID.sub("…", text) for table, text in rows.items()})


def test_a_copied_office_has_the_rows_of_a_loaded_one_under_ids_of_its_own(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "_kept", [])
    found = []
    for name in ("loaded", "copied"):
        (tmp_path / name).mkdir()
        with running_office(settings, state_dir=tmp_path / name) as office:
            found.append(rows_of(office))
        copies.write(dict.fromkeys(found[-1], ""))
    loaded, copied = found

    assert len(loaded["knowledge_item"].splitlines()) > 60
    assert without_ids(copied) == without_ids(loaded)
    assert ids(copied) & ids(loaded) == {copies.THE_SAME}


def test_what_a_changed_sandbox_gave_is_not_copied(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "_kept", [])
    found = []
    for name in ("loaded", "changed", "copied"):
        (tmp_path / name).mkdir()
        with running_office(settings, state_dir=tmp_path / name) as office:
            if name == "changed":
                more = {"items": [mail("more")], "notify": False}
                office.control("POST", "/users/maya/emails", json=more)
            office.sync("gmail")
            rows = copies.read(office.copy.original.settled)
            found.append(len(rows["knowledge_item"].splitlines()))
        copies.write(dict.fromkeys(rows, ""))
    loaded, changed, copied = found

    assert (changed, copied) == (loaded + 1, loaded)
