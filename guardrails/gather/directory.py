"""The organisation's own directory of people: whom operators entered or imported, whom a provider
named as a member, and whose accounts are connected here. Nobody else can put an address into it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Case, OuterRef, Q, QuerySet, Subquery, When
from django.db.models.functions import Lower
from django.utils import timezone

from guardrails.contracts import ActionRequest
from guardrails.decide.provenance import SOURCES
from guardrails.facts import targets
from guardrails.facts.people import Directory, Person, search_words
from guardrails.gather.correspondents import correspondents
from guardrails.models import OwnDomain, Person as Row
from guardrails.words import names
from guardrails.words.heard import hear
from guardrails.words.typed import typed
from integrations.models import Account, UserPreferences
from integrations.ports.account import Reader

MOST_FOUND = 500  # people whom a request's words resemble; with more of them nobody is named
MOST_USERS = 5_000  # connected users whose names are gone through; more of them must be imported


def look_up(
    organisation_id: UUID,
    addresses: Iterable[str],
    *,
    words: str = "",
    written_to: Iterable[Person] = (),
) -> Directory:
    """What the directory says about these plain addresses and about the names in the user's
    words, which may also mean somebody else that they have `written_to`. Three queries; none
    without addresses. An address is compared exactly, but for the case of the domain. Pausing an
    account takes it out."""
    asked = frozenset(addresses)
    if not asked:
        return Directory()
    spoken = names.words_of(words)
    found: dict[str, Person] = {}
    rows, groups = _rows(organisation_id, asked, spoken)
    for person in (*rows, *_users(organisation_id, asked, spoken)):
        known = found.get(person.address, person)
        merged = tuple(dict.fromkeys((*known.names, *person.names)))
        names_of = () if person.address in groups else merged
        found[person.address] = Person(address=person.address, key=person.key, names=names_of)
    others = {one.address: one for one in written_to if one.address not in found}
    named = (*found.values(), *others.values()) if len(found) < MOST_FOUND else ()
    meant = {one.address for said in names.mentions(words, named) for one in said.people}
    found |= {address: one for address, one in others.items() if address in meant}
    domains = OwnDomain.objects.filter(organisation_id=organisation_id)
    return Directory(
        people=tuple(found[one] for one in sorted(found) if one in meant or one in asked),
        domains=tuple(domains.order_by("domain").values_list("domain", flat=True)),
        groups=tuple(sorted(groups & asked)),
    )


def look_up_for(
    request: ActionRequest,
    reader: Reader,
    addresses: Sequence[str],
    *,
    is_asked_for: bool,
    adders: Iterable[str] = (),
) -> Directory:
    """What the directory says about them and about `adders`, who let them in, and, where the user
    did not type each of them or asks for an object in words, about the names in the user's words,
    which may also mean whom they wrote to. Once for each decision. Raises ProviderError."""
    if not (addresses or is_asked_for):
        return Directory()
    words = hear(request.origin).words if "N" in SOURCES[request.origin.trigger] else ""
    if not is_asked_for and all(typed(one, words) for one in addresses):
        words = ""
    account = request.account
    return look_up(
        account.organisation_id,
        [*addresses, *adders] or [account.address],
        words=words,
        written_to=correspondents(reader, account, now=timezone.now())
        if names.words_of(words)
        else (),
    )


def _rows(
    organisation_id: UUID, asked: frozenset[str], spoken: frozenset[str]
) -> tuple[list[Person], frozenset[str]]:
    """Whom operators entered or imported and providers name, and which of them are groups."""
    wanted = Q(address__in=asked) | Q(words__overlap=sorted(spoken))
    rows = Row.objects.filter(wanted, organisation_id=organisation_id)
    first = rows.order_by(Case(When(address__in=asked, then=0), default=1), "address")
    called = first.values_list("address", "name", "other_names", "is_group")
    found = list(called[: MOST_FOUND + len(asked)])
    return (
        [
            Person(address=address, key=address, names=(name, *others))
            for address, name, others, _ in found
        ],
        frozenset(address for address, _, _, is_group in found if is_group),
    )


def _users(
    organisation_id: UUID, asked: frozenset[str], spoken: frozenset[str]
) -> Iterator[Person]:
    """Whose accounts are connected, under the name that an operator gave the account. What a user
    calls themself counts beside it only as far as the name or the address bears it out."""
    own = UserPreferences.objects.filter(
        organisation_id=organisation_id, external_user_id=OuterRef("external_user_id")
    )
    connected = Account.objects.filter(organisation_id=organisation_id, paused=False)
    reached = connected.annotate(folded=Lower("address")).filter(
        folded__in=[one.lower() for one in asked]
    )
    columns = ("external_user_id", "address", "display_name", Subquery(own.values("name")[:1]))
    users = list(_distinct(connected, columns)[: MOST_USERS + 1]) if spoken else []
    if not spoken or len(users) > MOST_USERS:
        users = list(_distinct(reached, columns))
    found: dict[str, set[str]] = defaultdict(set)
    keys: dict[str, str] = {}
    for user, text, given, chosen in users:
        address = targets.address_or_none(text)
        if address is None:
            continue
        keys[address] = f"user {user}"
        borne_out = {*search_words([given]), *search_words([_local_words(address)])}
        names_of = {given} - {""}
        if chosen and borne_out.intersection(search_words([chosen])):
            names_of.add(chosen)
        found[address] |= names_of
    for address, called in found.items():
        if address in asked or not spoken.isdisjoint(search_words(called)):
            yield Person(address=address, key=keys[address], names=tuple(sorted(called)))


def _distinct(accounts: QuerySet[Account], columns: tuple[Any, ...]) -> QuerySet[Account, Any]:
    return accounts.values_list(*columns).distinct().order_by(*columns[:3])


def _local_words(address: str) -> str:
    local = address.rpartition("@")[0]
    return "".join(one if one.isalpha() else " " for one in local)
