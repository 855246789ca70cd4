"""What Request Tracker lists: queues, what befell a ticket, and what was written then."""

from collections.abc import Iterator

from integrations.network.answers import parse
from integrations.network.outgoing import segment
from integrations.providers.request_tracker.session import RtSession
from integrations.providers.request_tracker.tickets import (
    Attachment,
    Queue,
    RawQueue,
    Transaction,
    check_queue,
    check_ticket,
)

MAX_PARTS = 10  # of one text, with what is attached to it


def queues(session: RtSession) -> dict[str, str]:
    """The names of those that count, by their ids."""
    found = (parse(Queue, one) for one in session.listed("/queues/all", fields="Name,Disabled"))
    return {
        one.id: one.Name for one in found if one.Disabled != "1" and session.server.counts(one.Name)
    }


def queue_of(session: RtSession, name: str) -> RawQueue:
    """Raises NotFound."""
    return parse(RawQueue, session.get(f"/queue/{segment(check_queue(name))}"))


def transactions(session: RtSession, key: str) -> Iterator[Transaction]:
    """What befell a ticket, oldest first."""
    path = f"/ticket/{check_ticket(key)}/history"
    found = session.listed(path, fields="Type,Creator,Created,_hyperlinks")
    return (parse(Transaction, one) for one in found)


def text(session: RtSession, row: Transaction) -> Attachment | None:
    """What was written with it; None: nothing that is text."""
    for id in row.attachments[:MAX_PARTS]:
        found = parse(Attachment, session.get(f"/attachment/{id}"))
        if found.is_text:
            return found
    return None
