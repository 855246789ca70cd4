"""Mail that was handed over and that the server has not sent yet: `pending` (RFC 8621, 7).

A server may forget a submission once it is made or called off, as Cyrus does. What is not there any
more was sent, unless a call to recall it is under way or lost its answer.
"""

from datetime import UTC
from typing import Any

from integrations.exceptions import TooLate, Unavailable
from integrations.models import MailWrite
from integrations.ports.evidence import CannotTell, Evidence, NotPerformed, Performed
from integrations.providers.jmap.answers import Done, SubmissionSaid, SubmissionsGot
from integrations.providers.jmap.labelling import role
from integrations.providers.jmap.mailboxes import DRAFT
from integrations.providers.jmap.mails import Mails
from integrations.providers.mailboxes import progress

GONE_OUT = "The mail server has sent the mail."


def said_of(submission: SubmissionSaid) -> dict[str, Any]:
    """What an answer to sending says of a mail that the server holds back."""
    if not submission.is_pending:
        return {}
    at = submission.send_at
    until = {"held_until": f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"} if at else {}
    return {"submission_id": submission.id} | until


def find_pending(mails: Mails, email_id: str) -> dict[str, Any]:
    """The same of a mail whose answer was lost."""
    query = {"filter": {"emailIds": [email_id], "undoStatus": "pending"}}
    ids = {"resultOf": "0", "name": "EmailSubmission/query", "path": "/ids"}
    answers = mails.session.ask(
        ("EmailSubmission/query", query), ("EmailSubmission/get", {"#ids": ids})
    )
    found = answers.to(1, SubmissionsGot).list
    return said_of(found[0]) if found else {}


def recall(mails: Mails, row: MailWrite) -> dict[str, Any]:
    """Of the mail that the row names. Raises TooLate."""
    email_id, id = row.target["id"], row.target["submission_id"]
    was_under_way = row.state == progress.SUBMITTING
    if not was_under_way:
        progress.submit(row)
    update = {"update": {id: {"undoStatus": "canceled"}}}
    back = {"onSuccessUpdateEmail": {id: _as_draft(mails)}}
    done = mails.session.change(("EmailSubmission/set", update | back)).to(0, Done)
    if id in (done.updated or {}) or is_draft(mails, email_id):
        return {"id": email_id}
    status, refusal = _status(mails, id), (done.not_updated or {}).get(id)
    if status == "canceled":
        mails.session.change(("Email/set", {"update": {email_id: _as_draft(mails)}}))
        return {"id": email_id}
    is_refused = refusal is not None and refusal.type == "cannotUnsend"
    if is_refused or status == "final" or not (status or was_under_way):
        progress.refuse(row)
        raise TooLate(GONE_OUT)
    raise Unavailable("the server does not say what became of the mail")


def evidence_of(row: MailWrite, mails: Mails) -> Evidence:
    """Recalling twice does no harm: what is still pending is recalled then."""
    if row.state == progress.GIVEN_UP:
        return NotPerformed(proof=GONE_OUT)
    status = _status(mails, row.target["submission_id"])
    if status == "canceled" or is_draft(mails, row.target["id"]):
        return Performed(response={"id": row.target["id"]}, at=row.changed_at)
    if status == "pending":
        return NotPerformed(proof="The mail server still holds the mail back.")
    if status == "final" or row.state == progress.STARTED:
        return NotPerformed(proof=GONE_OUT)
    return CannotTell(ask_again_at=None)


def is_draft(mails: Mails, email_id: str) -> bool:
    return any(DRAFT in said.words for said in mails.get([email_id])[1])


def _status(mails: Mails, id: str) -> str:
    """Empty: the server does not know it any more."""
    found = mails.session.ask(("EmailSubmission/get", {"ids": [id]})).to(0, SubmissionsGot).list
    return found[0].undo_status if found else ""


def _as_draft(mails: Mails) -> dict[str, Any]:
    return {
        f"mailboxIds/{role(mails.mailboxes, 'drafts')}": True,
        f"mailboxIds/{role(mails.mailboxes, 'sent')}": None,
        f"keywords/{DRAFT}": True,
    }
