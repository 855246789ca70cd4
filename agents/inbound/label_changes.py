"""What follows when somebody changes a mail's labels in their own client: a thread that gets the
status that they chose, corrections, patterns that they put right. Seen once, by the webhook that
says so, or by a sweep where only a sync learned of it.
"""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID, uuid5

from agents.inbound import thread_status
from agents.inbound.thread_turns import ThreadTurn
from guardrails.learn import corrections, precision
from integrations.accounts.reads import mail_reader
from integrations.contracts import AccountRef, Email
from integrations.exceptions import NotFound
from integrations.models import Account
from integrations.ports.registry import BY_SOURCE
from knowledge.ingest import label_changes

AT_ONCE = 100  # a sweep and account: each is a question to the provider


def look(account: AccountRef, mail: Email, *, before: Sequence[str] | None, now: datetime) -> None:
    """Learn from a mail that had the labels `before` (None: nobody knows). Again learns nothing
    new. Raises ProviderError."""
    if before is not None:
        corrections.note(account, mail, before=before, now=now)
    precision.look(account, mail.id, now=now)
    if before is not None and set(before) != set(mail.labels):
        label_changes.forget(account.id, mail.id, before=before)


def _follow(account: AccountRef, mail: Email, before: Sequence[str], now: datetime) -> None:
    key = uuid5(account.id, f"labels {mail.id}")
    turn = ThreadTurn(
        account=account, item_id=mail.id, key={"id": thread_status.derive_id(now, str(key))}
    )
    try:
        cause = thread_status.Cause(key, now, turn.use, turn.left)
        thread_status.follow(cause, account, mail, before=before)
    finally:
        if turn.is_used:
            turn.store()


def list_accounts() -> list[UUID]:
    """Whose changes nobody has looked at, but for accounts that are paused."""
    rows = Account.objects.filter(
        id__in=label_changes.list_accounts(), paused=False, organisation__paused=False
    )
    return list(rows.values_list("id", flat=True))


def take_up(account: AccountRef, *, now: datetime) -> int:
    """Look at what changed with nobody saying so, each mail as its provider has it now; how many.
    Raises ProviderError: what is left is found again."""
    found = label_changes.list_changes(account.id, limit=AT_ONCE)
    starts_turns = BY_SOURCE[account.source].starts_turns
    for source_id, before in found.items():
        try:
            mail = mail_reader(account).email(source_id) if starts_turns else None
        except NotFound:
            mail = None  # deleted meanwhile, which takes nothing back
        if mail is not None:
            _follow(account, mail, before, now)
            look(account, mail, before=before, now=now)
        label_changes.forget(account.id, source_id, before=before)
    return len(found)
