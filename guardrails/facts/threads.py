"""What a thread says to one decision, however long it is. Pure.

Nothing that decides looks at a thread's mails: what counts is how many there are, which labels they
have, and how the people whom the decision is about take part. So that is all that is kept.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from guardrails.facts.mailing_lists import posted_to
from guardrails.facts.targets import address_or_none, domain_of, plain_addresses
from integrations.contracts import Email

SENT = "SENT"  # the data service's label of mail the user sent; a stranger cannot set it
MOST_ADDERS = 10  # kept of those who let in one person


@dataclass(frozen=True, kw_only=True)
class Participant:
    """What a thread says of one address. Each `…_in` is the id of the first mail that says so; None
    where none does."""

    address: str
    named_in: str | None = None  # as its sender, or in to or cc
    proved_in: str | None = None  # as its sender, and it passed DMARC
    sent_in: str | None = None  # from this mailbox, to this address
    list_in: str | None = None  # as the mailing list that it came through
    let_in_by: tuple[str, ...] = ()  # who provably wrote mail that names it
    adders: int = 0  # how many these were before some were left out


@dataclass(frozen=True, kw_only=True)
class ThreadSummary:
    """A thread as far as it decides."""

    mails: int
    labels: tuple[str, ...]  # that one of them has, sorted
    people: tuple[Participant, ...]  # by address

    def about(self, addresses: Iterable[str], *, own_address: str) -> "ThreadSummary":
        """The same of these plain addresses and the user's own alone. Of those who let somebody in,
        `MOST_ADDERS` are kept, the user and their domain first: whom only the others let in does
        not belong to the thread, so that a person is asked."""
        own = address_or_none(own_address) or ""
        wanted = {one.lower() for one in (own, *addresses)}

        def is_far(adder: str) -> tuple[bool, bool, str]:
            return adder != own, domain_of(adder) != domain_of(own), adder

        people = (
            replace(one, let_in_by=tuple(sorted(one.let_in_by, key=is_far)[:MOST_ADDERS]))
            for one in self.people
            if one.address.lower() in wanted
        )
        return replace(self, people=tuple(people))


def summarise(mails: Collection[Email]) -> ThreadSummary:
    """The whole thread, with everybody in it."""
    seen: dict[str, dict[str, str]] = defaultdict(dict)
    adders: dict[str, set[str]] = defaultdict(set)
    for mail in mails:
        sender = address_or_none(mail.sender)
        written = plain_addresses((*mail.to, *mail.cc))
        for address in written.union([sender] if sender else []):
            seen[address].setdefault("named_in", mail.id)
        if SENT in mail.labels:
            for address in written:
                seen[address].setdefault("sent_in", mail.id)
        elif sender and is_authenticated(mail):
            seen[sender].setdefault("proved_in", mail.id)
            for address in written.union([sender]):
                adders[address].add(sender)
        for address in posted_to(mail):
            seen[address].setdefault("list_in", mail.id)
    return ThreadSummary(
        mails=len(mails),
        labels=tuple(sorted({label for mail in mails for label in mail.labels})),
        people=tuple(
            Participant(
                address=address,
                let_in_by=tuple(sorted(adders[address])),
                adders=len(adders[address]),
                **seen[address],
            )
            for address in sorted(seen)
        ),
    )


def is_authenticated(mail: Email) -> bool:
    return mail.authentication.dmarc == "pass"
