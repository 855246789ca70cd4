"""Where a domain's services are, by what its DNS says (RFC 2782, 6186, 6764). Pure.

DNS can be forged. So a password goes without a question to a server under the domain of the address
alone, whose certificate no forger has; another one has to be named by its user.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from integrations.exceptions import Rejected

MOST = 3  # places of one service that are tried
NOWHERE = "."  # the target that says: there is no such service
_LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
# A last part of digits alone is an address's, and names stand in certificates.
_HOST = re.compile(rf"(?=.{{1,253}}\Z)({_LABEL}\.)*(?=[a-z]){_LABEL}")
_PATH = re.compile(rb"(?i:path)=(/(?!/)[A-Za-z0-9._~@/-]{0,254})")


@dataclass(frozen=True, kw_only=True)
class Record:
    """An SRV record; `target` without the dot at its end."""

    priority: int
    weight: int
    port: int
    target: str


@dataclass(frozen=True, kw_only=True)
class Place:
    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, kw_only=True)
class Service:
    """Where it is, first the place to be tried first. `is_refused`: the domain says that there is
    none. Neither: the domain says nothing of it."""

    places: tuple[Place, ...] = ()
    is_refused: bool = False


def read(records: Sequence[Record], *, draw: Callable[[int], int]) -> Service:
    """By priority, and within one by weight: `draw` gives a random number below what it is given.
    What no server can be called is left out."""
    if records and all(one.target == NOWHERE for one in records):
        return Service(is_refused=True)
    left = [one for one in records if _HOST.fullmatch(one.target.lower()) and 0 < one.port < 65536]
    found: list[Place] = []
    while left and len(found) < MOST:
        best = min(one.priority for one in left)
        one = _drawn([one for one in left if one.priority == best], draw)
        left.remove(one)
        found.append(Place(host=one.target.lower(), port=one.port))
    return Service(places=tuple(found))


def _drawn(equals: list[Record], draw: Callable[[int], int]) -> Record:
    """A heavy one more often than a light one, and one without weight now and then."""
    equals.sort(key=lambda one: one.weight)
    number = draw(sum(one.weight for one in equals) + 1)
    for one in equals:
        number -= one.weight
        if number <= 0:
            return one
    return equals[-1]


def read_path(texts: Iterable[bytes]) -> str:
    """The path that a TXT record names beside a service (RFC 6764, 4). Empty where there is none
    that is plain."""
    matches = (_PATH.fullmatch(one) for one in texts)
    paths = (one[1].decode() for one in matches if one)
    return next((one for one in paths if ".." not in one), "")


def check_offered(domain: str, *services: Service) -> None:
    """Raises Rejected where the domain says that it has none of these."""
    if any(one.is_refused for one in services) and not any(one.places for one in services):
        raise Rejected(
            f"The DNS of {domain} says that there is no such service. Name the server, if there is."
        )


def prefer_own(domain: str, places: tuple[Place, ...]) -> tuple[Place, ...]:
    """Those under the domain itself, where there are any."""
    return tuple(one for one in places if is_own(domain, one)) or places


def check_own(domain: str, places: Iterable[Place]) -> None:
    """Raises Rejected with a sentence that names those that are elsewhere: their user says yes by
    naming them."""
    others = [str(one) for one in places if not is_own(domain, one)]
    if others:
        raise Rejected(
            f"The DNS of {domain} names {' and '.join(others)}, which is another site. Nothing was "
            "sent there, the password neither. Name that server, if it is the right one."
        )


def is_own(domain: str, place: Place) -> bool:
    return place.host == domain or place.host.endswith(f".{domain}")
