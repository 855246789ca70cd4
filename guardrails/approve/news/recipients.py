"""Who hears of approvals: added, changed and removed, each as a row of the ledger."""

from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError

from audit.ledger import events
from guardrails.models import ApprovalRecipient
from guardrails.models.approval_recipients import check_mail
from integrations.credentials import credentials, sealing
from integrations.network import outgoing, web_push

CHANGE = "approval.recipient"


def save(row: ApprovalRecipient, *, address: str, by: str) -> None:
    """Store it, with another address where one is given; a secret one is sealed. Recorded first.
    Raises audit.contracts.LedgerError, and ValidationError."""
    is_new = row._state.adding
    if address:
        set_address(row, address)
        row.stopped_at, row.problem = None, ""
    row.full_clean()
    _record(row, "added" if is_new else "changed", by=by, is_other_address=bool(address))
    if is_new:
        row.added_by = by
    row.save()


def remove(row: ApprovalRecipient, *, by: str) -> None:
    """They hear nothing from now on. Raises audit.contracts.LedgerError."""
    _record(row, "removed", by=by, is_other_address=False)
    row.delete()


def set_address(row: ApprovalRecipient, address: str) -> None:
    """On the row, unsaved. Raises ValidationError with a sentence."""
    if not row.is_sealed:
        check_mail(address)
        row.address, row.sealed, row.key_id = address, b"", ""
        return
    is_browser = row.kind == ApprovalRecipient.Kind.PUSH
    try:
        url = web_push.read(address).endpoint if is_browser else address
        outgoing.check_form(url)
        sealed = credentials.seal(address, account_id=row.id)
    except outgoing.Forbidden as error:
        raise ValidationError({"new_address": str(error)}) from error
    except sealing.BadKey as error:
        sentence = "Addresses cannot be sealed here: set CREDENTIALS_PUBLIC_KEY."
        raise ValidationError({"new_address": sentence}) from error
    row.address = str(urlsplit(url).hostname)
    row.sealed, row.key_id = sealed.data, sealed.key_id


def target(row: ApprovalRecipient) -> str:
    """Where to send. Raises NotPermitted where this process cannot open it."""
    if not row.is_sealed:
        return row.address
    sealed = sealing.Sealed(key_id=row.key_id, data=bytes(row.sealed))
    return credentials.unseal(sealed, account_id=row.id)


def _record(row: ApprovalRecipient, change: str, *, by: str, is_other_address: bool) -> None:
    payload: dict[str, Any] = {
        "recipient": str(row.id),
        "change": change,
        "name": row.name,
        "kind": row.kind,
        "address": row.address,
        "is_other_address": is_other_address,
        "account": str(row.account_id or ""),
        "after_minutes": row.after_minutes,
        "quiet": f"{row.quiet_from}-{row.quiet_until} {row.time_zone}" if row.quiet_from else "",
    }
    events.record(
        CHANGE,
        tenant_id=row.organisation_id,
        after_end=change == "removed",
        actor_type="system" if by.startswith("system:") else "admin",
        actor_id=by,
        payload=payload,
    )
