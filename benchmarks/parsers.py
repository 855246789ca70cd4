"""Everything that reads what strangers wrote, by name: each takes a text. Needs Django set up.

`LIMITS` says for some how long a text gets there at most, in characters: what an entrance refuses
or leaves out is no text of theirs.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from zoneinfo import ZoneInfo

from agents.answer import citations, deeds, links as answer_links
from agents.context import results
from guardrails.facts import (
    addressing,
    alerts,
    draft_text,
    links,
    people,
    sensitive,
    subjects,
    targets,
    text,
)
from guardrails.policies import directory_file, text as policy_text
from guardrails.words import (
    event_titles,
    issue_queries,
    issue_titles,
    names,
    own,
    queries,
    removal,
    roles,
    series,
    times,
    typed,
    values,
)
from integrations.contracts import Email, Event, Issue
from integrations.imports import calendar_files, imap_text
from integrations.llm import chat_answers, json_protocol, thoughts
from integrations.llm.completions import Completion, Usage
from integrations.mail import (
    addresses,
    files,
    headers,
    html,
    mail as mails,
    mime,
    text as mail_text,
)
from integrations.network import strict_json
from integrations.providers.mcp import contracts as mcp
from knowledge.files import plain
from knowledge.ingest import chunking
from knowledge.text import (
    highlights,
    languages,
    lexemes,
    parsing,
    quotes,
    subjects as text_subjects,
    visible,
)
from knowledge.times import recurrence

ZONE = ZoneInfo("UTC")
AT: dict[str, str] = {"said_at": "2026-03-02T10:00Z", "zone": "UTC"}
NOW = datetime(2026, 3, 2, 10, tzinfo=UTC)
ANN = people.Person(address="ann@a.example", key="ann", names=("Ann Lee", "Ann"))
TIMES_OF_IT = {"id": "1", "start": "2026-03-02T12:00:00Z", "end": "2026-03-02T13:00:00Z"}
TASK = {"id": "1", "key": "P-1", "project_key": "P", "created_at": "2026-03-02T12:00:00Z"}
EVENT = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1\nDTSTART:20260101T000000Z\nSUMMARY:{}\nEND:VEVENT\n"


def calendar(body: str) -> Any:
    return calendar_files.read_events(body.encode("utf-8", "replace"), zone=ZONE)


def alert(fields: dict[str, str]) -> Any:
    at = "2026-01-01T00:00:00Z"
    return alerts.describe(Email.model_validate({"id": "mail-1", "date": at, **fields}))


def event_of(title: str) -> Event:
    return Event.model_validate(TIMES_OF_IT | {"title": title})


def issue_of(title: str) -> Issue:
    return Issue.model_validate(TASK | {"summary": title})


def titled(words: str, title: str) -> Any:
    return event_titles.find_titled(words, [event_of(title)], days=set(), now=NOW, zone="UTC")


def called(words: str, name: str) -> Any:
    return names.mentions(words, [ANN, people.Person(address="x@y.z", key="x", names=(name,))])


def asked(words: str) -> Any:
    return issue_queries.issue_query(words, **AT, people=[ANN], own="maya@a.example")


def series_of(rule: str) -> Any:
    timetable = recurrence.Timetable(
        start=NOW, end=NOW, all_day=False, all_day_zone=ZONE, recurrence=f"RRULE:{rule}"
    )
    return recurrence.occurrences(timetable, since=NOW, until=NOW + timedelta(days=400))


def mail_file(body: str) -> Any:
    with NamedTemporaryFile(suffix=".mbox") as file:
        file.write(body.encode("utf-8", "replace"))
        file.flush()
        return list(files.read_mail(Path(file.name)))


def mail(raw: str) -> Any:
    return mime.read_body(mime.read_message(raw.encode("utf-8", "replace"))[0])


def list_of(value: str) -> Any:
    found = {name: [value] for name in ("list-id", "mailing-list", "list-unsubscribe", "list-post")}
    return headers.list_id(found), headers.list_post(found), headers.first_word(found, "list-id")


def in_pieces(body: str) -> Any:
    """A text that is being written, a few characters at a time."""
    splitter, left = thoughts.Splitter(), ""
    for start in range(0, len(body), 5):
        _, said = splitter.feed(body[start : start + 5])
        _, left = answer_links.split_ready(left + said)
    return splitter.rest(), left


def decision(body: str) -> Any:
    return json_protocol.read(
        Completion(text=body, calls=(), model="m", finish_reason="stop", usage=Usage())
    )


PARSERS: dict[str, Callable[[str], Any]] = {
    "mail quotes": quotes.own_words,
    "mail addresses": addresses.parse_mailboxes,
    "mail ids": headers.message_ids,
    "mail date": headers.parse_date,
    "mail subject": headers.normalised_subject,
    "mail header": mail_text.header_text,
    "mail encoded words": mail_text.decode_words,
    "mail HTML": html.html_to_text,
    "mail body": lambda body: mail(f"Subject: a\n\n{body}"),
    "mail head": lambda head: mail(f"Subject: {head}\n\na"),
    "mail parts": lambda body: mail(
        f'Content-Type: multipart/mixed; boundary="{body[:60]}"\n\n{body}'
    ),
    "mail part's type": lambda kind: mail(f"Content-Type: text/plain; {kind}\n\na"),
    "mail part's name": lambda name: mail(f"Content-Disposition: attachment; filename={name}\n\na"),
    "mail list": list_of,
    "calendar file": calendar,
    "calendar text": lambda body: calendar(EVENT.format(body)),
    "calendar events": lambda body: calendar(f"BEGIN:VCALENDAR\n{body}"),
    "plain file": lambda body: list(plain.read(BytesIO(body.encode("utf-8", "replace")))),
    "HTML file": lambda body: list(plain.read_html(BytesIO(body.encode("utf-8", "replace")))),
    "chunks": chunking.spans,
    "words": lambda body: list(lexemes.words(body)),
    "terms": lexemes.terms,
    "language": languages.language_of,
    "visible text": visible.visible,
    "typed words": own.own_words,
    "typed value": lambda body: typed.typed("a", body),
    "address typed": lambda body: typed.typed("ann@a.example", typed.with_small_domains(body)),
    "event's title": lambda body: titled("Move the lunch", body),
    "words of an event's title": lambda body: titled(body, "lunch with Ann"),
    "issue's title": lambda body: issue_titles.called("Close the log-in issue", [issue_of(body)]),
    "words of an issue's title": lambda body: issue_titles.called(body, [issue_of("log-in")]),
    "somebody's name": lambda body: called("Send it to Ann", body),
    "names in words": lambda body: called(body, "Bob"),
    "name in the directory": people.check_name,
    "issues asked for": asked,
    "events asked for": lambda body: queries.event_query(body, **AT, people=[ANN]),
    "mails asked for": lambda body: queries.mail_query(body, **AT, people=[ANN]),
    "numbers said": lambda body: values.number_said("7", body),
    "roles said": lambda body: roles.says_role("writer", body),
    "series said": series.says_series,
    "removal said": removal.says_removal,
    "address": targets.address,
    "addresses in other words": addressing.check,
    "draft that was sent": lambda body: draft_text.nearness("a word", body),
    "rules of a series": series_of,
    "mail file": mail_file,
    "directory file": lambda body: directory_file.parse(f"address,name\n{body}"),
    "policy file": policy_text.read,
    "IMAP time": lambda body: imap_text.arrived(body.encode("utf-8", "replace")),
    "IMAP folder": imap_text.folder_name,
    "JSON": strict_json.load,
    "text of an MCP server": mcp.storable,
    "stored text": text.storable,
    "identifier": text.identifier,
    "fence": results.fence,
    "links of an answer": answer_links.deaden,
    "highlights": lambda body: highlights.snippet(body, "", lexemes.terms("a word")),
    "words of a subject": text_subjects.words,
    "whole mail": lambda body: parsing.parse(
        Email.model_validate({"id": "1", "date": "2026-03-02T10:00Z", "body_text": body}),
        source_id="1",
    ),
    "times said": lambda body: times.read(body, said_at="2026-03-02T10:00Z", zone="UTC"),
    "subject of a pattern": subjects.generalised,
    "hosts": links.hosts,
    "links": links.unveiled,
    "sensitive": sensitive.found,
    "shown text": text.visible,
    "alert": lambda body: alert({"subject": body}),
    "alert text": lambda body: alert({"body_text": body}),
    "alert HTML": lambda body: alert({"body_html": body}),
    "claims": deeds.find_claims,
    "denials": deeds.find_denials,
    "citations": lambda body: citations.bind_citations(body, {}),
    "thoughts": thoughts.split,
    "answer in pieces": in_pieces,
    "decision in JSON": decision,
}
LIMITS = {
    **dict.fromkeys(
        ("mail addresses", "mail ids", "mail date", "mail header", "mail list", "mail subject"),
        mails.MAX_HEADER_CHARS,
    ),
    "mail encoded words": mails.MAX_HEADER_CHARS,
    **dict.fromkeys(
        (
            *("typed value", "address typed", "words of an event's title"),
            *("words of an issue's title", "names in words", "issues asked for"),
            *("events asked for", "mails asked for", "numbers said", "roles said"),
            *("series said", "removal said", "times said"),
        ),
        own.MOST_CHARS,
    ),
    **dict.fromkeys(
        (
            *("claims", "denials", "citations", "links of an answer"),
            *("thoughts", "answer in pieces", "decision in JSON"),
        ),
        chat_answers.MOST_CHARS,
    ),
    "typed words": own.MOST_TEXT_CHARS,
    "name in the directory": directory_file.MOST_CELL_CHARS,
    "directory file": directory_file.MOST_BYTES,
    "policy file": policy_text.MAX_CHARS,
}
