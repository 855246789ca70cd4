"""Who is let in to a file or folder at Microsoft, besides its owner. Pure.

What cannot be read makes the readers unknown: never nobody.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from integrations.mail.addresses import is_addr_spec
from integrations.providers.microsoft_files.answers import GrantSaid, IdentitySaid, LetInSaid

EVERYBODY = "everybody"
ROLES = {"read": "reader", "write": "writer"}
# How the site of a work account calls a user: i:0#.f|membership|tom@office.test
MEMBER = "|membership|"


@dataclass(frozen=True, kw_only=True)
class Owner:
    """Whose drive it is: by address, and by id as Microsoft has it."""

    address: str
    id: str

    def is_it(self, said: LetInSaid) -> bool:
        if said.user is not None and said.user.id and said.user.id == self.id:
            return True
        address = address_of(said)
        return address is not None and address.casefold() == self.address.casefold()


def readers(grants: Sequence[GrantSaid] | None, owner: Owner) -> tuple[str, ...] | None:
    """Everybody else who is let in, by a name of their own or by a link. None where nobody can
    say."""
    found = None if grants is None else [one for grant in grants for one in _let_in(grant, owner)]
    if found is None or None in found:
        return None
    return tuple(sorted({one for one in found if one}))


def roles(grants: Sequence[GrantSaid], owner: Owner) -> dict[str, str]:
    """What each of them may do; the most of it where several let somebody in."""
    found: dict[str, str] = {}
    for grant in grants:
        for one in _let_in(grant, owner):
            if one and one != EVERYBODY and found.get(one) != "writer":
                found[one] = role_of(grant)
    return found


def role_of(grant: GrantSaid) -> str:
    """One that is more than reading counts as writing."""
    return "reader" if grant.roles == ("read",) else "writer"


def own_of(grants: Sequence[GrantSaid], email: str) -> GrantSaid | None:
    """The grant that lets in this address and nobody else."""
    for one in grants:
        found = _people(one)
        name = _name(found[0], one) if len(found) == 1 else None
        if name is not None and name.casefold() == email.casefold():
            return one
    return None


def address_of(said: LetInSaid) -> str | None:
    for identity in (said.user, said.site_user):
        if identity is not None and (address := _address(identity)):
            return address
    return None


def _let_in(grant: GrantSaid, owner: Owner) -> Iterator[str | None]:
    """None for somebody whom nobody can name."""
    scope = grant.link.scope if grant.link else "users"
    if scope == "existingAccess":
        return
    if scope == "anonymous":
        yield EVERYBODY
        return
    people = _people(grant)
    if scope != "users" or not people:
        yield None
    for said in people:
        if not owner.is_it(said):
            yield _name(said, grant) if len(people) == 1 else address_of(said)


def _name(said: LetInSaid, grant: GrantSaid) -> str | None:
    """Where Microsoft does not say it of the only one, whom the invitation went to."""
    invited = grant.invitation.email if grant.invitation else None
    return address_of(said) or _addr_spec(invited)


def _people(grant: GrantSaid) -> list[LetInSaid]:
    found = [*([grant.let_in] if grant.let_in else []), *grant.all_let_in]
    # Before an invitation is taken up, it says no more than whom it went to.
    return found or ([LetInSaid()] if grant.invitation and grant.invitation.email else [])


def _address(said: IdentitySaid) -> str | None:
    _, is_member, name = (said.login or "").rpartition(MEMBER)
    return _addr_spec(said.email) or _addr_spec(name if is_member else None)


def _addr_spec(text: str | None) -> str | None:
    return text if text and is_addr_spec(text) else None
