"""What a reader of one kind of file may say besides text."""


class Unreadable(Exception):
    """No text can be read, for a reason of `contracts.REASONS`."""

    reason = "broken"


class Encrypted(Unreadable):
    reason = "encrypted"


class TooLargeUnpacked(Unreadable):
    reason = "too_large_unpacked"


class Cut(Exception):
    """There is more in the file than is read."""
