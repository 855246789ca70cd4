"""What became of a write to a JMAP mailbox, by what Remit kept of it and by what the server shows.

A mail was made and submitted in one request, for one state of the mailbox. Where the mailbox is in
that state no more and shows no such mail, the request was not carried out and cannot be any more:
the server would refuse it. A mailbox that is still as it was is changed for that, by a draft that
is there for a moment.
"""

from datetime import timedelta

from django.utils import timezone

from integrations.contracts import AccountRef
from integrations.exceptions import Changed
from integrations.mail.compose import message_id
from integrations.models import MailWrite
from integrations.ports.evidence import CannotTell, Evidence, NotPerformed, Performed
from integrations.providers.jmap import recalling
from integrations.providers.jmap.answers import Done, EmailSaid
from integrations.providers.jmap.labelling import role
from integrations.providers.jmap.mailboxes import DRAFT, SEEN
from integrations.providers.jmap.mails import Mails, mails_of
from integrations.providers.mailboxes import evidence, progress

# A server that is still handing a mail on is done by then.
HANDED_ON_WITHIN = timedelta(minutes=10)
AGAIN = timedelta(seconds=30)


def find(account: AccountRef, key: str) -> Evidence:
    """Raises what `integrations.providers.mailboxes.evidence.find` raises."""
    return evidence.find(
        account,
        key,
        open_=mails_of,
        of_sending=_of_sending,
        of_draft=_of_draft,
        of_change=_of_change,
    )


def _of_sending(row: MailWrite, mails: Mails) -> Evidence:
    for _ in range(2):
        state, known = mails.written(row.target["message_id"])
        if known:
            return _of_mail(row, known[0], mails)
        if state != row.target["state"]:
            if not progress.refuse(row):
                break  # it is tried anew at this moment, or done
            return NotPerformed(
                proof="The mailbox holds no such mail, and has changed since it was to be written. "
                "The server refuses the request now."
            )
        _move_on(mails, row.target["state"])
    return CannotTell(ask_again_at=timezone.now() + AGAIN)


def _of_mail(row: MailWrite, said: EmailSaid, mails: Mails) -> Evidence:
    if DRAFT not in said.words:
        answer = {
            "id": said.id,
            "thread_id": said.thread_id,
            "message_id": row.target["message_id"],
            **recalling.find_pending(mails, said.id),
        }
        return Performed(response=answer, at=row.changed_at)
    # It was written, and nobody knows how far the server came with it.
    until = row.changed_at + HANDED_ON_WITHIN
    now = timezone.now()
    return CannotTell(ask_again_at=min(now + AGAIN, until) if now < until else None)


def _move_on(mails: Mails, state: str) -> None:
    """Whatever was to be done in this state is refused from here on."""
    email = {
        "mailboxIds": {role(mails.mailboxes, "drafts"): True},
        "keywords": {DRAFT: True, SEEN: True},
        "subject": "Remit",
        "bodyValues": {"text": {"value": "Remit takes this draft back at once."}},
        "textBody": [{"partId": "text", "type": "text/plain"}],
    }
    call = ("Email/set", {"ifInState": state, "create": {"it": email}})
    try:
        done = mails.session.change(call).to(0, Done)
    except Changed:
        return
    for created in (done.created or {}).values():
        mails.session.change(("Email/set", {"destroy": [created.id]}))


def _of_draft(row: MailWrite, mails: Mails) -> Evidence:
    _, known = mails.written(message_id(row.key, mails.account.address))
    for said in known:
        return Performed(response={"id": said.id, "thread_id": said.thread_id}, at=row.changed_at)
    return NotPerformed(proof="The mail server holds no draft of this key.")


def _of_change(row: MailWrite, mails: Mails) -> Evidence:
    """A change of a mail is there or not, and making it again changes nothing."""
    if row.operation == "recall_email":
        return recalling.evidence_of(row, mails)
    deletes = row.operation == "delete_draft"
    _, said = mails.get([str(row.target.get("id", ""))])
    if not said:
        if deletes:
            return Performed(response={}, at=row.changed_at)
        return NotPerformed(proof="The mail is not in the mailbox any more.")
    if deletes:
        return NotPerformed(proof="The draft is still there.")
    labels = {one.casefold() for one in mails.mailboxes.labels(said[0])}
    added = {one.casefold() for one in row.target.get("add", ())}
    removed = {one.casefold() for one in row.target.get("remove", ())}
    if labels >= added and labels.isdisjoint(removed):
        return Performed(response={"id": said[0].id}, at=row.changed_at)
    return NotPerformed(proof="The mail is where and as it was before.")
