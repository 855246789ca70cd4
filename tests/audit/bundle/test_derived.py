import csv
import io
import json
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from audit.bundle.contents import Bundle
from audit.contracts import Filters
from audit.keeping import erasure
from audit.keeping.erasure import Scope
from tests.audit import sealed
from tests.audit.bundle import files as bundles, leaving
from tests.audit.entries import append_action

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
FORMULA = "=1+1"


@pytest.fixture
def tenant_id() -> UUID:
    tenant_id = uuid4()
    append_action(tenant_id=tenant_id, resource_id=FORMULA, on_behalf_of="maya")
    append_action(tenant_id=tenant_id, on_behalf_of="omar", payload={"text": "secret"})
    sealed.seal(tenant_id)
    return tenant_id


def make(tenant_id: UUID) -> bytes:
    filters = Filters(tenant_id=tenant_id)
    return b"".join(
        Bundle(filters=filters, actor_type="admin", actor_id="operator:olga", with_derived=True)
    )


def read_csv(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode(), newline=""), strict=True))


def test_rows_are_there_as_csv_and_as_events(
    tenant_id: UUID, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = make(tenant_id)
    files = bundles.unpack(data)
    lines = bundles.lines(files, "ledger")
    cells = read_csv(files["derived/ledger.csv"])
    assert [row["id"] for row in cells] == [str(row["id"]) for row in lines]
    assert cells[0]["resource_id"] == f"'{FORMULA}"
    assert json.loads(cells[2]["payload"]) == {"text": "secret"}
    events = [json.loads(line) for line in files["derived/ocsf.jsonl"].splitlines()]
    assert [event["metadata"]["sequence"] for event in events] == [0, 1, 2, 3]
    assert b"secret" not in files["derived/ocsf.jsonl"]
    manifest = json.loads(files["manifest.json"])
    assert manifest["derived"] == ["derived/ledger.csv", "derived/ocsf.jsonl"]
    assert bundles.check(tmp_path, data, sealed.key(tenant_id)) == 0
    said = capsys.readouterr().out
    assert "For reading only, not evidence and not checked: derived/ledger.csv, derived/" in said


def test_what_was_erased_is_empty_there_too(tenant_id: UUID) -> None:
    scope = Scope(tenant_id=tenant_id, on_behalf_of="omar")
    erasure.erase(scope, reason="asked for", actor_id="command:olga")
    sealed.seal(tenant_id)
    files = bundles.unpack(make(tenant_id))
    assert [row["payload"] == "" for row in read_csv(files["derived/ledger.csv"])][:4] == [
        False,
        False,
        True,
        True,
    ]
    assert b"secret" not in files["derived/ledger.csv"]


def test_an_altered_view_is_no_longer_the_file_that_the_manifest_describes(
    tenant_id: UUID, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = bundles.unpack(make(tenant_id))
    files["derived/ledger.csv"] += b"one more line\r\n"
    assert bundles.check(tmp_path, bundles.pack(files), sealed.key(tenant_id)) == 1
    said = capsys.readouterr().out
    assert "derived/ledger.csv is not the file that the manifest describes." in said


def test_nobody_who_did_not_ask_gets_them(tenant_id: UUID) -> None:
    files = bundles.unpack(bundles.make(tenant_id))
    assert not any(name.startswith("derived/") for name in files)
    assert json.loads(files["manifest.json"])["derived"] == []


def test_rows_that_left_by_retention_are_not_among_them() -> None:
    with leaving.old_months():
        tenant_id = leaving.settle()
        leaving.cut()
        sealed.seal(tenant_id)
        files = bundles.unpack(make(tenant_id))
    rows = enumerate(bundles.lines(files, "ledger"))
    kept = [(place, row["id"]) for place, row in rows if "left" not in row]
    assert kept[0][0] == 6  # three actions left
    cells = read_csv(files["derived/ledger.csv"])
    assert [row["id"] for row in cells] == [str(id) for _, id in kept]
    events = [json.loads(line) for line in files["derived/ocsf.jsonl"].splitlines()]
    assert [event["metadata"]["sequence"] for event in events] == [place for place, _ in kept]
