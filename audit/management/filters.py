"""The filters that the commands which export share."""

from argparse import ArgumentTypeError
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError, CommandParser

from audit.contracts import Filters
from audit.ledger import selectors


def moment(text: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise ArgumentTypeError(
            f"“{text}” is not a time. Write 2026-11-20 or 2026-11-20T14:30:00+01:00."
        ) from error
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def add_tenant(parser: CommandParser) -> None:
    parser.add_argument("--tenant", type=UUID, help="Needed when the ledger has several.")


def choose_tenant(options: dict[str, Any]) -> UUID:
    """The organisation of a command line. Raises CommandError while it is not clear."""
    tenant_id: UUID | None = options["tenant"] or selectors.only_tenant()
    if tenant_id is None:
        raise CommandError(
            "The ledger is empty or has several organisations. Name one with --tenant and its id."
        )
    return tenant_id


def add_arguments(parser: CommandParser) -> None:
    add_tenant(parser)
    parser.add_argument("--account", type=UUID)
    parser.add_argument("--action-type", default="")
    parser.add_argument("--status", default="", help="As of the latest phase.")
    parser.add_argument("--run", default="", help="The id of a turn.")
    parser.add_argument("--user", default="", help="Actions on behalf of this user.")
    parser.add_argument(
        "--since", type=moment, help="Actions asked for at or after this time; UTC without a zone."
    )
    parser.add_argument("--until", type=moment, help="Actions asked for before this time.")


def chosen(options: dict[str, Any]) -> Filters:
    """The filters of a command line. Raises CommandError while the organisation is not
    clear, and for a period that ends before it begins."""
    tenant_id = choose_tenant(options)
    since, until = options["since"], options["until"]
    if since and until and until <= since:
        raise CommandError("--until must be after --since.")
    return Filters(
        tenant_id=tenant_id,
        account_id=options["account"],
        action_type=options["action_type"],
        status=options["status"],
        run_id=options["run"],
        on_behalf_of=frozenset(filter(None, [options["user"]])),
        since=since,
        until=until,
    )
