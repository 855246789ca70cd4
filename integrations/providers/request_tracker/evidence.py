"""What became of a write to Request Tracker: by the invisible mark in what the account's own user
wrote, or by what the ticket is now."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from integrations.exceptions import NotFound
from integrations.models import IssueWrite
from integrations.network.answers import parse
from integrations.ports.evidence import CannotTell, Evidence, NotPerformed, Performed
from integrations.providers.request_tracker.tickets import (
    CREATED,
    Listed,
    Transaction,
    check_queue,
    marks,
    moment,
)
from integrations.providers.trackers import writing

if TYPE_CHECKING:
    from integrations.providers.request_tracker.reader import RtReader

SKEW = timedelta(minutes=5)  # of the two clocks


def find(reader: RtReader, row: IssueWrite) -> Evidence:
    """Raises ProviderError."""
    try:
        if row.operation == "create_issue":
            return _created(reader, row)
        if row.operation == "comment_issue":
            return _commented(reader, row)
        return writing.judge_change(row, reader.issue(row.issue_key))
    except NotFound:
        return CannotTell(ask_again_at=None)  # its queue or ticket is gone


def answer_of(base: str, key: str) -> dict[str, Any]:
    return {"id": key, "key": key, "url": f"{base}/Ticket/Display.html?id={key}"}


def _created(reader: RtReader, row: IssueWrite) -> Evidence:
    since = moment(row.begun_at - SKEW)
    query = f"Queue = '{check_queue(row.project)}' AND Creator = '__CurrentUser__'"
    params = {"query": f"{query} AND Created > '{since}'", "fields": "LastUpdated,Queue"}
    for one in reader.session.listed("/tickets", **params, orderby="id", order="ASC"):
        key = parse(Listed, one).id
        for found in reader.transactions(key):
            if found.Type == CREATED and _has_mark(reader, found, row.key):
                answer = answer_of(reader.session.server.base, key)
                return Performed(response=answer, at=found.Created)
    return NotPerformed(proof="RT lists no ticket of this user's with the mark of this write.")


def _commented(reader: RtReader, row: IssueWrite) -> Evidence:
    for found in reader.transactions(row.issue_key):
        is_own = found.Type == "Comment" and found.Creator.id == reader.session.server.me
        if is_own and found.Created >= row.begun_at - SKEW and _has_mark(reader, found, row.key):
            return Performed(response={"id": found.id}, at=found.Created)
    return NotPerformed(proof="The ticket has no comment of this user's with the mark of this one.")


def _has_mark(reader: RtReader, found: Transaction, key: str) -> bool:
    text = reader.text(found)
    return text is not None and key in marks(text.source)
