"""What a reader of one kind of file may say besides text."""


class Unreadable(Exception):
    """There is no text to be had, for a reason of `contracts.REASONS`."""

    reason = "broken"


class Encrypted(Unreadable):
    reason = "encrypted"


class TooLargeUnpacked(Unreadable):
    reason = "too_large_unpacked"


class Cut(Exception):
    """There is more in the file than is read."""
