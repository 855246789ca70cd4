"""A ledger of many rows in little time, for benchmarks: what `audit.ledger.ledger.append` would
have stored, by `COPY`, from a process for each core.

Every row is one of a pair that `append` would make (an attempt and its outcome) with an id, mail,
turn, time, user, payload, salt, box, commitment and MAC of its own, so that it verifies.
"""

import json
import multiprocessing
import os
import random
import secrets
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any
from uuid import UUID

TEXT = "please find the minutes of our meeting about invoices and the next delivery"
WORDS = 110
ACTIONS = 1_000  # that are copied at once
PAYLOAD = ("row_id", "action_id", "tenant_id", "salt", "body", "box")
ARTIFACT = (
    *("row_id", "tenant_id", "action_id", "attempt_no", "ordinal", "kind", "provider"),
    *("external_id", "url_key", "digest"),
)
TAKE = "SELECT setval(pg_get_serial_sequence('audit_action', 'id'), %s)"
Row = tuple[Any, ...]


def fill(tenant_id: UUID, rows: int) -> None:
    """`rows` (an even number) of a tenant that has none; every tenth action is Maya's."""
    from django.db import connections

    from audit.ledger import vault

    vault.keys.for_writing(tenant_id)
    with connections["ledger"].cursor() as cursor:
        cursor.execute("SELECT coalesce(max(id), 0) FROM audit_action")
        first = cursor.fetchone()[0] + 1
        cursor.execute(TAKE, [first + rows])
    connections.close_all()
    cores = os.cpu_count() or 1
    bounds = [rows // 2 * core // cores for core in range(cores + 1)]
    shares = [(tenant_id, first + 2 * begin, end - begin) for begin, end in pairwise(bounds)]
    with multiprocessing.get_context("spawn").Pool(cores) as pool:
        pool.starmap(write, shares)


def write(tenant_id: UUID, first: int, actions: int) -> None:
    """So many actions, their rows numbered from `first` on. In a process of its own."""
    import django

    django.setup()
    from django.db import connections, transaction

    from audit.models import SUPPLIED

    with connections["ledger"].cursor() as cursor:
        cursor.execute("SET synchronous_commit = off")
        for done in range(0, actions, ACTIONS):
            number = min(ACTIONS, actions - done)
            made = list(pairs(tenant_id, first + 2 * done, number))
            with transaction.atomic(using="ledger"):
                copied(cursor, "audit_action", ("id", *SUPPLIED), [row for row, _, _ in made])
                copied(cursor, "audit_payload", PAYLOAD, [payload for _, payload, _ in made])
                drafts = [row for _, _, artifacts in made for row in artifacts]
                copied(cursor, "audit_artifact", ARTIFACT, drafts)


def copied(cursor: Any, table: str, columns: tuple[str, ...], rows: list[Row]) -> None:
    names = ", ".join(f'"{name}"' for name in columns)
    with cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def pairs(tenant_id: UUID, first: int, actions: int) -> Iterator[tuple[Row, Row, list[Row]]]:
    """Row, payload and artifacts of each phase, as `ledger.parameters` makes them of one."""
    from audit.ledger import chain, ledger, vault
    from audit.ledger.ids import uuid7
    from audit.ledger.keys import tenant_key
    from audit.models import SUPPLIED
    from benchmarks.ledger import entries

    key, luck = tenant_key(tenant_id), random.Random(first)
    texts = [" ".join(luck.choices(TEXT.split(), k=WORDS)) for _ in range(100)]
    phases = []
    for entry in entries(tenant_id):
        row = dict(zip(SUPPLIED, ledger.parameters(entry), strict=False))
        del row["envelope_mac"]
        drafts = json.loads(ledger.parameters(entry)[-1]) if entry.artifacts else []
        phases.append((entry, row, drafts))
    for number in range(actions):
        action_id, text = uuid7(), f"{first + number} {luck.choice(texts)}"
        mail = f"mail-{action_id}"
        for step, (entry, same, drafts) in enumerate(phases):
            row_id = first + 2 * number + step
            content = {
                "artifacts": [vars(artifact) for artifact in entry.artifacts],
                "payload": {"arguments": {"text": text}},
                "resource_id": mail,
                "target_id": entry.target_id,
            }
            body, salt = chain.stored(content).encode(), secrets.token_bytes(chain.SALT_BYTES)
            commitment = chain.payload_commitment(salt, body)
            row = same | {
                "action_id": str(action_id),
                "run_id": f"turn-{action_id}",
                "resource_key": chain.keyed(key, mail),
                "on_behalf_of": "omar" if (first // 2 + number) % 10 else "maya",
                "occurred_at": chain.timestamp(datetime.now(UTC)),
                "payload_commitment": commitment,
            }
            row["envelope_mac"] = chain.row_mac(key, chain.flat(row))
            place = vault.Place(tenant_id, action_id, entry.attempt_no, entry.phase, commitment)
            box = vault.encrypt(salt, body, place=place)
            yield (
                (row_id, *(row[name] for name in SUPPLIED)),
                (row_id, action_id, tenant_id, None, None, box),
                [
                    (row_id, tenant_id, action_id, 1, *map(draft.get, ARTIFACT[4:]))
                    for draft in drafts
                ],
            )
