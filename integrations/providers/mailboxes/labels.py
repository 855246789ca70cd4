"""The labels that mean the same at every mailbox, and the roles that folders have."""

from typing import Literal

Role = Literal["inbox", "all", "archive", "drafts", "sent", "junk", "trash", "starred", "important"]

# What mails of a folder with this role are labelled. Guardrails know these labels, and nobody but
# the mailbox's user can put a mail there.
LABELS: dict[Role, str] = {
    "inbox": "INBOX",
    "drafts": "DRAFT",
    "sent": "SENT",
    "junk": "SPAM",
    "trash": "TRASH",
}
UNREAD, STARRED = "UNREAD", "STARRED"
SYSTEM_LABELS = frozenset({*LABELS.values(), UNREAD, STARRED})
FOLDER_PREFIX = "folder:"
