"""Mail that goes out: as it lies among the drafts, and as it is to be drafted or sent."""

from dataclasses import dataclass

from integrations.contracts import ProviderObject
from integrations.contracts.field_types import Text


class Draft(ProviderObject):
    thread_id: Text | None = None
    to: tuple[Text, ...] = ()
    cc: tuple[Text, ...] = ()
    bcc: tuple[Text, ...] = ()
    subject: Text = ""
    body: Text = ""


@dataclass(frozen=True, kw_only=True)
class OutgoingMail:
    """A mail to be drafted, sent or sent on in the user's name. A forwarded mail keeps its own
    subject; `reply_to_id` is the mail that is answered, and `attachments` are ids of documents of
    the user's drive."""

    to: tuple[str, ...]
    cc: tuple[str, ...] = ()
    bcc: tuple[str, ...] = ()
    subject: str = ""
    body: str = ""
    reply_to_id: str | None = None
    attachments: tuple[str, ...] = ()
