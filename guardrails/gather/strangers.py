"""Who is a stranger: somebody to whom the user has sent nothing, as far as what they sent can be
read, whom they name neither in an address book nor in their preferences, and who is nobody of the
organisation. That they wrote before changes nothing, nor does mail that the agent sent unasked. An
operator lets somebody in by listing them as a receiver (`PolicySnapshot.unlisted`).
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from guardrails.decide.snapshot import PolicySnapshot
from guardrails.facts import targets
from guardrails.facts.facts import Facts, Need
from guardrails.facts.public_domains import PUBLIC_DOMAINS
from guardrails.gather import own_mail
from guardrails.gather.policy_rows import policy_snapshot
from integrations.accounts import contacts
from integrations.contracts import AccountRef
from integrations.contracts.people import Correspondence
from integrations.database.together import Read, Row
from integrations.ports.account import Reader

# Of every mail's sender: composed by Django, as four statements, it was a tenth of a mail's CPU.
_VOUCHED_FOR = f"""
SELECT address FROM guardrails_person
WHERE organisation_id = %(organisation)s AND address = ANY (%(addresses)s::text[])
UNION ALL
SELECT address FROM integrations_account
WHERE organisation_id = %(organisation)s AND NOT paused
    AND lower(address) = ANY (%(folded)s::text[])
UNION ALL
SELECT '@' || domain FROM guardrails_owndomain
WHERE organisation_id = %(organisation)s AND domain = ANY (%(domains)s::text[])
UNION ALL {contacts.KNOWN}"""  # noqa: S608  # only constants


def find_strangers(
    account: AccountRef, addresses: Iterable[str], known: Mapping[str, Correspondence]
) -> tuple[str, ...]:
    """Those of the plain addresses who are strangers, unless an operator listed them. `known` is
    what the provider says of each; who is missing there is a stranger. At most two queries."""
    found = _list_unwritten(account, addresses, known)
    vouched = read_vouched_for(account, found).run() if found else frozenset()
    return tuple(one for one in found if one not in vouched)


def _list_unwritten(
    account: AccountRef, addresses: Iterable[str], known: Mapping[str, Correspondence]
) -> list[str]:
    """Those of the addresses to which the user has sent nothing, but for their own and, of an
    organisation's domain, their colleagues'. At most one query."""
    own = targets.address_or_none(account.address)
    own_domain = targets.domain_of(own) if own else None
    written = own_mail.sent_by_agent(account, (one for one, met in known.items() if met.sent))
    return [
        one
        for one in dict.fromkeys(addresses)
        if one != own
        and (targets.domain_of(one) != own_domain or own_domain in PUBLIC_DOMAINS)
        and _has_no_mail(known.get(one), by_agent=written.get(one.lower(), 0))
    ]


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
    account: AccountRef,
    reader: Reader,
    sender: str,
    *,
    policy: PolicySnapshot | None = None,
    vouched: frozenset[str] | None = None,
) -> bool:
    """Whether the sender of a mail is one. Doubt about who that is, or about what the user sent,
    means no. `policy`: the account's, and `vouched`: what `read_vouched_for` found, where they were
    read already. Raises ProviderError."""
    address = targets.address_or_none(sender)
    if address is None:
        return False
    known = {address: reader.correspondence(address)}
    found = _list_unwritten(account, [address], known)
    if found and vouched is None:
        vouched = read_vouched_for(account, found).run()
    left = [one for one in found if one not in (vouched or ())]
    return bool(left and (policy or policy_snapshot(account)).unlisted(left))


def _has_no_mail(met: Correspondence | None, *, by_agent: int) -> bool:
    """Whether the user has provably sent them nothing."""
    return met is None or (met.sent_readable and met.sent <= by_agent)


def read_vouched_for(account: AccountRef, addresses: Sequence[str]) -> Read[frozenset[str]]:
    """Those whom the organisation's directory has (`guardrails.facts.people`), by an address or
    a domain of its own, or the user by their own word."""
    given: dict[str, Any] = {
        "organisation": account.organisation_id,
        "user": account.external_user_id,
        "addresses": [*addresses],
        "folded": [one.lower() for one in addresses],
        "domains": [targets.domain_of(one) for one in addresses],
    }

    def load(rows: Sequence[Row]) -> frozenset[str]:
        said = frozenset(text for (text,) in rows)
        inside = said | targets.plain_addresses(said)
        return frozenset(
            one for one in addresses if one in inside or f"@{targets.domain_of(one)}" in inside
        )

    return Read(_VOUCHED_FOR, given, load)
