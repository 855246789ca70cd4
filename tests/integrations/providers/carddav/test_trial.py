"""Address books found, tried, and said in words, before anything is stored."""

from typing import Any

import pytest

from integrations.exceptions import NotPermitted, Rejected
from integrations.models import Account, ContactCard
from integrations.providers.carddav import discovery, trial
from integrations.providers.carddav.servers import ContactServer
from integrations.providers.dav import multistatus
from tests.calendar_world import PASSWORD
from tests.commands import run_command
from tests.dns_world import Dns, resolve
from tests.integrations.providers.carddav.box import Box, card

pytestmark = pytest.mark.django_db


def test_what_is_there_is_said_with_its_grade_and_nothing_is_stored(box: Box) -> None:
    box.put("tom", card("Tom"))  # Xandikos lists no book that never held a card
    found = trial.try_urls([box.server.origin], user_name=box.server.user, secret=PASSWORD)

    assert box.book in [one.path for one in found.books if one.is_own]
    assert [one.grade for one in found.abilities] == ["A", ""]
    assert not ContactCard.objects.exists()


def test_a_wrong_password_is_said_and_nothing_is_tried_on(box: Box) -> None:
    with pytest.raises(NotPermitted, match="refused the sign-in"):
        trial.try_urls([box.server.origin] * 2, user_name=box.server.user, secret="wrong")


def test_address_books_are_where_dns_says(
    box: Box, dns: Dns, monkeypatch: pytest.MonkeyPatch
) -> None:
    box.put("tom", card("Tom"))
    host = box.server.host
    resolve(monkeypatch, {host: "127.0.0.1"})
    port = box.server.origin.rpartition(":")[2]
    dns.srv("_carddavs._tcp.office.test", f"0 0 {port} {host}.")

    urls = trial.find_urls("ada@office.test")

    assert urls[0] == f"https://{host}:{port}/.well-known/carddav"
    found = trial.try_urls(urls, user_name=box.server.user, secret=PASSWORD)
    assert box.book in [one.path for one in found.books if one.is_own]
    dns.srv("_carddavs._tcp.office.test", "0 0 443 dav.evil.test.")
    with pytest.raises(Rejected, match=r"names dav\.evil\.test:443, which is another site"):
        trial.find_urls("ada@office.test")


def test_an_address_is_looked_for_where_its_contacts_may_be() -> None:
    assert trial.find_urls("ada@icloud.com") == ("https://contacts.icloud.com/.well-known/carddav",)
    assert len(trial.find_urls("ada@office.test")) == 4
    for wrong in ("ada@gmail.com", "no address", "ada@"):
        with pytest.raises(Rejected):
            trial.find_urls(wrong)


@pytest.mark.parametrize(
    ("more", "is_own"),
    [
        ("", True),
        ("<d:owner><d:href>/nora/</d:href></d:owner>", True),
        ("<d:owner><d:href>/tom/</d:href></d:owner>", False),
        (
            "<d:current-user-privilege-set><d:privilege><d:read/></d:privilege>"
            "</d:current-user-privilege-set>",
            False,
        ),
        (
            "<d:current-user-privilege-set><d:privilege><d:bind/></d:privilege>"
            "</d:current-user-privilege-set>",
            True,
        ),
    ],
)
def test_a_book_of_somebody_else_or_that_only_the_server_writes_is_not_the_users_word(
    more: str, is_own: bool
) -> None:
    class Session:
        def propfind(self, url: str, names: object, *, depth: int) -> multistatus.Multistatus:
            content = (
                '<d:multistatus xmlns:d="DAV:" xmlns:card="urn:ietf:params:xml:ns:carddav">'
                "<d:response><d:href>/nora/book/</d:href><d:propstat><d:prop><d:resourcetype>"
                "<d:collection/><card:addressbook/></d:resourcetype><d:current-user-principal>"
                f"<d:href>/nora/</d:href></d:current-user-principal>{more}</d:prop>"
                "<d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response></d:multistatus>"
            )
            return multistatus.parse(content.encode(), url=url)

    session: Any = Session()
    (found,) = discovery.list_books(session, ContactServer(home="https://dav.test/nora/"))
    assert found.is_own is is_own


def test_the_command_connects_them(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMIT_MAIL_PASSWORD", PASSWORD)
    account = Account.objects.get(id=box.account.id)
    slug = account.organisation.slug
    named = (
        "--user",
        "maya",
        "--organisation",
        slug,
        "--login",
        box.server.user,
        "--url",
        box.server.origin,
    )
    box.put("tom", card("Tom"))

    said = run_command("connect_contacts", "other@office.test", *named, "--try-only")
    assert "A  Know people in the address books." in said
    assert not Account.objects.filter(external_user_id="maya", source="carddav").exists()

    assert "Connected." in run_command("connect_contacts", "other@office.test", *named)
    account = Account.objects.get(external_user_id="maya", source="carddav")
    assert (account.kind, account.provider) == ("contacts", "carddav")
    assert account.allowed_actions.count() == 0
