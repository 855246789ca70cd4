"""What speaks for and against a pattern, and whether that is enough. Pure: rows of a trial on past
mail are all that counts, and nothing that an agent says."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from django.utils.translation import gettext_noop

ENOUGH = 3  # mails that a person treated alike
# What the agent did unasked and the user saw and left so weighs a third of what they do themselves:
# saying nothing is cheap. By itself it weighs nothing, or the agent would learn from the agent.
SEEN_FOR_ONE = 3
BEYOND_DOUBT = 5  # of them, where nobody is to approve it
SEVERAL = 3  # runs or days that they come from: what one run caused is no habit

UNTRIED = "It was not tried on past mail yet. That takes about a minute."
AGAINST = gettext_noop(
    "A learned pattern needs mail that nobody treated otherwise: here %(against)d speak against it."
)
TOO_FEW = gettext_noop(
    "A learned pattern needs %(enough)d like mails that a person treated so: here it is %(alike)d."
)
AT_ONCE = gettext_noop(
    "A learned pattern needs mails treated so on %(several)d occasions: here it is %(occasions)d."
)


class Seen(Protocol):
    """What became of one past mail."""

    @property
    def side(self) -> str: ...
    @property
    def by_person(self) -> bool: ...
    @property
    def seen(self) -> bool: ...
    @property
    def occasion(self) -> str: ...


class Decided(Protocol):
    """What of a pattern says whether it was learned, and whether a person let it act before."""

    @property
    def proposed_by(self) -> str: ...
    @property
    def tried_at(self) -> datetime | None: ...
    @property
    def approved_at(self) -> datetime | None: ...


@dataclass(frozen=True, kw_only=True)
class Lack:
    """What is missing, for people: a sentence to translate, and its figures."""

    template: str
    figures: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.template % self.figures


def find_lack(
    found: Iterable[Seen], *, enough: int = ENOUGH, counts_seen: bool = True
) -> Lack | None:
    """None where people treated enough mails like that, in several runs or on several days, and
    none otherwise. What the agent did unasked is no evidence for it, but where the user saw it
    and left it so: that adds to what they did themselves."""
    rows = list(found)
    alike = [one for one in rows if one.side == "supporting"]
    by_person = [one for one in alike if one.by_person]
    seen = [one for one in alike if counts_seen and one.seen and not one.by_person]
    occasions = {one.occasion for one in (*by_person, *seen)}
    if against := sum(one.side == "contradicting" for one in rows):
        return Lack(template=AGAINST, figures={"against": against})
    weight = weigh(len(by_person), len(seen))
    if weight < enough:
        return Lack(template=TOO_FEW, figures={"enough": enough, "alike": weight})
    if len(occasions) < SEVERAL:
        return Lack(template=AT_ONCE, figures={"several": SEVERAL, "occasions": len(occasions)})
    return None


def weigh(by_person: int, seen: int) -> int:
    """As how many mails that people treated themselves it counts."""
    return by_person + seen // SEEN_FOR_ONE if by_person else 0


def refuse_approval(pattern: Decided, found: Iterable[Seen]) -> Lack | None:
    """Why a person cannot let it act now; None where they can. What an operator wrote is their own
    and needs no evidence, and neither does one that a person approved as it is and lets act again:
    by then the pattern does what people did before."""
    if pattern.tried_at is None:
        return Lack(template=UNTRIED)
    if pattern.proposed_by == "operator" or pattern.approved_at is not None:
        return None
    return find_lack(found)
