"""What became of a write to a mailbox: by Remit's own record of how far it came, and by what the
server holds now."""

from datetime import timedelta

from django.utils import timezone

from integrations.contracts import AccountRef
from integrations.exceptions import NotFound
from integrations.mail.compose import message_id
from integrations.models import MailWrite
from integrations.ports.evidence import CannotTell, Evidence, NotPerformed, Performed
from integrations.providers.imap.connection import connection
from integrations.providers.imap.mails import Mails
from integrations.providers.mailboxes import progress

# Between two looks for a mail that may have gone out; each wait is as long as all before it.
SHORTEST_WAIT = timedelta(minutes=10)


def find(account: AccountRef, key: str) -> Evidence:
    """Raises ProviderError where the server has to be asked and is away. What is said to be not
    sent will not be sent by a process that hangs, either: it is called off."""
    row = MailWrite.objects.filter(account_id=account.id, key=key).first()
    if row is None or row.operation in progress.SENDING:
        if progress.call_off(account.id, key):
            return NotPerformed(
                proof="The end of the mail had not left Remit, and no receiver gets it before. "
                "It cannot leave any more."
            )
        row = MailWrite.objects.get(account_id=account.id, key=key)
    if row.state == progress.DONE:
        return Performed(response=row.answer, at=row.changed_at)
    with connection(account) as own:
        mails = Mails(account, own)
        if row.operation in progress.SENDING:
            return _of_sending(row, mails)
        if row.operation == "create_draft":
            return _of_draft(row, mails)
        return _of_change(row, mails)


def _of_sending(row: MailWrite, mails: Mails) -> Evidence:
    """The last word was under way. A mail that went out shows where it came back: as the copy that
    a server files by itself, as what its user sent to themselves, in a bounce, in an answer. Nobody
    but its receivers knows its Message-ID."""
    now, wanted = timezone.now(), message_id(row.key, mails.account.address)
    named = ("SINCE", row.begun_at.date() - timedelta(days=1), "OR", "HEADER", "Message-ID")
    for folder in mails.holding:
        if mails.folders.roles.get(folder) == "drafts":
            continue
        if mails.search(folder, *named, wanted, "TEXT", wanted):
            return Performed(response=row.target, at=row.changed_at)
    return CannotTell(ask_again_at=now + max(SHORTEST_WAIT, now - row.changed_at))


def _of_draft(row: MailWrite, mails: Mails) -> Evidence:
    drafts = mails.folders.named("drafts")
    wanted = message_id(row.key, mails.account.address)
    if drafts and mails.search(drafts, "HEADER", "Message-ID", wanted):
        return Performed(response=row.target, at=row.changed_at)
    return NotPerformed(proof="The mail server holds no draft of this key.")


def _of_change(row: MailWrite, mails: Mails) -> Evidence:
    """A change of a mail is there or not, and making it again changes nothing."""
    deletes = row.operation == "delete_draft"
    try:
        found = mails.find(row.mail_id)
    except NotFound:
        if deletes:
            return Performed(response={}, at=row.changed_at)
        return NotPerformed(proof="The mail is not in the mailbox any more.")
    if deletes:
        return NotPerformed(proof="The draft is still there.")
    labels = set(found.email.labels)
    if labels.issuperset(row.target.get("add", ())) and labels.isdisjoint(
        row.target.get("remove", ())
    ):
        return Performed(response={"id": row.mail_id}, at=row.changed_at)
    return NotPerformed(proof="The mail is where and as it was before.")
