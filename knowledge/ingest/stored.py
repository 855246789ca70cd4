"""What is known of an item that comes, before anything is done about it."""

from typing import NamedTuple

from integrations.contracts import AccountRef
from integrations.database import instances
from integrations.database.together import Read, run_together
from integrations.llm import metering
from knowledge.ingest import embedding_models, enrichment
from knowledge.models import Item

_LONG = ("search", "text")
# Composed by Django, it took several times as long.
_STORED = f"""
SELECT {instances.columns(Item, but=_LONG)} FROM knowledge_item
WHERE account_id = %s AND source = %s AND source_id = %s
"""  # noqa: S608  # only constants


class Start(NamedTuple):
    """Its row, if it has one, and what models are asked under where it is new."""

    stored: Read[Item | None]
    budgets: Read[list[metering.Budget]]
    models: Read[tuple[str, ...]]


def prepare_start(account: AccountRef, source_id: str) -> Start:
    """All of it, to be read together."""
    return Start(
        read_stored(account, source_id),
        metering.read_budgets(enrichment.build_payer(account)),
        embedding_models.read_written_models(),
    )


def read_start(account: AccountRef, source_id: str) -> Start:
    """The same, read in one transaction."""
    start = prepare_start(account, source_id)
    run_together(*start)
    return start


def find_stored(account: AccountRef, source_id: str) -> Item | None:
    """The account's item with this id at its provider, also one that was deleted. Its text and its
    words are read where somebody asks for them. One query."""
    return read_stored(account, source_id).run()


def read_stored(account: AccountRef, source_id: str) -> Read[Item | None]:
    """The same, to be run with others."""
    values = [account.id, account.source, source_id]
    read = instances.read(Item, _STORED, values, but=_LONG)
    return read.then(lambda found: found[0] if found else None)
