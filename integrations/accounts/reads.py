"""Opening a reader of one account's data at its provider."""

from collections.abc import Callable
from importlib import import_module

from django.conf import settings

from integrations.contracts import AccountRef
from integrations.exceptions import Rejected
from integrations.ports.account import Reader
from integrations.ports.mail import MailReader
from integrations.ports.registry import PROVIDERS
from integrations.providers.data_service.reader import DataServiceReader

READERS: dict[str, Callable[[AccountRef], Reader]] = {
    one.name: import_module(one.module("reader")).open_reader for one in PROVIDERS if one.is_asked
}
# Providers of people's own accounts, called with a secret that is sealed.
SEALED = frozenset(one.name for one in PROVIDERS if one.is_own)


def reader(account: AccountRef) -> Reader:
    """A reader of what this account's user may see, and of nobody else's data. Raises Rejected
    for what was imported: there is nobody to ask."""
    if account.provider not in READERS:
        raise Rejected(f"nobody can be asked about {account.source}")
    return READERS[account.provider](account)


def syncing_reader(account: AccountRef) -> Reader:
    """The same for a sync, which reads in no more than what the account's operator lets in: its
    lists leave out the rest where the provider can be asked for that."""
    found = reader(account)
    return found.narrowed() if isinstance(found, DataServiceReader) else found


def can_be_asked_here(account: AccountRef) -> bool:
    """Whether this process may open what the account's provider is called with. The web process
    may not where people's own secrets are sealed."""
    return account.provider not in SEALED or bool(settings.CREDENTIALS_PRIVATE_KEY)


def mail_reader(account: AccountRef) -> MailReader:
    """The same of a mailbox. Raises Rejected for an account that is none."""
    found = reader(account)
    if not isinstance(found, MailReader):
        raise Rejected(f"{account.source} is no mailbox that can be read")
    return found
