"""What reading is like at every tracker."""

from abc import ABC, abstractmethod
from datetime import datetime
from typing import IO

from integrations.contracts import AccountRef, AnyItem, Change, Issue, Page
from integrations.contracts.people import Correspondence, Correspondent
from integrations.exceptions import NotFound
from integrations.models import IssueWrite
from integrations.ports.evidence import Evidence
from integrations.providers.trackers import writing
from integrations.providers.trackers.session import TrackerSession


class TrackerReader(ABC):
    """What `integrations.ports.issues.IssuesReader` asks, as far as no tracker differs: it has no
    mail, no history that Remit reads, and no files."""

    def __init__(self, account: AccountRef) -> None:
        self._account = account

    @property
    @abstractmethod
    def session(self) -> TrackerSession: ...
    @abstractmethod
    def items(self, *, since: datetime | None, cursor: str | None, limit: int) -> Page[AnyItem]: ...
    @abstractmethod
    def issue(self, key: str) -> Issue: ...
    @abstractmethod
    def find(self, row: IssueWrite) -> Evidence:
        """What became of a write that was sent."""

    def items_in_window(self, *, since: datetime, cursor: str | None, limit: int) -> Page[AnyItem]:
        return self.items(since=since, cursor=cursor, limit=limit)

    def item(self, item_id: str) -> AnyItem:
        return self.issue(item_id)

    def evidence(self, key: str) -> Evidence:
        return writing.find_evidence(self._account, key, self.find)

    def correspondence(self, address: str) -> Correspondence:
        return Correspondence(address=address, received=0, sent=0)

    def correspondents(self, *, limit: int) -> tuple[Correspondent, ...]:
        return ()

    def file(self, file_id: str, *, into: IO[bytes], most_bytes: int) -> None:
        raise NotFound("Remit reads no files of issues")

    def history(self, *, since: datetime, cursor: str | None, limit: int) -> Page[Change]:
        raise NotFound("Remit reads no history of issues at a tracker")
