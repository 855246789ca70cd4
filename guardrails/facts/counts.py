"""How often an account's agent did something lately: what was counted for one decision. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

What = Literal["actions", "asks", "deletes", "hidden", "new_receivers", "receivers", "sum"]
Window = Literal["hour", "day", "run"]
LENGTHS: dict[Window, timedelta] = {"hour": timedelta(hours=1), "day": timedelta(days=1)}
# Whom the agent did not write to for so long is new again.
NEW_AFTER = timedelta(days=30)


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is to be counted, over which sliding window, against which limit. `field` is the
    argument whose values are added up."""

    what: What
    per: Window
    max: float
    field: str = ""


# Mails that one run may put out of sight though nobody named them: so many, or such a part of
# the inbox where that is more.
UNASKED, SHARE = 10, 4


def hidden_question(inbox: int | None) -> Question:
    """How many mails a run put out of sight that nobody named. `inbox` is how many there were
    when it began; None: nobody knows."""
    return Question(what="hidden", per="run", max=max(UNASKED, (inbox or 0) // SHARE))


@dataclass(frozen=True, kw_only=True)
class Tally:
    """The answer: `own` is what the action at hand adds, `count` what it would be with it;
    `again` is when it would be within the limit, None where waiting does not help or is not
    needed."""

    question: Question
    own: float
    count: float
    again: datetime | None = None

    @property
    def within(self) -> bool:
        """Whether the limit is kept. What adds nothing always keeps it."""
        return self.own == 0 or self.count <= self.question.max


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Every answer of one decision, all counted at one moment."""

    tallies: tuple[Tally, ...] = ()

    def of(self, question: Question) -> Tally | None:
        """The answer to this question, or to the same one against another limit, which cannot
        say when it is possible again. None: it was not counted."""
        for tally in self.tallies:
            if tally.question == question:
                return tally
        asked = (question.what, question.per, question.field)
        for tally in self.tallies:
            if (tally.question.what, tally.question.per, tally.question.field) == asked:
                return Tally(question=question, own=tally.own, count=tally.count)
        return None

    @property
    def hidden(self) -> Tally | None:
        """How many mails this run put out of sight, against the limit of its own inbox."""
        return next((one for one in self.tallies if one.question.what == "hidden"), None)


@dataclass(frozen=True, kw_only=True)
class Use:
    """What one action would use up."""

    action_type: str
    run: str
    receivers: tuple[str, ...]
    destructive: bool
    hidden: bool  # a mail that nobody named goes out of sight
    amounts: Mapping[str, float]  # every number among the arguments


def tally(question: Question, *, own: float, before: Sequence[tuple[datetime, float]]) -> Tally:
    """The answer from what the window holds, newest first, each with its weight, and from
    what the action at hand adds."""
    count = own + sum(weight for _, weight in before)
    again = None
    if count > question.max and own <= question.max:
        room = question.max - own
        for at, weight in before:
            room -= weight
            if room < 0:  # this one and all older ones must have left the window
                again = at + LENGTHS[question.per]
                break
    return Tally(question=question, own=own, count=count, again=again)
