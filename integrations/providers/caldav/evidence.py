"""What became of a write to a calendar: by Remit's own record of it, and by whose mark the event
carries now."""

from urllib.parse import urljoin

from integrations.contracts import AccountRef
from integrations.exceptions import NotFound
from integrations.models import CalendarWrite
from integrations.ports.evidence import Evidence
from integrations.providers.caldav import events
from integrations.providers.calendars import writing
from integrations.providers.dav.session import session_of


def find(account: AccountRef, key: str) -> Evidence:
    """Raises ProviderError where the server has to be asked and is away."""

    def look(row: CalendarWrite) -> Evidence:
        session, sign_in = session_of(account)
        try:
            etag, raw = session.get(urljoin(sign_in.servers["home"], row.path))
        except NotFound:
            return writing.judge_missing(row)
        return writing.judge(row, mark=events.mark_of(raw), etag=etag)

    return writing.find_evidence(account, key, look)
