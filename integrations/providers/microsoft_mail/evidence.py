"""What became of a write to a mailbox at Microsoft, by what Remit kept of it and by what Graph
shows.

A mail goes out from a draft, and is found among the sent mail by Remit's mark or by its Message-ID.
Graph accepts a mail before it sends it, so a draft that is still there was not sent only after a
while; then it is deleted for good, and cannot be sent any more.
"""

from datetime import timedelta

from django.utils import timezone

from integrations.contracts import AccountRef
from integrations.exceptions import NotFound
from integrations.models import MailWrite
from integrations.ports.evidence import CannotTell, Evidence, NotPerformed, Performed
from integrations.providers.mailboxes import evidence, progress
from integrations.providers.microsoft import subscribing
from integrations.providers.microsoft_mail import labelling
from integrations.providers.microsoft_mail.mails import Mails, mails_of

# The copy among the sent mail is made when the mail has gone out, which may take a while.
SHOWN_WITHIN = timedelta(minutes=10)
LATE, AGAIN = timedelta(minutes=2), timedelta(seconds=30)


def find(account: AccountRef, key: str) -> Evidence:
    """Raises what `integrations.providers.mailboxes.evidence.find` raises. A mail that is said to
    be not sent cannot be sent any more: its draft is gone."""
    if (found := subscribing.find_evidence(account, key)) is not None:
        return found
    return evidence.find(
        account,
        key,
        open_=mails_of,
        of_sending=_of_sending,
        of_draft=_of_draft,
        of_change=_of_change,
    )


def _of_sending(row: MailWrite, mails: Mails) -> Evidence:
    about = row.target
    sent = mails.sent_from(about["draft_id"], key=row.key, message_id=about["message_id"])
    if sent is not None:
        answer = {
            "id": sent.id,
            "thread_id": sent.thread_id,
            "message_id": about["message_id"],
        }
        return Performed(response=answer, at=row.changed_at)
    now = timezone.now()
    try:
        draft = mails.get(about["draft_id"])
    except NotFound:
        until = row.changed_at + SHOWN_WITHIN
        # A person may have thrown away the draft, or the mail.
        return CannotTell(ask_again_at=min(now + AGAIN, until) if now < until else None)
    late = row.changed_at + LATE
    if now < late:
        return CannotTell(ask_again_at=late)
    try:
        if not draft.is_draft:
            raise NotFound("it went out meanwhile")
        mails.delete_for_good(draft)
    except NotFound:
        return CannotTell(ask_again_at=now + AGAIN)
    progress.refuse(row)
    return NotPerformed(proof="The draft that it was to be sent from was still there, and is not.")


def _of_draft(row: MailWrite, mails: Mails) -> Evidence:
    for said in mails.marked("drafts", row.key):
        return Performed(response={"id": said.id, "thread_id": said.thread_id}, at=row.changed_at)
    late = row.changed_at + LATE
    if timezone.now() < late:
        return CannotTell(ask_again_at=late)
    return NotPerformed(proof="Among the drafts at Microsoft none has the mark of this key.")


def _of_change(row: MailWrite, mails: Mails) -> Evidence:
    """A change of a mail is there or not, and making it again changes nothing."""
    deletes = row.operation == "delete_draft"
    try:
        said = mails.get(str(row.target.get("id", "")))
    except NotFound:
        if deletes:
            return Performed(response={}, at=row.changed_at)
        return NotPerformed(proof="The mail is not in the mailbox any more.")
    if deletes:
        return NotPerformed(proof="The draft is still there.")
    if labelling.has(mails.labels(said), add=row.target["add"], remove=row.target["remove"]):
        return Performed(response={"id": said.id}, at=row.changed_at)
    return NotPerformed(proof="The mail is where and as it was before.")
