"""Who else reads a folder, as servers tell (RFC 3744)."""

import pytest

from integrations.providers.dav import multistatus
from integrations.providers.webdav import access

ACE = (
    "<d:ace><d:principal>{who}</d:principal>"
    "<d:grant><d:privilege>{what}</d:privilege></d:grant></d:ace>"
)
NORA, TOM = "<d:href>/p/nora/</d:href>", "<d:href>/p/tom/</d:href>"
OWNER = "<d:property><d:owner/></d:property>"


def readers(*entries: tuple[str, str], own: str = NORA, acl: bool = True) -> tuple[str, ...] | None:
    aces = "".join(ACE.format(who=who, what=f"<d:{what}/>") for who, what in entries)
    told = f"<d:acl>{aces}</d:acl>" if acl else ""
    content = (
        '<d:multistatus xmlns:d="DAV:"><d:response><d:href>/f/</d:href><d:propstat><d:prop>'
        f"{told}<d:owner>{NORA}</d:owner>"
        f"<d:current-user-principal>{own}</d:current-user-principal>"
        "</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response></d:multistatus>"
    )
    (found,) = multistatus.parse(content.encode(), url="https://s.test/f/").responses
    return access.readers(found)


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([(NORA, "all")], ()),
        ([(OWNER, "all")], ()),
        ([(NORA, "all"), (TOM, "read")], ("/p/tom",)),
        ([(NORA, "all"), (TOM, "read-free-busy")], ()),
        ([(TOM, "all"), ("<d:authenticated/>", "read")], ("/p/tom", "everybody")),
        ([("<d:all/>", "read")], ("everybody",)),
        ([("<d:self/>", "read")], None),
        ([("", "read")], None),
        ([("<d:property><d:group/></d:property>", "read")], None),
    ],
)
def test_only_what_is_known_for_certain_counts(
    entries: list[tuple[str, str]], expected: tuple[str, ...] | None
) -> None:
    assert readers(*entries) == expected


def test_a_server_that_does_not_tell_leaves_it_unknown() -> None:
    assert readers(acl=False) is None
    assert readers((NORA, "all"), own="") is None


def test_a_spelling_with_the_servers_name_is_the_same_principal() -> None:
    assert readers(("<d:href>https://s.test/p/nora/</d:href>", "all")) == ()
