"""Open a reader of one account's data."""

from integrations.contracts import AccountRef
from integrations.data_service import DataServiceReader
from integrations.ports import Reader


def reader(account: AccountRef) -> Reader:
    """A reader of what this account's user may see, and of nobody else's data."""
    return DataServiceReader(account)
