"""Who is a stranger: somebody to whom the user has sent nothing, as far as what they sent can be
read, whom they name neither in an address book nor in their preferences, and who is nobody of the
organisation. That they wrote before changes nothing, nor does mail that the agent sent unasked. An
operator lets somebody in by listing them as a receiver (`PolicySnapshot.unlisted`).
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import replace

from guardrails.decide.snapshot import PolicySnapshot
from guardrails.facts import targets
from guardrails.facts.facts import Facts, Need
from guardrails.facts.public_domains import PUBLIC_DOMAINS
from guardrails.gather import directory, own_mail
from guardrails.gather.policy_rows import policy_snapshot
from integrations.accounts import contacts
from integrations.contracts import AccountRef
from integrations.contracts.people import Correspondence
from integrations.ports.account import Reader


def find_strangers(
    account: AccountRef, addresses: Iterable[str], known: Mapping[str, Correspondence]
) -> tuple[str, ...]:
    """Those of the plain addresses who are strangers, unless an operator listed them. `known` is
    what the provider says of each; who is missing there is a stranger. At most five queries."""
    own = targets.address_or_none(account.address)
    own_domain = targets.domain_of(own) if own else None
    written = own_mail.sent_by_agent(account, (one for one, met in known.items() if met.sent))
    found = [
        one
        for one in dict.fromkeys(addresses)
        if one != own
        and (targets.domain_of(one) != own_domain or own_domain in PUBLIC_DOMAINS)
        and _has_no_mail(known.get(one), by_agent=written.get(one.lower(), 0))
    ]
    people = directory.look_up(account.organisation_id, found)
    met = contacts.known(account.organisation_id, account.external_user_id, found)
    return tuple(one for one in found if one not in met and not people.is_inside(one))


def look_up_strangers(
    facts: Facts,
    account: AccountRef,
    receivers: Iterable[str],
    known: Mapping[str, Correspondence],
    needs: Set[Need],
) -> Facts:
    """The facts with the strangers among these receivers, and whether the sender is one where
    `needs` says so."""
    asked, met = tuple(receivers), dict(known)
    if "strangers" in needs and facts.sender and facts.correspondence:
        asked, met[facts.sender] = (*asked, facts.sender), facts.correspondence
    if not (asked or "strangers" in needs):
        return facts
    return replace(facts, strangers=find_strangers(account, asked, met))


def is_stranger(
    account: AccountRef, reader: Reader, sender: str, *, policy: PolicySnapshot | None = None
) -> bool:
    """Whether the sender of a mail is one. Doubt about who that is, or about what the user sent,
    means no. `policy`: the account's, where it was read already. Raises ProviderError."""
    address = targets.address_or_none(sender)
    if address is None:
        return False
    known = {address: reader.correspondence(address)}
    found = find_strangers(account, [address], known)
    return bool(found and (policy or policy_snapshot(account)).unlisted(found))


def _has_no_mail(met: Correspondence | None, *, by_agent: int) -> bool:
    """Whether the user has provably sent them nothing."""
    return met is None or (met.sent_readable and met.sent <= by_agent)
