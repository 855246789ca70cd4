"""The row of an item that comes again, as every mail asks for it."""

from integrations.contracts import AccountRef
from integrations.database import instances
from knowledge.models import Item

_LONG = ("search", "text")
# Composed by Django, it took several times as long.
_STORED = f"""
SELECT {instances.columns(Item, but=_LONG)} FROM knowledge_item
WHERE account_id = %s AND source = %s AND source_id = %s
"""  # noqa: S608  # only constants


def find_stored(account: AccountRef, source_id: str) -> Item | None:
    """The account's item with this id at its provider, also one that was deleted. Its text and its
    words are read where somebody asks for them. One query."""
    found = instances.load(Item, _STORED, [account.id, account.source, source_id], but=_LONG)
    return found[0] if found else None
