"""Rows of the ledger as the texts that are stored, without making objects of them."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.db import connections

from audit import selectors, vault
from audit.formats.rows import Row
from audit.lines import LINE
from audit.routing import LEDGER

PAGE = 1000
ROWS = f"""
SELECT {LINE}, p.salt, p.body, p.box,
    a.tenant_id, a.action_id, a.attempt_no, a.phase, a.payload_commitment
FROM unnest(%s::uuid[], %s::bigint[]) AS wanted(action_id, id)
JOIN audit_action a ON a.action_id = wanted.action_id AND a.id = wanted.id
LEFT JOIN audit_payload p ON p.action_id = a.action_id AND p.row_id = a.id
ORDER BY a.action_id, a.id
"""  # noqa: S608  # the text is audit.lines' own


def pages(rows: selectors.Rows) -> Iterator[list[Row]]:
    """`rows` action by action, oldest first. Raises audit.vault.Unreadable for a payload that
    is not its row's."""
    keys = rows.order_by("action_id", "id").values_list("action_id", "id")
    page: list[tuple[UUID, int]] = list(keys[:PAGE])
    while page:
        with connections[LEDGER].cursor() as cursor:
            cursor.execute(ROWS, [list(column) for column in zip(*page, strict=True)])
            found = cursor.fetchall()
        yield [row(*one) for one in found]
        action_id, row_id = page[-1]
        behind = keys.filter(action_id__gte=action_id)
        page = list(behind.exclude(action_id=action_id, id__lte=row_id)[:PAGE])


def row(line: str, salt: Any, body: str | None, box: Any, *place: Any) -> Row:
    if box is not None:
        salt, body = vault.decrypt(bytes(box), place=vault.Place(*place)) or (None, None)
    return Row(line, body, None if salt is None else bytes(salt).hex())
