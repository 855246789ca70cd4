"""One user's address books for the tests of `integrations.providers.carddav`."""

from dataclasses import dataclass

from integrations.accounts import contacts
from integrations.contracts import AccountRef
from integrations.providers.carddav import changes
from tests.calendar_world import CalendarServer

PEOPLE = ("tom@elsewhere.test", "ann@elsewhere.test", "priya@elsewhere.test")
PLAIN_BOOK = """<d:mkcol xmlns:d="DAV:" xmlns:card="urn:ietf:params:xml:ns:carddav"><d:set><d:prop>
<d:resourcetype><d:collection/><card:addressbook/></d:resourcetype>
<d:displayname>Friends</d:displayname></d:prop></d:set></d:mkcol>"""


def card(name: str, *lines: str, version: str = "3.0") -> str:
    """As a program saves it."""
    said = ("BEGIN:VCARD", f"VERSION:{version}", f"UID:{name}", f"FN:{name}", f"N:{name};;;;")
    return "\r\n".join((*said, *lines, "END:VCARD", ""))


@dataclass(frozen=True, kw_only=True)
class Box:
    """One user's address books: at the server, and as Remit has them."""

    server: CalendarServer
    account: AccountRef
    book: str  # its path

    def put(self, name: str, content: str, *, book: str = "") -> None:
        """As the user's own program does."""
        answer = self.server.client.put(
            f"{book or self.book}{name}.vcf",
            content=content.encode(),
            headers={"Content-Type": "text/vcard; charset=utf-8"},
        )
        assert answer.status_code in (201, 204), answer.text

    def delete(self, path: str) -> None:
        assert self.server.client.delete(path).status_code in (200, 204)

    def make_book(self, name: str) -> str:
        path = f"{self.book.rstrip('/').rpartition('/')[0]}/{name}/"
        answer = self.server.client.request("MKCOL", path, content=PLAIN_BOOK)
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
