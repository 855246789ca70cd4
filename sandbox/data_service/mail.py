"""Writes to mail and drafts."""

from collections.abc import Sequence

from sandbox.data_service import bodies, objects
from sandbox.data_service.errors import Refusal
from sandbox.data_service.operations import Outcome
from sandbox.data_service.places import User, folder_name, label_ids, mail_folder_ids
from sandbox.data_service.store import JsonObject, Store
from sandbox.data_service.times import instant_text, now
from sandbox.data_service.values import DOCUMENT, DRAFT, EMAIL, SYSTEM_LABELS, with_label


def send(store: Store, *, user: User, target: str, body: bodies.Send) -> Outcome:
    """Sends a mail, in the thread of `reply_to_id` when that is given."""
    thread_id = _thread_of(store, user=user, email_id=body.reply_to_id)
    return _sent(
        store,
        user=user,
        to=body.to,
        cc=body.cc,
        bcc=body.bcc,
        reply_to=body.reply_to,
        subject=body.subject,
        text=body.body,
        thread_id=thread_id,
        attachments=_files(store, user, body.attachments),
    )


def forward(store: Store, *, user: User, target: str, body: bodies.Forward) -> Outcome:
    """Sends a received mail on, with its text and attachments, in its thread."""
    email = objects.find(store, user_id=user.id, kind=EMAIL, id=target)
    quoted = (
        f"{body.body}\n\n---------- Forwarded message ----------\n"
        f"From: {email['from_name']} <{email['from']}>\nDate: {email['date']}\n"
        f"Subject: {email['subject']}\nTo: {', '.join(email['to'])}\n\n{email['body_text']}"
    )
    return _sent(
        store,
        user=user,
        to=body.to,
        cc=body.cc,
        bcc=body.bcc,
        reply_to=[],
        subject=f"Fwd: {email['subject']}",
        text=quoted.lstrip(),
        thread_id=email["thread_id"],
        attachments=[*email["attachments"], *_files(store, user, body.attachments)],
    )


def archive(store: Store, *, user: User, target: str, body: bodies.Empty) -> Outcome:
    """Takes a mail out of the inbox."""
    return _labelled(store, user=user, email_id=target, remove=["INBOX"])


def trash(store: Store, *, user: User, target: str, body: bodies.Empty) -> Outcome:
    """Puts a mail into the trash and out of the inbox."""
    return _labelled(store, user=user, email_id=target, add=["TRASH"], remove=["INBOX"])


def mark_read(store: Store, *, user: User, target: str, body: bodies.Empty) -> Outcome:
    return _labelled(store, user=user, email_id=target, remove=["UNREAD"])


def change_labels(store: Store, *, user: User, target: str, body: bodies.LabelChange) -> Outcome:
    """Adds and removes labels and mail folders; `thread_remove` are taken off the other mails of
    its thread. Refuses 404 for one the user has not, 422 for SENT."""
    named = (*body.add, *body.remove, *body.thread_remove)
    if "SENT" in named:
        raise Refusal(422, "label_not_allowed", "SENT cannot be added or removed.")
    known = SYSTEM_LABELS | label_ids(store, user_id=user.id)
    known |= mail_folder_ids(store, user_id=user.id)
    for label in named:
        if label not in known:
            raise Refusal(404, "unknown_label", f"This user has no label {label!r}.")
    if body.thread_remove:
        email = objects.find(store, user_id=user.id, kind=EMAIL, id=target)
        thread = email["thread_id"]
        for other in objects.every(store, user_id=user.id, kind=EMAIL, thread_id=thread):
            if other["id"] != target:
                _labelled(store, user=user, email_id=other["id"], remove=body.thread_remove)
    return _labelled(store, user=user, email_id=target, add=body.add, remove=body.remove)


def move(store: Store, *, user: User, target: str, body: bodies.Move) -> Outcome:
    """Puts a mail into one mail folder and out of every other."""
    folder_name(store, user_id=user.id, kind="mail", folder_id=body.folder_id)
    others = mail_folder_ids(store, user_id=user.id) - {body.folder_id}
    return _labelled(store, user=user, email_id=target, add=[body.folder_id], remove=sorted(others))


def create_draft(store: Store, *, user: User, target: str, body: bodies.NewDraft) -> Outcome:
    thread_id = _thread_of(store, user=user, email_id=body.reply_to_id)
    id = objects.new_id("draft")
    draft, _ = objects.add(
        store,
        user_id=user.id,
        kind=DRAFT,
        fields={
            **body.model_dump(),
            "id": id,
            "thread_id": thread_id or objects.new_id("thread"),
            "message_id": _message_id(user),
            "created_at": instant_text(now()),
        },
    )
    return Outcome(201, {name: draft[name] for name in ("id", "thread_id", "message_id")})


def change_draft(store: Store, *, user: User, target: str, body: bodies.DraftChange) -> Outcome:
    fields = body.model_dump(exclude_unset=True)
    return Outcome(
        200, objects.change(store, user_id=user.id, kind=DRAFT, id=target, fields=fields)
    )


def delete_draft(store: Store, *, user: User, target: str, body: bodies.Empty) -> Outcome:
    objects.remove(store, user_id=user.id, kind=DRAFT, id=target)
    return Outcome(204, None)


def send_draft(store: Store, *, user: User, target: str, body: bodies.Empty) -> Outcome:
    """Sends a draft as it is now; the draft is gone afterwards. Refuses 422 without `to`."""
    draft = objects.find(store, user_id=user.id, kind=DRAFT, id=target)
    if not draft["to"]:
        raise Refusal(422, "no_receivers", "to: the draft has no receiver yet.")
    objects.remove(store, user_id=user.id, kind=DRAFT, id=target)
    return _sent(
        store,
        user=user,
        to=draft["to"],
        cc=draft["cc"],
        bcc=draft["bcc"],
        reply_to=[],
        subject=draft["subject"],
        text=draft["body"],
        thread_id=draft["thread_id"],
        message_id=draft["message_id"],
    )


def _thread_of(store: Store, *, user: User, email_id: str | None) -> str | None:
    if email_id is None:
        return None
    email = objects.find(store, user_id=user.id, kind=EMAIL, id=email_id)
    return str(email["thread_id"])


def _files(store: Store, user: User, document_ids: Sequence[str]) -> list[JsonObject]:
    """Documents of the user's drive as attachments. Refuses 404 for one that is none of theirs."""
    found = [objects.find(store, user_id=user.id, kind=DOCUMENT, id=one) for one in document_ids]
    return [
        {
            "name": one["name"],
            "mime_type": one["mime_type"],
            "size": one["size_bytes"],
            "gdrive_id": one["id"],
            "file_id": one["file_id"],
        }
        for one in found
    ]


def _message_id(user: User) -> str:
    domain = user.address.rpartition("@")[2]
    return f"<{objects.new_id('out')}@{domain}>"


def _sent(
    store: Store,
    *,
    user: User,
    to: Sequence[str],
    cc: Sequence[str],
    bcc: Sequence[str],
    reply_to: Sequence[str],
    subject: str,
    text: str,
    thread_id: str | None,
    message_id: str | None = None,
    attachments: Sequence[JsonObject] = (),
) -> Outcome:
    email, _ = objects.add(
        store,
        user_id=user.id,
        kind=EMAIL,
        fields={
            "id": objects.new_id("mail"),
            "thread_id": thread_id or objects.new_id("thread"),
            "message_id": message_id or _message_id(user),
            "from": user.address,
            "from_name": user.name,
            "to": list(to),
            "cc": list(cc),
            "bcc": list(bcc),
            "reply_to": list(reply_to),
            "subject": subject,
            "body_text": text,
            "date": instant_text(now()),
            "labels": ["SENT"],
            "attachments": list(attachments),
            "authentication": {"spf": "pass", "dkim": "pass", "dmarc": "pass"},
        },
    )
    return Outcome(200, {name: email[name] for name in ("message_id", "thread_id", "id")})


def _labelled(
    store: Store,
    *,
    user: User,
    email_id: str,
    add: Sequence[str] = (),
    remove: Sequence[str] = (),
) -> Outcome:
    email = objects.find(store, user_id=user.id, kind=EMAIL, id=email_id)
    labels = email["labels"]
    for label in remove:
        labels = with_label(labels, label, present=False)
    for label in add:
        labels = with_label(labels, label, present=True)
    changed = objects.change(
        store, user_id=user.id, kind=EMAIL, id=email_id, fields={"labels": labels}
    )
    return Outcome(200, changed)
