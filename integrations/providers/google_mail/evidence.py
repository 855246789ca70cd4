"""What became of a write to a Gmail mailbox, by what Remit kept of it and by what Gmail shows.

A mail goes out from a draft, and Gmail takes each draft once. So a draft that is still there was
not sent; it is deleted, and then it cannot be sent any more. One that is gone was sent, and the
mail is found in its thread by Remit's mark.
"""

from datetime import timedelta

from django.utils import timezone

from integrations.contracts import AccountRef
from integrations.exceptions import NotFound
from integrations.models import MailWrite
from integrations.ports.evidence import CannotTell, Evidence, NotPerformed, Performed
from integrations.providers.google_mail.mails import ME, Mails, mails_of
from integrations.providers.mailboxes import evidence, progress

# Gmail shows what it was sent a moment ago late.
SHOWN_WITHIN = timedelta(minutes=10)
LATE, AGAIN = timedelta(minutes=2), timedelta(seconds=30)


def find(account: AccountRef, key: str) -> Evidence:
    """Raises what `integrations.providers.mailboxes.evidence.find` raises. A mail that is said to
    be not sent cannot be sent any more: its draft is gone."""
    return evidence.find(
        account,
        key,
        open_=mails_of,
        of_sending=_of_sending,
        of_draft=_of_draft,
        of_change=_of_change,
    )


def _of_sending(row: MailWrite, mails: Mails) -> Evidence:
    try:
        mails.session.send("DELETE", f"{ME}/drafts/{row.target['draft_id']}")
    except NotFound:
        return _of_mail(row, mails)
    progress.refuse(row)
    return NotPerformed(proof="The draft that it was to be sent from was still there, and is not.")


def _of_mail(row: MailWrite, mails: Mails) -> Evidence:
    thread_id = row.target["thread_id"]
    if said := mails.sent_in(thread_id, row.key):
        answer = {
            "id": said.id,
            "thread_id": said.thread_id,
            "message_id": row.target["message_id"],
        }
        return Performed(response=answer, at=row.changed_at)
    until, now = row.changed_at + SHOWN_WITHIN, timezone.now()
    # A person may have thrown away the draft, or the mail.
    return CannotTell(ask_again_at=min(now + AGAIN, until) if now < until else None)


def _of_draft(row: MailWrite, mails: Mails) -> Evidence:
    for said in mails.drafts_of(row.key):
        answer = {"id": said.id, "thread_id": said.message.thread_id}
        return Performed(response=answer, at=row.changed_at)
    late = row.changed_at + LATE
    if timezone.now() < late:
        return CannotTell(ask_again_at=late)
    return NotPerformed(proof="Gmail's newest drafts hold none of this key.")


def _of_change(row: MailWrite, mails: Mails) -> Evidence:
    """A change of a mail is there or not, and making it again changes nothing."""
    wanted = str(row.target.get("id", ""))
    if row.operation == "delete_draft":
        try:
            mails.draft(wanted)
        except NotFound:
            return Performed(response={}, at=row.changed_at)
        return NotPerformed(proof="The draft is still there.")
    try:
        said = mails.get(wanted)
    except NotFound:
        return NotPerformed(proof="The mail is not in the mailbox any more.")
    if set(row.target["add"]) <= set(said.labels) and set(said.labels).isdisjoint(
        row.target["remove"]
    ):
        return Performed(response={"id": said.id}, at=row.changed_at)
    return NotPerformed(proof="The mail is where and as it was before.")
