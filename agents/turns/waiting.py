"""Turns that the process of their request may not work through: those of people with accounts whose
secrets it cannot open. The runner takes them, and their end is waited for."""

import time
from uuid import UUID

from agents.models import Turn
from integrations.accounts import reads
from integrations.database.pools import release_connections
from integrations.models import Account

LOOK_SECONDS = 0.2
UNFINISHED = (Turn.State.QUEUED, Turn.State.RUNNING)
LONGEST_SECONDS = 300.0  # then the turn is given as it stands, and can be asked for


def may_run_here(organisation_id: UUID, external_user_id: str) -> bool:
    """Whether this process can ask the providers of all the user's accounts."""
    rows = Account.objects.select_related("organisation").filter(
        organisation_id=organisation_id, external_user_id=external_user_id
    )
    return all(reads.can_be_asked_here(row.ref()) for row in rows)


def await_end(turn_id: UUID) -> None:
    """Until the turn is finished, holding no connection of the database meanwhile."""
    until = time.monotonic() + LONGEST_SECONDS
    while time.monotonic() < until:
        if not Turn.objects.filter(id=turn_id, state__in=UNFINISHED).exists():
            return
        release_connections()
        time.sleep(LOOK_SECONDS)
