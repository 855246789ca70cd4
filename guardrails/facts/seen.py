"""What an object was when an action on it was decided, to see later whether it still is. Pure.

Its revision would not do: it also grows when an attendee accepts or somebody reads a mail.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from guardrails.facts.content import digest_of
from guardrails.facts.facts import Facts
from integrations.contracts import Document, Email, Event, Issue
from integrations.contracts.outgoing import Draft

LONGEST = 200  # characters of a value that are kept beside its digest
NOTHING = "(nothing)"
HELD = "(while it was held)"


class Seen(NamedTuple):
    """One part of what others get to see or are asked by an action: a name, a text, a time, who
    reads it. `text` is for people: the value cut, of a text its length alone."""

    part: str
    text: str
    digest: str


def look(facts: Facts | None) -> tuple[Seen, ...]:
    """The object of these facts and the documents that go along with it, part by part. Empty: the
    action has no object."""
    if facts is None:
        return ()
    along = [
        one._replace(part=f"file {number}, {one.part}")
        for number, file in enumerate(facts.attached, start=1)
        for one in look(file)
    ]
    return (*_parts(facts), *along)


def changes(then: Iterable[Sequence[str]], now: Iterable[Seen]) -> tuple[tuple[str, str, str], ...]:
    """What is no longer as it was seen: which part, as what it was seen, and what it is. `then`
    may come from a row."""
    before = {one.part: one for one in (Seen(*row) for row in then)}
    after = {one.part: one for one in now}
    found = []
    for part in dict.fromkeys((*before, *after)):
        old, new = before.get(part), after.get(part)
        if old and new and old.digest == new.digest:
            continue
        was, is_now = old.text if old else NOTHING, new.text if new else NOTHING
        found.append((f"{part} {HELD}", was, is_now if is_now != was else f"{is_now}, but others"))
    return tuple(found)


def _parts(facts: Facts) -> Iterator[Seen]:
    if facts.email:
        yield from _mail(facts.email)
    if facts.document:
        yield from _document(facts.document)
        yield _value("readers", facts.document_readers or ())
    if facts.event:
        yield from _event(facts.event)
        yield _value("people", facts.event_people or ())
    if facts.issue:
        yield from _issue(facts.issue)
    if facts.draft:
        yield from _draft(facts.draft)
    if facts.tool:
        yield Seen("tool", facts.tool.id, facts.tool.fingerprint)


def _mail(mail: Email) -> Iterator[Seen]:
    yield _value("sender", mail.sender)
    yield _value("subject", mail.subject)
    yield _text(mail.body_text, mail.body_html or "")
    yield _value("files", [f"{one.name} ({one.size} bytes)" for one in mail.attachments])


def _document(document: Document) -> Iterator[Seen]:
    yield _value("name", document.name)
    yield _text(document.content_text, document.file_id or "")
    yield _value("owner", document.owner)


def _event(event: Event) -> Iterator[Seen]:
    yield _value("title", event.title)
    yield _text(event.description)
    yield _value("time", f"{event.start.isoformat()} to {event.end.isoformat()}")
    yield _value("repeats", event.recurrence or "")
    yield _value("place", event.location or "")
    yield _value("status", event.status)


def _issue(issue: Issue) -> Iterator[Seen]:
    yield _value("summary", issue.summary)
    yield _text(issue.description or "")
    yield _value("project", issue.project_key)
    yield _value("status", issue.status)
    yield _value("priority", issue.priority or "")
    yield _value("assignee", issue.assignee or "")
    yield _value("due date", issue.due_date.isoformat() if issue.due_date else "")


def _draft(draft: Draft) -> Iterator[Seen]:
    yield _value("receivers", (*draft.to, *draft.cc, *draft.bcc))
    yield _value("subject", draft.subject)
    yield _text(draft.body)


def _value(part: str, value: str | Sequence[str]) -> Seen:
    parts = [value] if isinstance(value, str) else list(value)
    return Seen(part, ", ".join(parts)[:LONGEST] or NOTHING, digest_of(parts))


def _text(*texts: str) -> Seen:
    return Seen("text", f"{sum(map(len, texts))} characters", digest_of(texts))
