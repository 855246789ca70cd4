"""Gives the ledger's checkpoints away: every day the newest one of an organisation goes to
each address that its compliance officer named, so that a ledger rewritten by somebody who has
database and signing key no longer fits what others hold.

An address counts once the code that was sent to it was typed in. What is due is claimed by a
conditional update, sent outside of any transaction, and recorded in the ledger, whether it
arrived or not; what did not arrive is tried again, at growing intervals.
"""

import base64
import hmac
import json
import logging
import secrets
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import F
from django.utils.crypto import constant_time_compare, salted_hmac

from audit.ledger import chain, events
from audit.models import Checkpoint
from audit.seals import progress, signing_keys
from guardrails.models import CheckpointRecipient
from integrations import exceptions
from integrations.network import outgoing

CHANGE, DELIVERY = "ledger.recipient", "ledger.checkpoint_delivery"
LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # none that is taken for another
CODE_LENGTH = 8
CODE_DAYS = timedelta(days=7)
CODE_TRIES = 5
LEASE = timedelta(minutes=5)  # longer than a delivery takes
WAITS = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 360))

log = logging.getLogger(__name__)


def add(row: CheckpointRecipient, *, by: str) -> None:
    """Store a new recipient, unconfirmed. Recorded first; raises audit.contracts.LedgerError,
    and ValidationError."""
    row.full_clean()
    _record_change(row, "added", by=by)
    row.added_by = by
    row.save(force_insert=True)


def remove(row: CheckpointRecipient, *, by: str) -> None:
    """It receives nothing from now on. Raises audit.contracts.LedgerError."""
    _record_change(row, "removed", by=by, after_end=True)
    row.delete()


def send_code(recipient_id: UUID, *, now: datetime) -> bool:
    """Send a new code to an address that is not confirmed; earlier codes count no more.
    Whether it was sent: if not, the row says why."""
    row = _rows(recipient_id).filter(confirmed_at=None).first()
    if row is None:
        return False
    code = "".join(secrets.choice(LETTERS) for _ in range(CODE_LENGTH))
    digest = _digest(row, code)
    _rows(recipient_id).update(code_digest=digest, code_sent_at=now, code_tries=0)
    said = (
        f"Remit asks whether the checkpoints of the ledger of {row.organisation} may be sent "
        f"here. If you know about it, give this code to the person who asked you: {code}. It "
        f"works for {CODE_DAYS.days} days. If not, do nothing."
    )
    try:
        if row.kind == CheckpointRecipient.Kind.MAIL:
            outgoing.send_mail(row.address, subject="Code for the ledger's checkpoints", text=said)
        else:
            _post(row, "ledger.recipient_code", {"code": code, "text": said}, f"code.{digest}", now)
    except exceptions.ProviderError as error:
        _rows(recipient_id).update(error_code=error.code)
        return False
    _rows(recipient_id).update(error_code="")
    return True


def confirm(recipient_id: UUID, *, code: str, by: str, now: datetime) -> bool:
    """Whether the code is the one that arrived; then the first delivery is due at once. A code
    counts for a week and five tries. Raises audit.contracts.LedgerError."""
    counts = {
        "confirmed_at": None,
        "code_tries__lt": CODE_TRIES,
        "code_sent_at__gt": now - CODE_DAYS,
    }
    if not _rows(recipient_id).filter(**counts).update(code_tries=F("code_tries") + 1):
        return False
    row = _rows(recipient_id).get()
    given = _digest(row, "".join(code.split()).upper())
    if not row.code_digest or not constant_time_compare(given, row.code_digest):
        return False
    _record_change(row, "confirmed", by=by)
    confirmed = {"confirmed_at": now, "next_at": now, "code_digest": "", "error_code": ""}
    return bool(_rows(recipient_id).filter(confirmed_at=None).update(**confirmed))


def due(*, now: datetime) -> list[UUID]:
    """Whom a checkpoint should be sent to by now."""
    rows = CheckpointRecipient.objects.filter(confirmed_at__isnull=False, next_at__lte=now)
    return list(rows.order_by("next_at").values_list("id", flat=True))


def deliver(recipient_id: UUID, *, now: datetime) -> bool | None:
    """Send the newest checkpoint, changed since the last one or not. Whether it arrived; None
    when it was not due, somebody else sends it, or nothing is sealed yet.

    Raises audit.contracts.LedgerError when that cannot be recorded; it is then sent again.
    """
    claimed = _rows(recipient_id).filter(confirmed_at__isnull=False, next_at__lte=now)
    if not claimed.update(next_at=now + LEASE):
        return None
    row = _rows(recipient_id).get()
    checkpoint = progress.find_newest_checkpoint(row.organisation_id)
    if checkpoint is None:
        return None
    try:
        _send(row, checkpoint, now=now)
    except exceptions.ProviderError as error:
        log.warning("checkpoint.not_delivered", extra={"code": error.code, "id": str(row.id)})
        _record(row, checkpoint, error_code=error.code)
        wait = WAITS[min(row.failures, len(WAITS) - 1)]
        failed = {"failures": F("failures") + 1, "error_code": error.code, "next_at": now + wait}
        _rows(recipient_id).update(**failed)
        return False
    _record(row, checkpoint)
    _rows(recipient_id).update(
        failures=0,
        error_code="",
        delivered_at=now,
        delivered_size=checkpoint.size,
        next_at=now + timedelta(hours=settings.CHECKPOINT_DELIVERY_HOURS),
    )
    return True


def problems(organisation_id: UUID, *, now: datetime) -> list[str]:
    """Sentences about addresses that should have a checkpoint and don't."""
    rows = CheckpointRecipient.objects.filter(organisation_id=organisation_id)
    late = now - timedelta(hours=settings.CHECKPOINT_DELIVERY_HOURS) - timedelta(hours=1)
    found = []
    for row in rows:
        if row.confirmed_at is None:
            why = f" It could not be sent: {row.error_code}." if row.error_code else ""
            found.append(f"{row.address} receives nothing until its code is typed in.{why}")
        elif row.failures or (row.delivered_at or row.confirmed_at) < late:
            last = row.delivered_at
            since = f"since {progress.format_age(last, now=now)}" if last else "yet"
            why = f" Tried {row.failures} times: {row.error_code}." if row.failures else ""
            found.append(f"No checkpoint has reached {row.address} {since}.{why}")
    return found


def secret(row: CheckpointRecipient) -> str:
    """What its webhooks are signed with. Derived, so that no table holds it."""
    key = hmac.digest(settings.LEDGER_KEY.encode(), b"checkpoints\0" + row.id.bytes, "sha256")
    return f"whsec_{base64.b64encode(key[:24]).decode()}"


def _rows(recipient_id: UUID) -> Any:
    return CheckpointRecipient.objects.select_related("organisation").filter(id=recipient_id)


def _digest(row: CheckpointRecipient, code: str) -> str:
    found: str = salted_hmac(f"recipient {row.id}", code, algorithm="sha256").hexdigest()
    return found


def _send(row: CheckpointRecipient, checkpoint: Checkpoint, *, now: datetime) -> None:
    if row.kind == CheckpointRecipient.Kind.WEBHOOK:
        said = {
            "organisation": str(row.organisation_id),
            "size": checkpoint.size,
            "note": checkpoint.note,
            "verifier_key": checkpoint.verifier_key,
            "rotations": list(signing_keys.load_keys().rotations),
        }
        _post(row, "ledger.checkpoint", said, f"{checkpoint.size}.{now:%Y%m%d}", now)
        return
    outgoing.send_mail(
        row.address,
        subject=f"Checkpoint of the ledger of {row.organisation}: {checkpoint.size} records",
        text=(
            f"The ledger of {row.organisation} had {checkpoint.size} records when it was sealed "
            f"at {checkpoint.signed_at:%Y-%m-%d %H:%M:%S} UTC. Keep the attached file: given to "
            "verify.py or to the page /ledger/verify with any later bundle, it shows a ledger "
            f"that was rewritten or set back.\n\nKey: {checkpoint.verifier_key}\n\n"
            f"{checkpoint.note}"
        ),
        attachment=outgoing.Attachment(
            name=f"checkpoint-{checkpoint.size}.note", content=checkpoint.note.encode()
        ),
    )


def _post(
    row: CheckpointRecipient, kind: str, data: dict[str, Any], mark: str, now: datetime
) -> None:
    """`mark` makes the id that a receiver knows a repetition by."""
    said = {"type": kind, "timestamp": chain.timestamp(now), "data": data}
    outgoing.send_webhook(
        row.address,
        secret=secret(row),
        webhook_id=f"{row.id}.{mark}",
        body=json.dumps(said, ensure_ascii=False).encode(),
        now=now,
    )


def _record(row: CheckpointRecipient, checkpoint: Checkpoint, *, error_code: str = "") -> None:
    events.record(
        DELIVERY,
        tenant_id=row.organisation_id,
        after_end=True,
        status="failed" if error_code else "succeeded",
        error_code=error_code,
        payload={
            "recipient": str(row.id),
            "kind": row.kind,
            "address": row.address,
            "size": checkpoint.size,
            "root": bytes(checkpoint.root).hex(),
        },
    )


def _record_change(
    row: CheckpointRecipient, what: str, *, by: str, after_end: bool = False
) -> None:
    events.record(
        CHANGE,
        tenant_id=row.organisation_id,
        after_end=after_end,
        actor_type="admin",
        actor_id=by,
        payload={
            "recipient": str(row.id),
            "kind": row.kind,
            "address": row.address,
            "change": what,
        },
    )
