"""What became of a write to such a mailbox, by what Remit kept of it and by what its server
shows."""

from collections.abc import Callable
from typing import TypeVar

from integrations.contracts import AccountRef
from integrations.models import MailWrite
from integrations.ports.evidence import Evidence, NotPerformed, Performed
from integrations.providers.mailboxes import progress

CALLED_OFF = "The mail had not left Remit, and cannot leave any more."
M = TypeVar("M")


def find(
    account: AccountRef,
    key: str,
    *,
    open_: Callable[[AccountRef], M],
    of_sending: Callable[[MailWrite, M], Evidence],
    of_draft: Callable[[MailWrite, M], Evidence],
    of_change: Callable[[MailWrite, M], Evidence],
) -> Evidence:
    """Raises ProviderError where the server has to be asked and is away. What is said to be not
    sent will not be sent by a process that hangs, either."""
    row = MailWrite.objects.filter(account_id=account.id, key=key).first()
    if row is None or row.operation in progress.SENDING:
        if progress.call_off(account.id, key):
            return NotPerformed(proof=CALLED_OFF)
        row = MailWrite.objects.get(account_id=account.id, key=key)
    if row.state == progress.DONE:
        return Performed(response=row.answer, at=row.changed_at)
    mails = open_(account)
    if row.operation in progress.SENDING:
        return of_sending(row, mails)
    if row.operation == "create_draft":
        return of_draft(row, mails)
    return of_change(row, mails)
