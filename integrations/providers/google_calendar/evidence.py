"""What became of a write to a calendar at Google: by Remit's own record of it, and by whose mark
the event carries now. One that was deleted can be read for a while yet."""

from integrations.contracts import AccountRef
from integrations.exceptions import NotFound
from integrations.models import CalendarWrite
from integrations.ports.evidence import CannotTell, Evidence
from integrations.providers.calendars import writing
from integrations.providers.calendars.ids import planned_in
from integrations.providers.google_calendar.calendars import Calendars
from integrations.providers.google_calendar.events import mark_of


def find(account: AccountRef, key: str) -> Evidence:
    """Raises ProviderError where Google has to be asked and is away."""

    def look(row: CalendarWrite) -> Evidence:
        try:
            _, said = Calendars(account).at(row.path, planned_in(row.event_id))
        except NotFound:
            return writing.judge_missing(row)
        if said.is_gone and row.operation == "cancel_event":
            return writing.judge_missing(row)
        if said.is_gone and mark_of(said) != key:
            # Done or not: somebody has deleted it since, and its mark with it.
            return CannotTell(ask_again_at=None)
        return writing.judge(row, mark=mark_of(said), etag=said.etag)

    return writing.find_evidence(account, key, look)
