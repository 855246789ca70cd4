"""Writes to one mailbox over JMAP, and mail out of it. Only `integrations.accounts.writes` may
import this module.

A JMAP server knows no idempotency keys. It refuses what was decided on another state of the mailbox
than the present one, for a mail that goes out as for a label. So each write is a row (`MailWrite`)
with the state that it was created on, committed before the server is called.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from email.message import EmailMessage
from typing import Any

from integrations.contracts import AccountRef
from integrations.contracts.outgoing import OutgoingMail
from integrations.exceptions import Changed, Full, NotFound, ProviderError, Rejected, Unavailable
from integrations.models import MailWrite
from integrations.ports.mail import MailWriter
from integrations.providers.jmap import labelling, recalling
from integrations.providers.jmap.answers import (
    SAID_CHARS,
    Answers,
    Call,
    Created,
    Done,
    EmailSaid,
    Refusal,
)
from integrations.providers.jmap.labelling import MOST_TRIES, Patch
from integrations.providers.jmap.mailboxes import DRAFT
from integrations.providers.jmap.mails import Mails, mails_of
from integrations.providers.jmap.writing import to_email, to_submission
from integrations.providers.mailboxes import progress
from integrations.providers.mailboxes.mailbox_writer import Answer, MailboxWriter


class JmapWriter(MailboxWriter[Mails]):
    """Satisfies `integrations.ports.mail.MailWriter`."""

    def _mails(self) -> AbstractContextManager[Mails]:
        return nullcontext(mails_of(self._account))

    def move_email(self, email_id: str, *, folder_id: str, key: str) -> Answer:
        """Out of every other folder."""

        def write(mails: Mails, row: MailWrite) -> Answer:
            there = labelling.to_folder(mails.mailboxes, folder_id)

            def make(said: EmailSaid) -> Patch:
                places = dict.fromkeys(there, True)
                return {} if said.mailboxes == there else {"mailboxIds": places}

            labelling.set_together(mails, [email_id], make)
            return {"id": email_id}

        target = {"id": email_id, "add": [folder_id], "remove": []}
        return self._written("move_email", key, write, target=target)

    def create_draft(self, mail: OutgoingMail, *, key: str) -> Answer:
        def write(mails: Mails, row: MailWrite) -> Answer:
            message = self._composed(mails, mail, key)
            wanted = self._draft(mails, message, blind_copies=True)
            for _ in range(MOST_TRIES):
                state, known = mails.written(str(message["Message-ID"]))
                for said in known:
                    return _answer(said.id, said.thread_id, message)
                call = ("Email/set", {"ifInState": state, "create": {"draft": wanted}})
                with suppress(Changed):
                    done = mails.session.change(call).to(0, Done)
                    _check(done.not_created)
                    created = (done.created or {})["draft"]
                    return _answer(created.id, created.thread_id, message)
            raise Changed("the mailbox changes all the time")

        return self._written("create_draft", key, write)

    def delete_draft(self, draft_id: str, *, revision: str | None, key: str) -> Answer:
        def write(mails: Mails, row: MailWrite) -> Answer:
            for _ in range(MOST_TRIES):
                state, said = mails.get([draft_id])
                if not said:
                    raise NotFound("no such draft")
                drafts = mails.mailboxes.by_role.get("drafts")
                if DRAFT not in said[0].words or drafts not in said[0].mailboxes:
                    raise Changed("it is no draft any more")
                call = ("Email/set", {"ifInState": state, "destroy": [draft_id]})
                with suppress(Changed):
                    _check(mails.session.change(call).to(0, Done).not_destroyed)
                    return {}
            raise Changed("the mailbox changes all the time")

        return self._written("delete_draft", key, write, target={"id": draft_id})

    def recall_email(self, email_id: str, *, submission_id: str, key: str) -> Answer:
        target = {"id": email_id, "submission_id": submission_id}
        return self._written("recall_email", key, recalling.recall, target=target)

    def _change(
        self,
        operation: str,
        email_id: str,
        *,
        add: Sequence[str],
        remove: Sequence[str],
        thread_remove: Sequence[str] = (),
        key: str,
    ) -> Answer:
        def write(mails: Mails, row: MailWrite) -> Answer:
            labelling.check(add, [*remove, *thread_remove])
            ids = [email_id]
            if thread_remove:
                _, said = mails.get(ids)
                others = mails.in_thread(said[0].thread_id) if said else ()
                ids += [one.id for one in others if one.id != email_id]

            def make(said: EmailSaid) -> Patch:
                own = said.id == email_id
                return labelling.patch(
                    mails.mailboxes,
                    said,
                    add=add if own else (),
                    remove=remove if own else thread_remove,
                )

            labelling.set_together(mails, ids, make)
            return {"id": email_id}

        target = {"id": email_id, "add": list(add), "remove": list(remove)}
        return self._written(operation, key, write, target=target)

    def _draft(self, mails: Mails, message: EmailMessage, *, blind_copies: bool) -> dict[str, Any]:
        drafts = labelling.role(mails.mailboxes, "drafts")
        return to_email(mails.session, message, drafts=drafts, blind_copies=blind_copies)

    def _sent(
        self,
        operation: str,
        mail: OutgoingMail,
        key: str,
        written: Callable[[Mails], EmailMessage],
    ) -> Answer:
        """One request writes the mail and submits it, or does neither: the mail is refused where
        the mailbox is not as it was looked at, and without the mail there is no submission."""
        row = progress.begin(self._account.id, key, operation)
        if row.state == progress.DONE:
            return dict(row.answer)
        progress.check(row)
        mails = mails_of(self._account)
        message = written(mails)
        receivers = list(dict.fromkeys((*mail.to, *mail.cc, *mail.bcc)))
        submission = to_submission(mails, receivers)
        email = self._draft(mails, message, blind_copies=False)
        for _ in range(MOST_TRIES):
            state = mails.state()
            progress.aim(row, {"message_id": str(message["Message-ID"]), "state": state})
            if row.state == progress.STARTED:
                progress.submit(row)
            with suppress(Changed):
                create = ("Email/set", {"ifInState": state, "create": {"mail": email}})
                answer = self._submit(mails, row, message, (create, submission))
                progress.finish(row, answer)
                return answer
        progress.refuse(row)
        raise Busy("the mailbox changes all the time")

    def _submit(
        self, mails: Mails, row: MailWrite, message: EmailMessage, calls: tuple[Call, Call]
    ) -> Answer:
        """Raises Changed where nothing was done because something else was."""
        try:
            answers = mails.session.change(*calls)
            created = _read_created(answers)
        except Changed:
            raise
        except ProviderError as error:
            if not error.outcome_unknown:
                progress.refuse(row)
            raise
        try:
            done = answers.to(1, Done)
            _check(done.not_created)
        except ProviderError as error:
            if not error.outcome_unknown:
                progress.refuse(row)
                with suppress(ProviderError):
                    mails.session.change(("Email/set", {"destroy": [created.id]}))
            raise
        submission = (done.created or {}).get("sent")
        if submission is None:
            raise Unavailable("the server does not say what became of the mail")
        answer = _answer(created.id, created.thread_id, message)
        return answer | recalling.said_of(submission)


class Busy(Unavailable):
    """Nothing was sent, and it may go out later."""

    outcome_unknown = False


def _read_created(answers: Answers) -> Created:
    done = answers.to(0, Done)
    _check(done.not_created)
    if created := (done.created or {}).get("mail"):
        return created
    raise Unavailable("the server does not say what became of the mail")


def _check(refused: dict[str, Refusal] | None) -> None:
    for one in (refused or {}).values():
        said = f"{one.type} {one.description or ''}".strip()[:SAID_CHARS]
        full = one.type == "overQuota"
        raise (Full if full else Rejected)("the server refused it", said=said)


def _answer(id: str, thread_id: str | None, message: EmailMessage) -> Answer:
    name = str(message["Message-ID"])
    return {"id": id, "thread_id": thread_id or "", "message_id": name}


open_writer: Callable[[AccountRef], MailWriter] = JmapWriter
