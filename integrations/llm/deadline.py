"""When work has to be over: one value, handed from a turn down to each call of a model in it."""

import time
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Deadline:
    """A moment of this process's clock (`time.monotonic`, in seconds)."""

    at: float

    @classmethod
    def after(cls, seconds: float) -> "Deadline":
        """So many seconds from now."""
        return cls(time.monotonic() + seconds)

    @property
    def seconds_left(self) -> float:
        """Never less than 0."""
        return max(0.0, self.at - time.monotonic())

    def has_passed(self) -> bool:
        return self.seconds_left <= 0

    def within(self, seconds: float) -> "Deadline":
        """This one, or so many seconds from now where that is earlier."""
        return min(self, Deadline.after(seconds))

    def halfway(self) -> "Deadline":
        """When half of what is left will have passed."""
        return self.within(self.seconds_left / 2)
