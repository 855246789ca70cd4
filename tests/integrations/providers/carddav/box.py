"""One user's address books for the tests of `integrations.providers.carddav`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from integrations.accounts import contacts
from integrations.contracts import AccountRef
from integrations.providers.carddav import changes, trial
from tests.calendar_world import PASSWORD, CalendarServer

XML = {"Content-Type": "application/xml; charset=utf-8"}
PEOPLE = ("tom@elsewhere.test", "ann@elsewhere.test", "priya@elsewhere.test")
PLAIN_BOOK = """<d:mkcol xmlns:d="DAV:" xmlns:card="urn:ietf:params:xml:ns:carddav"><d:set><d:prop>
<d:resourcetype><d:collection/><card:addressbook/></d:resourcetype>
<d:displayname>Friends</d:displayname></d:prop></d:set></d:mkcol>"""


def card(name: str, *lines: str, version: str = "3.0") -> str:
    """As a program saves it."""
    said = ("BEGIN:VCARD", f"VERSION:{version}", f"UID:{name}", f"FN:{name}", f"N:{name};;;;")
    return "\r\n".join((*said, *lines, "END:VCARD", ""))


def home(server: CalendarServer) -> str:
    """Where a user's address books lie there."""
    homes = {
        "radicale": f"/{server.user}/",
        "xandikos": f"/{server.user}/contacts/",
        "cyrus": f"/dav/addressbooks/user/{server.user}/",
    }
    return homes[server.name]


def open_book(server: CalendarServer) -> str:
    """An empty one, beside none but what the server makes by itself; its path."""
    place = home(server)
    said = server.client.request("PROPFIND", place, headers={"Depth": "1"}).text
    for path in set(re.findall(r"href>([^<]+/)</", said)) - {place, server.calendar}:
        server.client.delete(path)
    book = f"{place}friends/"
    made = server.client.request("MKCOL", book, content=PLAIN_BOOK, headers=XML)
    assert made.status_code == 201, made.text
    return book


@dataclass(frozen=True, kw_only=True)
class Box:
    """One user's address books: at the server, and as Remit has them."""

    server: CalendarServer
    account: AccountRef
    book: str  # its path

    def grades(self) -> Mapping[str, str]:
        """What connecting says can be done there, and how surely."""
        tried = trial.try_urls([self.server.origin], user_name=self.server.user, secret=PASSWORD)
        return {one.what: one.grade for one in tried.abilities}

    def put(self, name: str, content: str, *, book: str = "") -> None:
        """As the user's own program does."""
        answer = self.server.client.put(
            f"{book or self.book}{name}.vcf",
            content=content.encode(),
            headers={"Content-Type": "text/vcard; charset=utf-8"},
        )
        assert answer.status_code in (201, 204), answer.text

    def delete(self, path: str) -> None:
        said = self.server.client.delete(path).status_code
        if path.endswith("/") and said == 404:  # so says Cyrus 3.6, and has deleted the book
            said = 204 if self.server.client.request("PROPFIND", path).status_code == 404 else said
        assert said in (200, 204)

    def make_book(self, name: str) -> str:
        path = f"{self.book.rstrip('/').rpartition('/')[0]}/{name}/"
        answer = self.server.client.request("MKCOL", path, content=PLAIN_BOOK, headers=XML)
        assert answer.status_code == 201, answer.text
        return path

    def look(self) -> int:
        """How many cards are read at a look. It is kept, as a caller does."""
        count = 0
        for looked in changes.look(self.account):
            assert looked.events == ()
            looked.keep()
            count += len(looked.cards)
        return count

    def known(self, *more: str) -> set[str]:
        account = self.account
        asked = (*PEOPLE, *more)
        return set(contacts.known(account.organisation_id, account.external_user_id, asked))
