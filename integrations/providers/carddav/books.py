"""The address books of one account, open to be read: listed, and cards fetched."""

from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import urljoin

from integrations.contracts import AccountRef
from integrations.exceptions import Malformed, NotFound, Rejected, TooLarge
from integrations.models import ContactCard
from integrations.providers.carddav import cards, discovery
from integrations.providers.carddav.discovery import Book
from integrations.providers.carddav.servers import ContactServer
from integrations.providers.dav import collections, multistatus
from integrations.providers.dav.collections import ETAG
from integrations.providers.dav.multistatus import CARD
from integrations.providers.dav.session import session_of

DATA = f"{CARD}address-data"
MAX_CARDS = 20_000  # in one book


class Books:
    def __init__(self, account: AccountRef) -> None:
        self.session, sign_in = session_of(account)
        self.account = account
        self.server = ContactServer.from_json(sign_in.servers)

    def own(self) -> list[Book]:
        """Those that are their user's own word."""
        return [one for one in discovery.list_books(self.session, self.server) if one.is_own]

    def etags(self, book: Book) -> dict[str, str]:
        """Every card of a book with its version."""
        found = self.session.propfind(book.url, [ETAG], depth=1)
        etags = dict(collections.listed(found.responses, book.path))
        if len(etags) > MAX_CARDS:
            raise Rejected(f"An address book has more than {MAX_CARDS} cards.")
        return etags

    def fetch(self, book: Book, paths: Sequence[str]) -> list[ContactCard]:
        """What is there of these; what is gone is left out."""
        raws = self._contents(book, paths)
        read = cards.read({path: raw for path, (_, raw) in raws.items()})
        return [
            ContactCard(
                account_id=self.account.id,
                path=path,
                etag=etag,
                name=read[path].name,
                addresses=list(read[path].addresses),
            )
            for path, (etag, _) in raws.items()
        ]

    def _contents(self, book: Book, paths: Sequence[str]) -> Mapping[str, tuple[str, bytes]]:
        """Version and content by path."""
        try:
            body = multistatus.multiget_cards(paths)
            found = self.session.report(book.url, body, depth=1).responses
        except (TooLarge, Malformed):  # one card may spoil an answer about many
            return dict(self._one_by_one(paths))
        wanted = set(paths)
        return {
            one.path: (one.text(ETAG), data.encode())
            for one in found
            if one.path in wanted and (data := one.text(DATA))
        }

    def _one_by_one(self, paths: Sequence[str]) -> Iterator[tuple[str, tuple[str, bytes]]]:
        for path in paths:
            url = urljoin(self.server.home, path)
            try:
                yield path, self.session.get(url, most_bytes=cards.MAX_CARD_BYTES)
            except NotFound:
                continue
            except TooLarge:
                yield path, ("", b"")
