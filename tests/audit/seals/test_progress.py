from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connections, transaction

from audit.seals.progress import SealProgress, find_newest_checkpoint, load_progress
from tests.audit import sealed
from tests.audit.entries import append_action
from tests.database import unpooled

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def state(
    *, size: int = 12345, signed: timedelta | None = None, waiting: timedelta | None = None
) -> SealProgress:
    return SealProgress(
        size=size,
        signed_at=None if signed is None else NOW - signed,
        waiting_since=None if waiting is None else NOW - waiting,
        at=NOW,
        stop_after=timedelta(minutes=15),
    )


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (state(signed=timedelta(seconds=3)), "Sealed 3 s ago, 12,345 records."),
        (state(signed=timedelta(minutes=3)), "Sealed 3 min ago, 12,345 records."),
        (state(signed=timedelta(hours=30)), "Sealed 1 d ago, 12,345 records."),
        (
            state(signed=timedelta(hours=2), waiting=timedelta(seconds=60)),
            "Sealed 2 h ago, 12,345 records.",
        ),
        (
            state(signed=timedelta(hours=2), waiting=timedelta(seconds=61)),
            "Not sealed since 1 min: is `manage.py seal_ledger` running?",
        ),
        (
            state(waiting=timedelta(minutes=15)),
            "Not sealed since 15 min: is `manage.py seal_ledger` running? Until it is, nothing "
            "that cannot be undone is done.",
        ),
        (state(size=0), "Nothing is sealed yet."),
    ],
)
def test_the_badge_says_how_far_the_ledger_is_sealed(found: SealProgress, sentence: str) -> None:
    assert found.sentence == sentence
    assert found.is_behind == sentence.startswith("Not sealed")


@pytest.mark.parametrize(
    ("waiting", "why"),
    [
        (None, ""),
        (timedelta(seconds=899, microseconds=999_999), ""),
        (timedelta(minutes=15), "A record has waited to be sealed for 15 min."),
        (timedelta(hours=3), "A record has waited to be sealed for 3 h."),
    ],
)
def test_it_stops_what_cannot_be_taken_back_when_a_record_has_waited_too_long(
    waiting: timedelta | None, why: str
) -> None:
    assert state(waiting=waiting).stops == why


@pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
def test_a_row_that_waits_stops_its_own_organisation_until_it_is_sealed(settings: Any) -> None:
    tenant_id, other = uuid4(), uuid4()
    with sealed.recorded_before(timedelta(minutes=16)):
        append_action(tenant_id=tenant_id)
    append_action(tenant_id=other)
    assert load_progress(tenant_id).stops == "A record has waited to be sealed for 16 min."
    assert load_progress(other).stops == ""
    settings.LEDGER_STOP_MINUTES = 17
    assert load_progress(tenant_id).stops == ""
    settings.LEDGER_STOP_MINUTES = 15
    sealed.seal(tenant_id)
    assert load_progress(tenant_id).stops == ""


@pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
def test_the_state_is_that_of_one_tenant() -> None:
    tenant_id = uuid4()
    assert load_progress(tenant_id).sentence == "Nothing is sealed yet."
    append_action(tenant_id=tenant_id)
    before = load_progress(tenant_id)
    assert (before.size, before.signed_at) == (0, None)
    assert before.waiting_since is not None
    sealed.seal(tenant_id)
    append_action(tenant_id=uuid4())
    after = load_progress(tenant_id)
    assert (after.size, after.waiting_since) == (2, None)
    checkpoint = find_newest_checkpoint(tenant_id)
    assert checkpoint is not None
    assert checkpoint.signed_at == after.signed_at


@pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
def test_a_statement_that_the_server_forgot_ends_no_transaction() -> None:
    tenant_id = uuid4()
    append_action(tenant_id=tenant_id)
    with unpooled():
        load_progress(tenant_id)
        with transaction.atomic("ledger"):
            with connections["ledger"].cursor() as cursor:
                cursor.execute("DEALLOCATE ALL")
            assert load_progress(tenant_id).waiting_since is not None
