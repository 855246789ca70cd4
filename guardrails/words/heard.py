"""What a person typed in one request, read once for all that is decided on it. Pure."""

from functools import cached_property, lru_cache
from typing import Protocol

from guardrails.words import times
from guardrails.words.own import own_words
from guardrails.words.times import Said
from guardrails.words.typed import spoken, with_small_domains

MOST_TURNS = 64  # that one process works on side by side, and some more


class Asked(Protocol):
    """Whatever keeps a person's words, when they were typed and in which zone: an Origin."""

    @property
    def user_words(self) -> str: ...
    @property
    def said_at(self) -> str: ...
    @property
    def time_zone(self) -> str: ...


class Heard:
    """One person's words, as decisions look at them. Nothing is read before it is asked for."""

    def __init__(self, text: str, said_at: str, zone: str) -> None:
        self._text, self._said_at, self._zone = text, said_at, zone

    @cached_property
    def words(self) -> str:
        """What they typed themselves."""
        return own_words(self._text)

    @cached_property
    def spoken(self) -> str:
        """What that says in their own voice, without quotations."""
        return spoken(self.words)

    @cached_property
    def times(self) -> Said:
        """The times that it names."""
        return times.read(self.spoken, said_at=self._said_at, zone=self._zone)

    @cached_property
    def addresses(self) -> str:
        """What they typed, to find plain addresses in it."""
        return with_small_domains(self.words)


def hear(origin: Asked) -> Heard:
    """What the person typed in this request; the same value for all of a turn's requests."""
    return read(origin.user_words, origin.said_at, origin.time_zone)


@lru_cache(maxsize=MOST_TURNS)
def read(text: str, said_at: str, zone: str) -> Heard:
    """The same from its parts."""
    return Heard(text, said_at, zone)
