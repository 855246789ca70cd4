import io
import json
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pyarrow
import pytest
from pyarrow import parquet

from audit.contracts import Filters
from audit.formats import parquet as formats
from audit.formats.export import Export
from audit.formats.rows import HEADER
from audit.models import ExecutedAgentAction
from tests.audit.entries import append_action

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def read(data: bytes) -> Any:
    return parquet.ParquetFile(io.BytesIO(data))


def exported(**filters: Any) -> bytes:
    wanted = Filters(**filters)
    return b"".join(
        Export(filters=wanted, format="parquet", actor_type="admin", actor_id="operator:olga")
    )


def test_columns_are_typed_and_hold_what_the_ledger_holds() -> None:
    tenant_id = uuid4()
    action_id = append_action(
        tenant_id=tenant_id,
        account_id=uuid4(),
        latency_ms=12,
        resource_id="mail-1",
        payload={"text": "=1+1 “x”"},
    )
    table = read(exported(tenant_id=tenant_id)).read()
    types = {field.name: field.type for field in table.schema}
    assert tuple(types) == HEADER
    assert {
        name: str(types[name]) for name in ("id", "attempt_no", "latency_ms", "target_row")
    } == {
        "id": "int64",
        "attempt_no": "int16",
        "latency_ms": "int32",
        "target_row": "int64",
    }
    assert types["recorded_at"] == types["occurred_at"] == pyarrow.timestamp("us", tz="UTC")
    assert types["payload"] == types["action_id"] == types["xact"] == pyarrow.string()
    first, second = table.to_pylist()
    row = ExecutedAgentAction.objects.get(action_id=action_id, phase="attempt")
    assert first["recorded_at"].astimezone(UTC) == row.recorded_at
    assert isinstance(first["occurred_at"], datetime)
    assert (first["action_id"], first["latency_ms"]) == (str(action_id), 12)
    assert (first["target_row"], first["resource_id"]) == (None, "mail-1")
    assert json.loads(first["payload"]) == {"text": "=1+1 “x”"}
    assert json.loads(second["artifacts"])[0]["external_id"] == "draft-1"


def test_row_groups_are_written_as_they_fill(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "ROW_GROUP", 4)
    tenant_id = uuid4()
    for _ in range(5):
        append_action(tenant_id=tenant_id)
    monkeypatch.setattr("audit.formats.stored.PAGE", 2)
    file = read(exported(tenant_id=tenant_id))
    groups = [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)]
    assert groups == [4, 4, 2]


def test_an_empty_export_is_a_file_that_opens() -> None:
    table = read(exported(tenant_id=uuid4())).read()
    assert (table.num_rows, tuple(table.column_names)) == (0, HEADER)
