"""To whom somebody wrote last, from the mail that they sent. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from integrations.contracts.people import Correspondent
from integrations.mail.addresses import Mailbox


@dataclass(frozen=True, kw_only=True)
class Sent:
    """One mail that was sent, and to whom. `is_answer`: programs copied the names in it."""

    people: tuple[Mailbox, ...]
    at: datetime
    is_answer: bool


def list_correspondents(mails: Iterable[Sent]) -> Iterator[Correspondent]:
    """Each address once, with the names that the user gave it; the newest mail comes first."""
    names: dict[str, list[str]] = defaultdict(list)
    counts: Counter[str] = Counter()
    latest: dict[str, datetime] = {}
    for mail in mails:
        for one in {one.address.lower(): one for one in mail.people}.values():
            address = one.address.lower()
            counts[address] += 1
            latest.setdefault(address, mail.at)
            if one.name and not mail.is_answer and one.name not in names[address]:
                names[address].append(one.name)
    for address, at in latest.items():
        yield Correspondent(
            address=address,
            names=tuple(names[address]),
            sent=counts[address],
            last_sent_at=at,
        )
