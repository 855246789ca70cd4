import csv
import hashlib
import io
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import connections
from django.db.models import TextField
from pyarrow import parquet

from audit.contracts import Entry, Filters
from audit.formats import export, rows
from audit.formats.text import cell, csv_lines
from audit.keeping import erasure
from audit.ledger import chain, ledger, queries, selectors
from audit.ledger.ids import uuid7
from audit.ledger.sentences import say
from audit.models import ExecutedAgentAction
from tests.audit.entries import append_action, entry

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def make(format: export.Format = "jsonl", **filters: Any) -> export.Export:
    return export.Export(
        filters=Filters(**filters), format=format, actor_type="admin", actor_id="operator:olga"
    )


def lines_of(made: export.Export) -> list[dict[str, Any]]:
    return [json.loads(line) for line in b"".join(made).splitlines()]


def read_csv(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode(), newline=""), strict=True))


def fill(tenant_id: UUID, *, actions: int) -> None:
    """Many rows at once, by copying one: appending each would take long. They are outcomes:
    what an attempt leaves open, other tests would have to recover."""
    first = entry(tenant_id=tenant_id, phase="outcome", status="succeeded")
    row_id = ledger.append(first)
    plain = selectors.opened(queries.select_with_payload().get(id=row_id))
    assert plain
    columns = rows.COLUMNS[2:-2]
    names = ", ".join(f'"{name}"' for name in columns)
    with connections["ledger"].cursor() as cursor:
        cursor.execute(
            f"""
            WITH copied AS (
                INSERT INTO audit_action (action_id, {names})
                SELECT unnest(%s::uuid[]), {names} FROM audit_action WHERE id = %s
                RETURNING id, action_id, tenant_id
            )
            INSERT INTO audit_payload (row_id, action_id, tenant_id, salt, body)
            SELECT copied.id, copied.action_id, copied.tenant_id, %s, %s
            FROM copied
            """,
            [[uuid7() for _ in range(actions - 1)], row_id, *plain],
        )


IDS: dict[export.Format, Callable[[bytes], list[str]]] = {
    "csv": lambda data: [row["action_id"] for row in read_csv(data)],
    "jsonl": lambda data: [json.loads(line)["action_id"] for line in data.splitlines()[:-1]],
    "ocsf": lambda data: [
        json.loads(line)["metadata"]["uid"].partition("/")[0] for line in data.splitlines()
    ],
    "parquet": lambda data: parquet.read_table(io.BytesIO(data))["action_id"].to_pylist(),
}


def test_an_export_holds_every_phase_in_order_and_a_manifest() -> None:
    tenant_id = uuid4()
    actions = [append_action(tenant_id=tenant_id) for _ in range(3)]
    append_action(tenant_id=uuid4())
    made = make(tenant_id=tenant_id)
    data = b"".join(made)
    *rows, last = [json.loads(line) for line in data.splitlines()]
    assert [(row["action_id"], row["phase"]) for row in rows] == [
        (str(action_id), phase) for action_id in actions for phase in ("attempt", "outcome")
    ]
    before_manifest = data[: data.rindex(b"\n", 0, -1) + 1]
    assert last["manifest"]["rows"] == 6
    assert last["manifest"]["sha256"] == hashlib.sha256(before_manifest).hexdigest()
    assert last["manifest"]["filters"] == {}


def test_a_line_is_canonical_and_its_commitments_can_be_checked() -> None:
    tenant_id = uuid4()
    append_action(tenant_id=tenant_id, resource_id="mail-1")
    *lines, _ = b"".join(make(tenant_id=tenant_id)).splitlines()
    for line in lines:
        row = json.loads(line)
        assert chain.canonical_bytes(row) == line
        body = chain.canonical_bytes({name: row[name] for name in rows.CONTENT})
        salt = bytes.fromhex(row["salt"])
        assert chain.payload_commitment(salt, body) == row["payload_commitment"]


def test_csv_holds_the_same_rows_by_rfc_4180() -> None:
    tenant_id = uuid4()
    append_action(tenant_id=tenant_id, payload={"text": 'a "quoted", text\r\nwith lines'})
    data = b"".join(make("csv", tenant_id=tenant_id))
    assert data.startswith(b"sentence,object,id,action_id,phase,")
    assert data.endswith(b"\r\n")
    rows = read_csv(data)
    assert [row["phase"] for row in rows] == ["attempt", "outcome"]
    assert json.loads(rows[0]["payload"]) == {"text": 'a "quoted", text\r\nwith lines'}


def test_a_formula_in_any_column_is_neutralised() -> None:
    tenant_id = uuid4()
    append_action(tenant_id=tenant_id, actor_id='=HYPERLINK("http://evil")', resource_id="@SUM(1)")
    row = read_csv(b"".join(make("csv", tenant_id=tenant_id)))[0]
    assert row["actor_id"] == '\'=HYPERLINK("http://evil")'
    assert row["resource_id"] == "'@SUM(1)"


HOSTILE = (
    *(
        "",
        "plain",
        "a b",
        'say "x"',
        '"',
        "a,b",
        ",",
        "a\r\nb",
        "\n",
        "\\.",
        "\\",
        "\x02",
        "\x01x",
        "\x03",
    ),
    *(
        "=1+1",
        '=A1,"x"',
        "+1",
        "-1",
        "@x",
        "\t=1",
        "\r=1",
        "\uff1d1",
        "é“x”",
        "\U0001f600",
        "'=1",
        " =1",
    ),
)


def test_csv_made_by_the_database_is_what_the_json_lines_say() -> None:
    tenant_id = uuid4()
    texts = {
        field.attname
        for field in ExecutedAgentAction._meta.concrete_fields
        if isinstance(field, TextField) and field.attname in Entry.__dataclass_fields__
    } - {"phase", "status", "actor_type", "decision", "action_type"}
    for text in HOSTILE:
        ledger.append(
            entry(
                tenant_id=tenant_id,
                account_id=uuid4() if text else None,
                latency_ms=len(text) or None,
                resource_id=text,
                target_id=text,
                payload={"text": text} if text else {},
                **dict.fromkeys(texts, text),
            )
        )
        append_action(tenant_id=tenant_id, run_id=text)
    scope = erasure.Scope(tenant_id=tenant_id, on_behalf_of="plain")
    erasure.erase(scope, reason="=asked, for", actor_id="command:olga")
    until = datetime.now(UTC)
    *lines, _ = lines_of(make(tenant_id=tenant_id, until=until))
    expected = [list[object](rows.HEADER)]
    for line in lines:
        said = say(line["action_type"], line["status"], line["payload"] or {})
        line["object"], line["sentence"] = said
        for name in ("artifacts", "payload") if line["salt"] else ():
            line[name] = chain.canonical_bytes(line[name]).decode()
        expected.append([cell(line[name]) for name in rows.HEADER])
    assert any(line["salt"] is None for line in lines)
    data = b"".join(make("csv", tenant_id=tenant_id, until=until))
    # Python leaves a text of the control character as it is that stands for NULL in COPY.
    assert data.replace(b'"\x03"', b"\x03") == csv_lines(expected)


def test_nothing_is_open_on_the_server_while_the_reader_takes_its_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("audit.formats.stored.PAGE", 2)
    tenant_id = uuid4()
    for _ in range(4):
        append_action(tenant_id=tenant_id)
    found = []
    for _ in make("csv", tenant_id=tenant_id):
        session: Any = connections["ledger"].connection
        found.append(session.info.transaction_status.name)
        with connections["ledger"].cursor() as cursor:  # it can be used meanwhile
            cursor.execute("SELECT 1")
    assert found == ["IDLE"] * 5


def test_a_page_ends_between_the_phases_of_an_action(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("audit.formats.stored.PAGE", 3)
    tenant_id = uuid4()
    actions = [append_action(tenant_id=tenant_id) for _ in range(4)]
    read = read_csv(b"".join(make("csv", tenant_id=tenant_id)))
    assert [(row["action_id"], row["phase"]) for row in read] == [
        (str(action_id), phase) for action_id in actions for phase in ("attempt", "outcome")
    ]


def test_filters_choose_actions_and_all_their_phases() -> None:
    tenant_id = uuid4()
    append_action(tenant_id=tenant_id)
    failed = append_action(tenant_id=tenant_id, status="failed")
    *rows, last = lines_of(make(tenant_id=tenant_id, status="failed"))
    assert [(row["action_id"], row["status"]) for row in rows] == [
        (str(failed), "pending"),
        (str(failed), "failed"),
    ]
    assert last["manifest"]["filters"] == {"status": "failed"}


def test_an_export_is_the_ledger_as_it_stood_when_it_was_asked_for() -> None:
    tenant_id = uuid4()
    waiting = append_action(tenant_id=tenant_id, status="pending")
    everything, open_ones = make(tenant_id=tenant_id), make(tenant_id=tenant_id, status="pending")
    ledger.append(entry(tenant_id=tenant_id, action_id=waiting, phase="outcome", status="failed"))
    append_action(tenant_id=tenant_id)
    assert [row["action_id"] for row in lines_of(everything)[:-1]] == [str(waiting)]
    assert [row["phase"] for row in lines_of(open_ones)[:-1]][:1] == ["attempt"]


def test_an_export_is_recorded_when_it_starts_and_when_it_ends() -> None:
    made = make("csv", tenant_id=uuid4())
    assert [row.status for row in selectors.recorded(made.id)] == ["pending"]
    data = b"".join(made)
    started, ended = selectors.recorded(made.id)
    assert (ended.status, ended.action_type, ended.actor_id) == (
        "succeeded",
        "ledger.export",
        "operator:olga",
    )
    assert ended.payload["manifest"]["sha256"] == hashlib.sha256(data).hexdigest()
    assert started.payload["manifest"]["export_id"] == str(made.id)


def test_an_export_whose_reader_goes_away_is_recorded_as_failed() -> None:
    tenant_id = uuid4()
    append_action(tenant_id=tenant_id)
    made = make("csv", tenant_id=tenant_id)
    chunks: Iterator[bytes] = iter(made)
    next(chunks)
    chunks.close()  # type: ignore[attr-defined]  # it is a generator
    last = selectors.recorded(made.id)[-1]
    assert (last.status, last.error_code) == ("failed", "interrupted")


@pytest.mark.parametrize("format", export.FORMATS)
def test_ten_thousand_rows_come_out_exactly_once_page_by_page(format: export.Format) -> None:
    tenant_id = uuid4()
    fill(tenant_id, actions=10_000)
    made = make(format, tenant_id=tenant_id)
    chunks = iter(made)
    first = next(chunks)
    second = next(chunks)
    assert max(len(first), len(second)) < 6_000_000
    found = IDS[format](b"".join([first, second, *chunks]))
    assert len(found) == len(set(found)) == made.manifest.rows == 10_000
    assert found == sorted(found)


def test_the_command_writes_a_file_and_its_manifest(tmp_path: Path) -> None:
    tenant_id = uuid4()
    append_action(tenant_id=tenant_id)
    append_action(tenant_id=tenant_id, action_type="draft")
    target = tmp_path / "ledger.csv"
    call_command(
        "export_ledger",
        "--format=csv",
        f"--tenant={tenant_id}",
        "--action-type=draft",
        "--since=2020-01-01",
        "--until=2100-01-01T00:00:00+02:00",
        f"--output={target}",
    )
    manifest = json.loads((tmp_path / "ledger.csv.manifest.json").read_text())["manifest"]
    assert manifest["rows"] == len(read_csv(target.read_bytes())) == 2
    assert manifest["sha256"] == hashlib.sha256(target.read_bytes()).hexdigest()
    assert manifest["filters"] == {
        "action_type": "draft",
        "since": "2020-01-01T00:00:00.000000Z",
        "until": "2099-12-31T22:00:00.000000Z",
    }


def test_the_command_never_overwrites_a_file(tmp_path: Path) -> None:
    target = tmp_path / "ledger.jsonl"
    target.write_text("precious")
    with pytest.raises(CommandError, match="File exists"):
        call_command("export_ledger", f"--tenant={uuid4()}", f"--output={target}")
    assert target.read_text() == "precious"


def test_the_command_asks_for_the_tenant_when_there_are_several() -> None:
    append_action(tenant_id=uuid4())
    append_action(tenant_id=uuid4())
    with pytest.raises(CommandError, match="Name one with --tenant"):
        call_command("export_ledger")


def test_the_command_refuses_a_period_that_ends_before_it_begins() -> None:
    period = ("--since=2026-11-02", "--until=2026-11-02")
    with pytest.raises(CommandError, match="--until must be after --since"):
        call_command("export_ledger", f"--tenant={uuid4()}", *period)


def test_the_command_says_how_a_time_is_written() -> None:
    with pytest.raises(CommandError, match="“yesterday” is not a time"):
        call_command("export_ledger", "--since=yesterday")


@pytest.mark.parametrize("format", export.FORMATS)
def test_every_format_is_recorded_with_its_digest(format: export.Format) -> None:
    tenant_id = uuid4()
    append_action(tenant_id=tenant_id)
    made = make(format, tenant_id=tenant_id)
    data = b"".join(made)
    if format == "jsonl":
        data = data[: data.rindex(b"\n", 0, -1) + 1]
    ended = selectors.recorded(made.id)[-1].payload["manifest"]
    assert (ended["format"], ended["rows"]) == (format, 2)
    assert ended["sha256"] == hashlib.sha256(data).hexdigest()


def test_ocsf_events_hold_no_text_of_a_payload() -> None:
    tenant_id = uuid4()
    append_action(tenant_id=tenant_id, payload={"text": "secret of maya"})
    data = b"".join(make("ocsf", tenant_id=tenant_id))
    first, second = map(json.loads, data.splitlines())
    assert (first["status_id"], second["status_id"]) == (99, 1)
    assert {first["class_uid"], second["class_uid"]} == {6003}
    assert b"secret" not in data


def test_parquet_is_refused_with_a_sentence_where_its_package_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tenant_id, target = uuid4(), tmp_path / "ledger.parquet"
    append_action(tenant_id=tenant_id)
    monkeypatch.setattr("audit.formats.parquet.pyarrow", None)
    command = ("export_ledger", "--format=parquet", f"--tenant={tenant_id}", f"--output={target}")
    with pytest.raises(CommandError, match="Parquet needs the package pyarrow"):
        call_command(*command)
    assert not target.exists()
    actions = selectors.actions(filters=Filters(tenant_id=tenant_id)).rows
    assert [row.action_type for row in actions] == ["archive"]
