"""What has changed in somebody's address books since they were last looked at. Each book has a mark
(`AddressBook`) as calendars have; its cards are kept, and nothing that happens there sets anything
off."""

from collections.abc import Generator
from dataclasses import dataclass

from integrations.contracts import AccountRef
from integrations.contracts.events import ItemEvent
from integrations.models import AddressBook, ContactCard
from integrations.providers.carddav.books import Books
from integrations.providers.carddav.discovery import Book
from integrations.providers.dav import collections

READ_AT_ONCE = 50


@dataclass(frozen=True, kw_only=True)
class Looked:
    """What was found in one book: cards that are new or changed, and those that are gone. `mark`:
    with it all was seen. `lost`: a book that is its user's no more."""

    cards: tuple[ContactCard, ...] = ()
    gone: tuple[ContactCard, ...] = ()
    mark: AddressBook | None = None
    lost: AddressBook | None = None
    events: tuple[tuple[str, ItemEvent], ...] = ()

    def keep(self) -> None:
        ContactCard.objects.bulk_create(
            self.cards,
            update_conflicts=True,
            unique_fields=["account", "path"],
            update_fields=["etag", "name", "addresses"],
        )
        ContactCard.objects.filter(pk__in=[one.pk for one in self.gone]).delete()
        if self.mark is not None:
            AddressBook.objects.bulk_create(
                [self.mark],
                update_conflicts=True,
                unique_fields=["account", "path"],
                update_fields=["token"],
            )
        if self.lost is not None:
            self.lost.delete()


def look(account: AccountRef) -> Generator[Looked]:
    """Book by book, many changes in several steps. Keep each before going on. Raises
    ProviderError."""
    own = Books(account)
    marks = {one.path: one for one in AddressBook.objects.filter(account_id=account.id)}
    for book in own.own():
        mark = marks.pop(book.path, None)
        token = mark.token if mark else ""
        if not book.token or token != book.token:
            yield from _look(own, book, token)
    for mark in marks.values():
        yield Looked(gone=tuple(_cards(account, mark.path).values()), lost=mark)


def _look(own: Books, book: Book, token: str) -> Generator[Looked]:
    known = _cards(own.account, book.path)
    news = collections.reported(own.session, url=book.url, path=book.path, token=token)
    if news is None:
        present = own.etags(book)
        news = collections.News(changed=present, gone=set(known) - set(present), token=book.token)
    changed = [
        path for path, etag in news.changed.items() if path not in known or known[path].etag != etag
    ]
    for start in range(0, len(changed), READ_AT_ONCE):
        step = changed[start : start + READ_AT_ONCE]
        found = own.fetch(book, step)
        news.gone |= set(step) - {one.path for one in found}
        yield Looked(cards=tuple(found))
    gone = tuple(known[path] for path in sorted(news.gone) if path in known)
    mark = AddressBook(account_id=own.account.id, path=book.path, token=news.token)
    yield Looked(gone=gone, mark=mark)


def _cards(account: AccountRef, path: str) -> dict[str, ContactCard]:
    rows = ContactCard.objects.filter(account_id=account.id, path__startswith=path)
    return {row.path: row for row in rows}
