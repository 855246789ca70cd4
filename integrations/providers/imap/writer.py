"""Writes to one mailbox over IMAP, and mail out of it over SMTP. Only
`integrations.accounts.writes` may import this module.

A mail server knows no idempotency keys. So each write is a row (`MailWrite`) that says how far it
came, committed before each step that others can see.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from email.message import EmailMessage
from functools import partial

from django.utils import timezone

from integrations.contracts import AccountRef
from integrations.contracts.outgoing import OutgoingMail
from integrations.credentials import credentials
from integrations.database.pools import release_connections
from integrations.exceptions import Changed, ProviderError, Rejected, Unavailable
from integrations.imports.reading import mail_id
from integrations.mail import compose, mail as mail_parser
from integrations.models import MailWrite
from integrations.ports.mail import MailWriter
from integrations.providers.imap import gmail, labelling, submission
from integrations.providers.imap.connection import connection
from integrations.providers.imap.mails import SEEN, Found, Mails
from integrations.providers.imap.servers import MailServers
from integrations.providers.imap.submission import Accepted
from integrations.providers.mailboxes import progress
from integrations.providers.mailboxes.labels import UNREAD
from integrations.providers.mailboxes.mailbox_writer import Answer, MailboxWriter
from integrations.providers.mailboxes.progress import NotSent

DRAFT = b"\\Draft"
SUBMISSIONS, AGAIN_WITHIN_SECONDS = 3, 20.0
COPY_SECONDS, LOOK_SECONDS = 10.0, 0.25


class ImapWriter(MailboxWriter[Mails]):
    """Satisfies `integrations.ports.mail.MailWriter`."""

    @contextmanager
    def _mails(self) -> Iterator[Mails]:
        with connection(self._account) as own:
            yield Mails(self._account, own)

    def move_email(self, email_id: str, *, folder_id: str, key: str) -> Answer:
        """Into this folder alone; at Gmail under this label and out of the inbox."""
        remove = () if folder_id == "INBOX" else ("INBOX",)
        return self._change("move_email", email_id, add=(folder_id,), remove=remove, key=key)

    def create_draft(self, mail: OutgoingMail, *, key: str) -> Answer:
        def write(mails: Mails, row: MailWrite) -> Answer:
            drafts = labelling.folder_for(mails, "drafts")
            known = self._held(mails, drafts, key)
            if known is None:
                raw = compose.to_bytes(self._composed(mails, mail, key), blind_copies=True)
                _name(row, raw)
                mails.own.client.append(drafts, raw, (DRAFT, SEEN))
                known = self._held(mails, drafts, key)
            if known is None:
                raise Unavailable("the server does not show the draft that it took")
            return _answer(known.email.id, known.email.thread_id, known.email.message_id)

        return self._written("create_draft", key, write)

    def delete_draft(self, draft_id: str, *, revision: str | None, key: str) -> Answer:
        def write(mails: Mails, row: MailWrite) -> Answer:
            found = mails.find(draft_id)
            if "DRAFT" not in found.email.labels:
                raise Changed("it is no draft any more")
            if mails.own.has_labels:  # there only what lies in the trash can be deleted
                labelling.move(mails, found, labelling.folder_for(mails, "trash"))
                found = mails.find(draft_id)
            labelling.expunge(mails, found)
            return {}

        return self._written("delete_draft", key, write, mail_id=draft_id)

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
            found = mails.find(email_id)
            labelling.check(add, [*remove, *thread_remove])
            if mails.own.has_labels:
                return _relabel(mails, found, add, remove, thread_remove)
            # The others first: what is interrupted is done again, and ends with the mail itself.
            if thread_remove:
                for other in mails.in_thread(found.email.thread_id, besides=email_id):
                    labelling.flag(mails, other, add=(), remove=thread_remove)
            labelling.flag(mails, found, add=add, remove=remove)
            labelling.move(
                mails, found, labelling.find_destination(mails, found, add=add, remove=remove)
            )
            return {"id": email_id}

        target = {"add": list(add), "remove": list(remove)}
        return self._written(operation, key, write, mail_id=email_id, target=target)

    def _held(self, mails: Mails, folder: str, key: str) -> Found | None:
        """What this key wrote into a folder already."""
        wanted = compose.message_id(key, self._account.address)
        uids = mails.search(folder, "HEADER", "Message-ID", wanted)
        return next(mails.read(folder, mails.heads(folder, uids[:1])), None)

    def _sent(
        self,
        operation: str,
        mail: OutgoingMail,
        key: str,
        written: Callable[[Mails], EmailMessage],
    ) -> Answer:
        row = progress.begin(self._account.id, key, operation)
        if row.state == progress.DONE:
            return dict(row.answer)
        progress.check(row)
        sign_in = credentials.open_sign_in(self._account)
        servers = MailServers.from_json(sign_in.servers)
        if servers.smtp is None:
            raise Rejected("this account has no server to send with")
        with connection(self._account) as own:
            message = written(Mails(self._account, own))
        own_copy = compose.to_bytes(message, blind_copies=True)
        answer = _name(row, own_copy)

        receivers = list(dict.fromkeys((*mail.to, *mail.cc, *mail.bcc)))
        # What its user is a receiver of stays in the inbox, and is no copy.
        to_self = self._account.address.casefold() in {one.casefold() for one in receivers}
        is_copied = self._account.bcc_self and not servers.files_sent and not to_self
        accepted = self._submitted(
            row,
            partial(
                submission.submit,
                servers.smtp,
                sign_in,
                sender=self._account.address,
                receivers=receivers,
                copy_to=self._account.address if is_copied else "",
                data=compose.to_bytes(message, blind_copies=False),
                before_last_word=partial(progress.submit, row),
            ),
        )
        self.request_id = accepted.said
        progress.finish(row, answer)
        if servers.files_sent:
            filed = self._filed(key)
        else:
            filed = self._filed_copy(key) if accepted.is_copied else None
            if filed is None:
                self._file(own_copy, key)
        if filed:
            progress.finish(row, filed)
        return filed or answer

    def _submitted(self, row: MailWrite, submit: Callable[[], Accepted]) -> Accepted:
        """Once more where it is known that nothing was sent, and soon enough for who waits."""
        until, left = time.monotonic() + AGAIN_WITHIN_SECONDS, SUBMISSIONS
        while True:
            left -= 1
            try:
                return submit()
            except ProviderError as error:
                not_sent = isinstance(error, NotSent)
                if row.state == progress.SUBMITTING and not error.outcome_unknown:
                    progress.step_back(row) if not_sent else progress.refuse(row)
                is_open = row.state == progress.STARTED and time.monotonic() < until
                if not (not_sent and is_open and left):
                    raise

    def _filed(self, key: str) -> Answer | None:
        """The copy that the server filed by itself, whose bytes are its own, where it shows it
        already."""
        with suppress(ProviderError), connection(self._account) as own:
            mails = Mails(self._account, own)
            folder = mails.folders.named("all") if own.has_labels else mails.folders.named("sent")
            if folder and (found := self._held(mails, folder, key)):
                return _answer(found.email.id, found.email.thread_id, found.email.message_id)
        return None

    def _file(self, raw: bytes, key: str) -> None:
        """A copy among the sent mail. The mail is out: what goes wrong here fails nothing."""
        with suppress(ProviderError), connection(self._account) as own:
            mails = Mails(self._account, own)
            sent = mails.folders.named("sent")
            if sent and self._held(mails, sent, key) is None:
                own.client.append(sent, raw, (SEEN,))
                self._held(mails, sent, key)  # notes where it is

    def _filed_copy(self, key: str) -> Answer | None:
        """The copy that went to its user, among the sent mail now; None where it has not come
        within a few seconds. What goes wrong here fails nothing, either."""
        until = time.monotonic() + COPY_SECONDS
        with suppress(ProviderError):
            while True:
                with connection(self._account) as own:
                    mails = Mails(self._account, own)
                    inbox, sent = mails.folders.named("inbox"), mails.folders.named("sent")
                    if inbox is None or sent is None:
                        return None
                    if copy := self._held(mails, inbox, key):
                        labelling.flag(mails, copy, add=(), remove=(UNREAD,))
                        labelling.move(mails, copy, sent)
                        return _answer(copy.email.id, copy.email.thread_id, copy.email.message_id)
                if time.monotonic() >= until:
                    return None
                release_connections()
                time.sleep(LOOK_SECONDS)
        return None


def _relabel(
    mails: Mails,
    found: Found,
    add: Sequence[str],
    remove: Sequence[str],
    thread_remove: Sequence[str],
) -> Answer:
    """At Gmail. The others of the thread first, as elsewhere."""
    gmail.check(add, mails.folders.own)
    others = mails.in_thread(found.email.thread_id, besides=found.email.id)
    for other in list(others) if thread_remove else ():
        labelling.relabel(mails, other, add=(), remove=thread_remove)
    id = found.email.id
    if gmail.leaves_apart(add, remove, found.email.labels):
        labelling.move(mails, found, labelling.folder_for(mails, "all"))
        found = mails.find(id)
    labelling.relabel(mails, found, add=add, remove=remove)
    if "TRASH" in add:
        labelling.move(mails, found, labelling.folder_for(mails, "trash"))
    elif "SPAM" in add:
        labelling.move(mails, found, labelling.folder_for(mails, "junk"))
    return {"id": id}


def _name(row: MailWrite, raw: bytes) -> Answer:
    """What the mail will be called is kept before anybody else can see it."""
    parsed = mail_parser.parse(raw, fallback_date=timezone.now()).email
    row.mail_id = mail_id(raw)
    row.target = _answer(parsed.id, parsed.thread_id, parsed.message_id)
    row.save(update_fields=["mail_id", "target", "changed_at"])
    return dict(row.target)


def _answer(id: str, thread_id: str, message_id: str) -> Answer:
    return {"id": id, "thread_id": thread_id, "message_id": message_id}


open_writer: Callable[[AccountRef], MailWriter] = ImapWriter
