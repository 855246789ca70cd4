"""Who is let in to a file at Microsoft: named, everybody or unknown, and never nobody."""

from typing import Any

import pytest

from integrations.providers.microsoft_files import grants
from integrations.providers.microsoft_files.answers import GrantSaid
from integrations.providers.microsoft_files.grants import EVERYBODY, Owner

NORA = Owner(address="nora@office.test", id="n0ra")
TOM, ANN = "tom@elsewhere.test", "ann@office.test"
OWN = {"roles": ["owner"], "grantedToV2": {"user": {"id": "n0ra"}}}


def user(**said: str) -> dict[str, Any]:
    return {"roles": ["read"], "grantedToV2": {"user": {"id": "x", **said}}}


def login(name: str) -> dict[str, Any]:
    return {"siteUser": {"loginName": name}}


def link(scope: str | None, *people: dict[str, Any]) -> dict[str, Any]:
    return {"roles": ["write"], "link": {"scope": scope}, "grantedToIdentitiesV2": [*people]}


def read(*rows: dict[str, Any]) -> list[GrantSaid]:
    return [GrantSaid.model_validate(one) for one in rows]


MEMBER = "i:0#.f|membership|"
CASES: list[tuple[list[dict[str, Any]], tuple[str, ...] | None]] = [
    ([], ()),
    ([OWN], ()),
    ([user(email="Nora@office.test")], ()),
    ([OWN, user(email=TOM)], (TOM,)),
    ([user(displayName="Tom")], None),
    ([{"roles": ["read"], "grantedToV2": login(f"{MEMBER}{TOM}")}], (TOM,)),
    ([{"roles": ["read"], "grantedToV2": login("Tom")}], None),
    ([{"roles": ["read"], "grantedToV2": login("c:0-.f|rolemanager|spo-grid-all-users/1")}], None),
    ([{"roles": ["read"], "invitation": {"email": TOM}}], (TOM,)),
    (
        [{"roles": ["read"], "grantedToV2": {"user": {"id": "x"}}, "invitation": {"email": TOM}}],
        (TOM,),
    ),
    ([{"roles": ["read"], "grantedToV2": {"siteGroup": {"displayName": "Members"}}}], None),
    ([{"roles": ["read"], "grantedToV2": {"group": {"id": "g"}}}], None),
    ([{"roles": ["read"], "grantedToV2": {"application": {"id": "a"}}}], None),
    ([{"roles": ["read"]}], None),
    ([link("anonymous")], (EVERYBODY,)),
    ([link("organization")], None),
    ([link(None)], None),
    ([link("existingAccess"), user(email=TOM)], (TOM,)),
    ([link("users", login(f"{MEMBER}{TOM}"), login(f"{MEMBER}{ANN}"))], (ANN, TOM)),
    ([link("users", login(f"{MEMBER}{TOM}"), login("Ann"))], None),
    ([link("users")], None),
    ([user(email=TOM), user(email=TOM)], (TOM,)),
    ([user(email="not an address")], None),
]


@pytest.mark.parametrize(("rows", "wanted"), CASES)
def test_readers_are_named_or_unknown(
    rows: list[dict[str, Any]], wanted: tuple[str, ...] | None
) -> None:
    assert grants.readers(read(*rows), NORA) == wanted


def test_without_any_answer_nobody_is_known() -> None:
    assert grants.readers(None, NORA) is None


def test_an_invitation_to_one_names_none_of_several() -> None:
    several = link("users", login("Tom"), login(f"{MEMBER}{ANN}")) | {"invitation": {"email": TOM}}
    assert grants.readers(read(several), NORA) is None


def test_a_role_counts_as_the_most_of_it() -> None:
    rows = read(user(email=TOM), user(email=TOM) | {"roles": ["write"]}, user(email=TOM))
    assert grants.roles(rows, NORA) == {TOM: "writer"}
    odd = read(user(email=TOM) | {"roles": ["sp.full control"]})
    assert grants.roles(odd, NORA) == {TOM: "writer"}


def test_a_grant_of_one_alone_is_found_by_the_address_however_it_is_written() -> None:
    rows = read(link("users", login(f"{MEMBER}{TOM}"), login(f"{MEMBER}{ANN}")), user(email=ANN))
    found = grants.own_of(rows, ANN.upper())
    assert found is not None
    assert found.link is None
    assert grants.own_of(rows, TOM) is None
