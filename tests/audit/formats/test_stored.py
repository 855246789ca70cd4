from collections.abc import Iterable, Iterator
from uuid import UUID, uuid4

import pytest
from django.db import DatabaseError, connections

from audit.contracts import Filters
from audit.formats import stored
from audit.formats.copies import Copies
from audit.formats.rows import Row
from audit.formats.text import Csv, JsonLines
from audit.ledger import queries, vault
from audit.models import ExecutedAgentAction
from tests.audit import tampering
from tests.audit.entries import append_action

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def pages(tenant_id: UUID, encoder: Csv | JsonLines) -> Iterator[tuple[int, bytes]]:
    snapshot = queries.take_snapshot().text
    rows = queries.select_every_phase(Filters(tenant_id=tenant_id), snapshot=snapshot)
    return stored.pages(rows, encoder, tenant_id=tenant_id)


def row_ids(tenant_id: UUID) -> list[int]:
    rows = ExecutedAgentAction.objects.filter(tenant_id=tenant_id).order_by("id")
    return list(rows.values_list("id", flat=True))


@pytest.mark.parametrize("encoder", [Csv(), JsonLines()])
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_payload SET box = set_byte(box, 40, get_byte(box, 40) # 1) WHERE row_id = %s",
        "UPDATE audit_action SET payload_commitment = repeat('0', 64) WHERE id = %s",
        """UPDATE audit_action SET payload_commitment = '",' || chr(2) || chr(1) WHERE id = %s""",
        "UPDATE audit_action SET attempt_no = 7 WHERE id = %s",
    ],
)
def test_a_payload_that_is_not_its_rows_is_refused(
    encoder: Csv | JsonLines, statement: str
) -> None:
    tenant_id = uuid4()
    append_action(tenant_id=tenant_id)
    with tampering.tampered(statement, row_ids(tenant_id)[1]), pytest.raises(vault.Unreadable):
        list(pages(tenant_id, encoder))


def test_a_commitment_that_is_none_stops_an_export_also_where_the_payload_is_gone() -> None:
    tenant_id = uuid4()
    append_action(tenant_id=tenant_id)
    forged = """
        WITH gone AS (DELETE FROM audit_payload WHERE row_id = %s RETURNING row_id)
        UPDATE audit_action a SET payload_commitment = '"x,=1+1' FROM gone WHERE a.id = gone.row_id
    """
    with tampering.tampered(forged, row_ids(tenant_id)[1]), pytest.raises(vault.Unreadable):
        list(pages(tenant_id, Csv()))


def test_payloads_are_empty_without_the_data_key() -> None:
    tenant_id = uuid4()
    append_action(tenant_id=tenant_id, payload={"text": "secret"})
    with tampering.tampered("UPDATE audit_data_key SET wrapped = NULL"):
        vault.keys.forget(tenant_id)
        [(number, data)] = pages(tenant_id, Csv())
    vault.keys.forget(tenant_id)
    assert (number, data.count(b"\r\n"), data.count(b",,,,,\r\n")) == (2, 2, 2)


def test_a_page_that_cannot_be_encoded_leaves_nothing_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Broken(Csv):
        def page(self, rows: Iterable[Row]) -> bytes:
            raise OSError("No space left.")

    monkeypatch.setattr(stored, "PAGE", 1)
    tenant_id = uuid4()
    append_action(tenant_id=tenant_id)
    with pytest.raises(OSError, match="No space"):
        list(pages(tenant_id, Broken()))
    assert len(row_ids(tenant_id)) == 2


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([""] * 10, [10, 10]),
        (["é" * 10_000] * 10, [4, 4, 2, 4, 4, 2]),
        ([""] * 4 + ["é" * 10_000] * 6, [10, 4, 4, 2]),
        (["é" * 60_000] * 2, [1, 1, 1, 1]),
    ],
    ids=["small rows", "rows of 20 KB", "large behind small", "rows larger than a page"],
)
def test_a_page_has_as_many_rows_as_its_bytes_permit(
    monkeypatch: pytest.MonkeyPatch, texts: list[str], expected: list[int]
) -> None:
    monkeypatch.setattr(stored, "PAGE", 10)
    monkeypatch.setattr(stored, "PAGE_BYTES", 100_000)
    tenant_id = uuid4()
    for text in texts:
        append_action(tenant_id=tenant_id, payload={"text": text})
    assert [number for number, _ in pages(tenant_id, Csv())] == expected


def test_a_statement_that_fails_raises_and_the_connection_stays_usable() -> None:
    good = "COPY (SELECT 1) TO STDOUT"
    copies = Copies(connections["ledger"], good, "COPY (SELECT 1 / 0) TO STDOUT", good)
    with pytest.raises(DatabaseError, match="division by zero"), copies:
        pass
    with Copies(connections["ledger"], good, good) as copies:
        pass
    assert copies.answers == [[b"1\n"], [b"1\n"]]
