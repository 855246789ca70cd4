"""People, as their providers know them."""

from integrations.contracts import Value
from integrations.contracts.field_types import Instant, Text


class Member(Value):
    """Somebody who works in a project."""

    address: Text
    name: Text = ""


class Correspondence(Value):
    """How often the user and one exact address wrote to each other, whole mailbox. `group`: the
    provider knows that many people are behind the address. `sent_readable`: the provider can tell
    what the user sent; without that `sent` proves nothing."""

    address: Text
    received: int
    sent: int
    group: bool = False
    sent_readable: bool = True


class Correspondent(Value):
    """Somebody to whom the user sent mail. `names` are what the user's own mail calls them, never
    that of an answer: there programs copy what the other side calls itself."""

    address: Text
    names: tuple[Text, ...] = ()
    sent: int
    last_sent_at: Instant
    group: bool = False
