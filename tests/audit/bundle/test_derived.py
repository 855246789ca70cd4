"""What people read of a bundle is what its rows say, and nothing else is SOUND."""

import csv
import io
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from audit.bundle import verify
from audit.bundle.contents import Bundle
from audit.contracts import Filters
from audit.keeping import erasure
from audit.keeping.erasure import Scope
from audit.ledger import ledger
from tests.audit import sealed
from tests.audit.bundle import files as bundles, leaving
from tests.audit.bundle.files import Files
from tests.audit.entries import append_action, entry

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
FORMULA = "=1+1"
HOSTILE = 'Send “a\u202eb, "c"\r\n<b>” & more.'
TABLE, REPORT = verify.TABLE, verify.REPORT


def settle() -> UUID:
    """What a spreadsheet would run, what a page would, a refusal, and somebody to erase."""
    tenant_id = uuid4()
    append_action(tenant_id=tenant_id, resource_id=FORMULA, on_behalf_of="maya")
    append_action(
        tenant_id=tenant_id,
        on_behalf_of="omar",
        payload={"description": HOSTILE, "sentence": "It is permitted.", "text": "secret"},
    )
    refused = {"phase": "blocked", "status": "blocked", "decision": "blocked"}
    payload = {"description": "Send “Lunch” to bob@rival.example", "sentence": "Bob is no target."}
    ledger.append(entry(tenant_id=tenant_id, on_behalf_of="maya", payload=payload, **refused))
    sealed.seal(tenant_id)
    return tenant_id


def make(tenant_id: UUID, **filters: object) -> bytes:
    chosen = Filters(tenant_id=tenant_id, **filters)  # type: ignore[arg-type]
    return b"".join(
        Bundle(filters=chosen, actor_type="admin", actor_id="operator:olga", with_derived=True)
    )


def read_csv(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode(), newline=""), strict=True))


def test_rows_are_there_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tenant_id = settle()
    data = make(tenant_id)
    files = bundles.unpack(data)
    cells = read_csv(files[TABLE])
    assert [row["id"] for row in cells] == [
        str(row["id"]) for row in bundles.lines(files, "ledger")
    ]
    assert cells[0]["resource_id"] == f"'{FORMULA}"
    assert [(row["sentence"], row["object"]) for row in cells] == [
        ("Begun: archive.", ""),
        ("Done: archive.", ""),
        (f"Begun: {HOSTILE} It is permitted.", HOSTILE),
        (f"Done: {HOSTILE} It is permitted.", HOSTILE),
        (
            "Refused: Send “Lunch” to bob@rival.example. Bob is no target.",
            "Send “Lunch” to bob@rival.example",
        ),
    ]
    report = files[REPORT].decode()
    assert "All rows of that time: 3." in report
    assert "<tr><td>maya</td><td>1</td><td>1</td></tr>" in report
    assert "Send “a⟨U+202E⟩b, &quot;c&quot;⟨U+000D⟩⟨U+000A⟩&lt;b&gt;” &amp; more." in report
    assert json.loads(files["manifest.json"])["derived"] == [TABLE, REPORT]
    assert bundles.check(tmp_path, data, sealed.key(tenant_id)) == 0
    assert f"Held against the rows, word for word: {TABLE}, {REPORT}." in capsys.readouterr().out


def test_what_was_erased_is_there_without_names(tmp_path: Path) -> None:
    tenant_id = settle()
    scope = Scope(tenant_id=tenant_id, on_behalf_of="omar")
    erasure.erase(scope, reason="asked for", actor_id="command:olga")
    sealed.seal(tenant_id)
    data = make(tenant_id)
    files = bundles.unpack(data)
    rows = read_csv(files[TABLE])
    assert [row["payload"] == "" for row in rows][:5] == [False, False, True, True, False]
    assert (rows[3]["sentence"], rows[3]["object"]) == ("Done: archive.", "")
    assert b"secret" not in files[TABLE]
    assert b"&lt;b&gt;" not in files[REPORT]
    assert bundles.check(tmp_path, data, sealed.key(tenant_id)) == 0


def alter_a_word(files: Files) -> None:
    files[TABLE] = files[TABLE].replace(b"bob@rival.example", b"bob@client.example", 1)


def drop_a_line(files: Files) -> None:
    files[TABLE] = b"\r\n".join(files[TABLE].split(b"\r\n")[:-2]) + b"\r\n"


def add_a_line(files: Files) -> None:
    files[TABLE] += b"one more line\r\n"


def alter_the_report(files: Files) -> None:
    files[REPORT] = files[REPORT].replace(b"Refused: Send", b"Done: Send")


def widen_the_period(files: Files) -> None:
    until = f"{datetime.now(UTC) + timedelta(days=9):%Y-%m-%dT%H:%M:%S.%fZ}"
    bundles.mend(files, until=until)


def narrow_the_period(files: Files) -> None:
    bundles.mend(files, since=f"{datetime.now(UTC) + timedelta(days=1):%Y-%m-%dT%H:%M:%S.%fZ}")


ALTERATIONS: dict[Callable[[Files], None], str] = {
    alter_a_word: f"{TABLE} is not what the rows say, from the row of ",
    drop_a_line: f"{TABLE} is not what the rows say, from the row of ",
    add_a_line: f"{TABLE} is not what the rows say, from its end on.",
    alter_the_report: f"{REPORT} is not what the rows say.",
    widen_the_period: "so later ones of the period may be missing.",
    narrow_the_period: f"{REPORT} is not what the rows say.",
}


@pytest.mark.parametrize("alter", ALTERATIONS, ids=lambda alter: alter.__name__)
def test_what_was_altered_of_it_is_named_though_the_manifest_fits(
    alter: Callable[[Files], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tenant_id = settle()
    files = bundles.unpack(make(tenant_id))
    alter(files)
    bundles.mend(files)
    assert bundles.check(tmp_path, bundles.pack(files), sealed.key(tenant_id)) == 1
    assert ALTERATIONS[alter] in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["swap", "drop"])
def test_the_first_wrong_row_is_named_once_and_what_follows_is_counted(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tenant_id = uuid4()
    for number in range(20):
        append_action(tenant_id=tenant_id, payload={"description": f"File mail {number}"})
    sealed.seal(tenant_id)
    files = bundles.unpack(make(tenant_id))
    rows = bundles.lines(files, "ledger")
    if kind == "swap":
        rows[4], rows[30] = rows[30], rows[4]
    else:
        del rows[4]
    bundles.put(files, "ledger", rows)
    assert bundles.check(tmp_path, bundles.pack(files), sealed.key(tenant_id)) == 1
    found = [line for line in capsys.readouterr().out.splitlines() if line.startswith("FINDING")]
    [first] = [line for line in found if "This is not the row that was sealed there" in line]
    assert first.startswith(f"FINDING place 4 ({rows[4]['recorded_at']}, archive")
    assert f"behind place 3 ({rows[3]['recorded_at']}, archive File mail 1)." in first
    assert len(found) < 10


def test_nobody_who_did_not_ask_gets_them() -> None:
    files = bundles.unpack(bundles.make(settle()))
    assert not any(name.startswith("derived/") for name in files)
    assert json.loads(files["manifest.json"])["derived"] == []


def test_a_filtered_bundle_tells_what_matches(tmp_path: Path) -> None:
    tenant_id = settle()
    data = make(tenant_id, on_behalf_of=frozenset({"maya"}))
    assert "Rows that match the bundle&" not in bundles.unpack(data)[REPORT].decode()
    assert "Rows that match the bundle's filters: 2." in bundles.unpack(data)[REPORT].decode()
    assert bundles.check(tmp_path, data, sealed.key(tenant_id)) == 0


def test_rows_that_left_by_retention_are_not_among_them(tmp_path: Path) -> None:
    with leaving.old_months():
        tenant_id = leaving.settle()
        leaving.cut()
        sealed.seal(tenant_id)
        data = make(tenant_id)
    files = bundles.unpack(data)
    kept = [row["id"] for row in bundles.lines(files, "ledger") if "left" not in row]
    assert [row["id"] for row in read_csv(files[TABLE])] == [str(id) for id in kept]
    assert bundles.check(tmp_path, data, sealed.key(tenant_id)) == 0


def test_a_report_gives_the_first_rows_and_says_how_many_more_there_are(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(verify, "LISTED", 1)
    tenant_id = settle()
    data = make(tenant_id)
    assert "2 more rows stand in ledger.csv" in bundles.unpack(data)[REPORT].decode()
    assert bundles.check(tmp_path, data, sealed.key(tenant_id)) == 0
