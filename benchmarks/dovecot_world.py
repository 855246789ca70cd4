"""A mailbox that is lived through on a real mail server, Dovecot: mail arrives by LMTP, and the
person has a mail program of their own (IMAP)."""

import base64
import email.policy
import email.utils
import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from email.message import EmailMessage
from typing import Any, cast

from benchmarks import person as owner
from benchmarks.lived_worlds import USER, account_of, work_through
from benchmarks.person import Person

MARK = "X-Corpus-Id"  # two mails may have one Message-ID
SERVER = "mail.office.test"  # whose findings about senders count
# What of a mail of the folder of real data is replaced by what the script says of it.
REPLACED = {
    *(b"from", b"to", b"list-id", b"mailing-list", b"list-unsubscribe"),
    *(b"authentication-results", MARK.lower().encode()),
}
FOLDERS = ("INBOX", "Archive", "Sent", "Trash", "Junk")
PLACES = {"INBOX": ["INBOX"], "Sent": ["SENT"], "Trash": ["TRASH"], "Junk": ["SPAM"]}
FIELD = re.compile(rb"\n(?![ \t])")


class DovecotWorld:
    """Labels are keywords here: “To_Reply” is the sandbox's `label_to_reply`."""

    def __init__(self, server: Any, client: Any, person: Person, raws: Mapping[str, bytes]) -> None:
        self._server, self._client, self._person, self._raws = server, client, person, raws
        self._marks: dict[str, str] = {}  # what is searched for, by the id of a mail
        account = connect(server, person)
        self.account_id = account.id
        self._keywords = permit(account)
        # A server's keywords are those that its mails have had.
        client.append("Archive", b"Subject: My labels\r\n\r\n", tuple(self._keywords.values()))
        client.append("INBOX", b"Subject: My labels\r\n\r\n", tuple(self._keywords.values()))
        self._look()

    def label(self, target: str) -> str:
        return f"label_{target.lower()}"

    def put(self, mail: dict[str, Any]) -> str:
        raw = compose(mail, self._raws.get(mail["id"]))
        if "SENT" in mail["labels"]:
            self._client.append("Sent", raw, (b"\\Seen",))
        else:
            self._server.deliver(self._person.address, raw)
        uid = self._open(mail["id"])
        id = id_of(self._client.fetch([uid], ["BODY.PEEK[]"])[uid][b"BODY[]"])
        self._marks[id] = mail["id"]
        self._look()
        return id

    def change(self, mail_id: str, labels: Sequence[str]) -> None:
        present = self.labels(mail_id)
        uid = self._open(self._marks[mail_id])
        gone = set(present) - set(labels)
        if "UNREAD" in gone:
            self._client.add_flags([uid], [b"\\Seen"])
        if on := [self._keywords[one] for one in set(labels) - set(present)]:
            self._client.add_flags([uid], on)
        if off := [self._keywords[one] for one in gone - {"UNREAD", "INBOX"}]:
            self._client.remove_flags([uid], off)
        if "INBOX" in gone:
            self._client.move([uid], "Archive")
        self._look()

    def labels(self, mail_id: str) -> list[str]:
        uid = self._open(self._marks[mail_id])
        flags = [one.decode() for one in self._client.fetch([uid], ["FLAGS"])[uid][b"FLAGS"]]
        own = [self.label(one) for one in flags if one[:1] not in ("\\", "$")]
        return [*own, *PLACES.get(self._folder, []), *([] if "\\Seen" in flags else ["UNREAD"])]

    def drafts(self) -> dict[str, str]:
        return {id: message.get_content() for _, id, message in self._drafts()}

    def edit(self, draft_id: str, body: str) -> str:
        """As mail programs do it: another draft in the place of the first."""
        uid, message = next((uid, one) for uid, id, one in self._drafts() if id == draft_id)
        message.set_content(body)
        raw = message.as_bytes(policy=email.policy.SMTP)
        self._client.append("Drafts", raw, (b"\\Draft", b"\\Seen"))
        self._client.delete_messages([uid])
        self._client.expunge()
        self._look()
        return id_of(raw)

    def _drafts(self) -> list[tuple[int, str, EmailMessage]]:
        self._client.select_folder("Drafts")
        uids = self._client.search()
        found = self._client.fetch(uids, ["BODY.PEEK[]"]) if uids else {}
        return [
            (uid, id_of(raw), cast(EmailMessage, read(raw)))
            for uid, raw in ((uid, one[b"BODY[]"]) for uid, one in found.items())
        ]

    def _open(self, mark: str) -> int:
        """Opens the folder where the mail lies; its number there."""
        for self._folder in FOLDERS:
            self._client.select_folder(self._folder)
            if uids := self._client.search(["HEADER", MARK, mark]):
                return int(uids[0])
        raise SystemExit(f"The mail {mark} is gone.")

    def _look(self) -> None:
        """All that happened since the last time, until nothing of it makes anything happen."""
        from integrations.accounts import arrivals

        found: list[Any] = []
        while arrivals.look(self.account_id, enqueue=found.append):
            for id in found:
                work_through(id)
            found.clear()


@contextmanager
def on_dovecot(person: Person, mails: Sequence[Mapping[str, Any]]) -> Iterator[DovecotWorld]:
    """An empty mailbox of the person's, connected, under the policy that they have in the
    sandbox."""
    from django.conf import settings

    from integrations.credentials import sealing
    from integrations.providers.imap import connection
    from tests.mail_world import running_mail_world

    settings.OUTGOING_TO_PRIVATE = True
    settings.CREDENTIALS_PRIVATE_KEY = base64.b64encode(os.urandom(32)).decode()
    public = sealing.private_key(settings.CREDENTIALS_PRIVATE_KEY).public_key()
    settings.CREDENTIALS_PUBLIC_KEY = sealing.to_text(public)
    raws = owner.bytes_of({mail["id"] for mail in mails})
    with running_mail_world() as server, server.client(person.address) as client:
        try:
            yield DovecotWorld(server, client, person, raws)
        finally:
            connection.close_idle()


def connect(server: Any, person: Person) -> Any:
    from integrations.accounts import connecting
    from tests.mail_world import PASSWORD

    wish = connecting.Wish(
        organisation_id=account_of().organisation_id,
        user_id=USER,
        address=person.address,
        user_name=person.address,
    )
    return connecting.accept(connecting.make_offer(wish, server.servers, secret=PASSWORD))


def permit(account: Any) -> dict[str, str]:
    """The policy that the person has in the sandbox; the keywords, by the sandbox's labels."""
    from guardrails.policies import files
    from guardrails.policies.changes import Author

    example = files.exported(account_of())
    keywords = {one.id: one.name.replace(" ", "_") for one in example.targets or ()}
    targets = [
        one.model_copy(update={"id": keywords[one.id], "name": keywords[one.id]})
        for one in example.targets or ()
    ]
    wanted = example.model_copy(update={"targets": targets})
    files.apply(account, wanted, author=Author(name="benchmark", door="command"))
    return keywords


def compose(mail: Mapping[str, Any], raw: bytes | None) -> bytes:
    """The mail as servers hand it on, with what the script says of it; without `raw`, of its text
    alone."""
    domain = mail["from"].partition("@")[2]
    found = mail["authentication"]
    fields = {
        "Authentication-Results": f"{SERVER}; spf={found['spf']} smtp.mailfrom={domain};"
        f" dkim={found['dkim']} header.d={domain}; dmarc={found['dmarc']} header.from={domain}",
        MARK: mail["id"],
        "From": email.utils.formataddr((mail["from_name"], mail["from"])),
        "To": ",\n ".join(mail["to"]),
        "List-Id": mail["list_id"],
    }
    if raw is None:
        date = email.utils.format_datetime(datetime.fromisoformat(mail["date"]))
        fields |= {"Subject": mail["subject"], "Message-ID": mail["message_id"], "Date": date}
        kept, body = [b"Content-Type: text/plain; charset=utf-8"], mail["body_text"].encode()
    else:
        head, _, body = raw.replace(b"\r\n", b"\n").partition(b"\n\n")
        known = FIELD.split(head)
        kept = [one for one in known if one.partition(b":")[0].strip().lower() not in REPLACED]
    lines = [f"{name}: {value}".encode() for name, value in fields.items() if value]
    return b"\n".join([*lines, *kept, b"", body]).replace(b"\n", b"\r\n")


def read(raw: bytes) -> Any:
    return email.message_from_bytes(raw, policy=email.policy.default)


def id_of(raw: bytes) -> str:
    """As docs/providers.md says: made from the bytes."""
    return f"mail-{hashlib.sha256(raw).hexdigest()[:32]}"
