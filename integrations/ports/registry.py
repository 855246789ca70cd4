"""Every provider Remit has, and the sources they serve. Values alone, so that models can choose
among them: what reads and writes there is opened in `integrations.accounts`."""

from datetime import timedelta
from functools import partial
from typing import Annotated

from pydantic import AfterValidator, WithJsonSchema

from integrations.contracts import (
    ChatMessage,
    Document,
    Email,
    Event,
    Issue,
    Kind,
    Source,
)
from integrations.ports.evidence import Capabilities
from integrations.ports.provider import Connector, Provider

_read = partial(Connector, is_synced=True, capabilities=Capabilities(history=True), news="pushed")
_written = partial(
    Connector,
    is_synced=True,
    is_writable=True,
    capabilities=Capabilities(grade="A", conditional_write=True, history=True, repeat="by_key"),
    news="pushed",
)

# The contract of the External Data Service has no calls that write to Outlook, GitHub or Slack.
DATA_SERVICE = Provider(
    name="data_service",
    label="Data service",
    connectors=(
        _written(
            source="gmail",
            kind="mail",
            label="Gmail",
            content_type="email",
            item_type=Email,
            window=timedelta(days=30),
            starts_turns=True,
        ),
        _written(
            source="gdrive",
            kind="files",
            label="Google Drive",
            content_type="document",
            item_type=Document,
            window=timedelta(days=183),
            starts_turns=True,
        ),
        _written(
            source="calendar",
            kind="calendar",
            label="Google Calendar",
            content_type="event",
            item_type=Event,
            window=timedelta(days=30),
            starts_turns=True,
        ),
        _written(
            source="jira",
            kind="issues",
            label="Jira",
            content_type="issue",
            item_type=Issue,
            window=timedelta(days=92),
            starts_turns=True,
        ),
        _read(
            source="outlook",
            kind="mail",
            label="Outlook",
            content_type="email",
            item_type=Email,
            window=timedelta(days=30),
        ),
        _read(
            source="github",
            kind="issues",
            label="GitHub",
            content_type="issue",
            item_type=Issue,
            window=timedelta(days=92),
        ),
        _read(
            source="slack",
            kind="messages",
            label="Slack",
            content_type="message",
            item_type=ChatMessage,
            window=timedelta(days=30),
        ),
    ),
)
# A mailbox of somebody's own. A mail server keeps no keys: what became of a write is known by
# Remit's own record and by looking again; changes of a mail do no harm twice, sending does.
IMAP = Provider(
    name="imap",
    label="Mail server",
    connectors=(
        Connector(
            source="imap",
            kind="mail",
            label="Mailbox",
            content_type="email",
            item_type=Email,
            window=timedelta(days=30),
            is_synced=True,
            is_writable=True,
            is_watched=True,
            capabilities=Capabilities(
                grade="B",
                repeat="by_key",
                repeats={"send_email": "never", "forward_email": "never"},
            ),
            starts_turns=True,
            news="listened",
        ),
    ),
)
# The same over JMAP. Its server refuses what was decided on another state of the mailbox, and that
# holds for mail that goes out, too.
JMAP = Provider(
    name="jmap",
    label="Mail server (JMAP)",
    connectors=(
        Connector(
            source="jmap",
            kind="mail",
            label="Mailbox (JMAP)",
            content_type="email",
            item_type=Email,
            window=timedelta(days=30),
            is_synced=True,
            is_writable=True,
            is_watched=True,
            capabilities=Capabilities(
                grade="B",
                conditional_write=True,
                repeat="by_key",
                repeats={"send_email": "never", "forward_email": "never"},
            ),
            starts_turns=True,
            news="listened",
        ),
    ),
)
# The same at Gmail, over its own API: it refuses no write for a version, and sends each draft once.
GOOGLE_MAIL = Provider(
    name="google_mail",
    label="Gmail",
    connectors=(
        Connector(
            source="google_mail",
            kind="mail",
            label="Mailbox (Gmail)",
            content_type="email",
            item_type=Email,
            window=timedelta(days=30),
            is_synced=True,
            is_writable=True,
            is_watched=True,
            capabilities=Capabilities(
                grade="B",
                repeat="by_key",
                repeats={"send_email": "never", "forward_email": "never", "create_draft": "never"},
            ),
            starts_turns=True,
        ),
    ),
)
# The same at Microsoft, over Graph. Its documents do not say that it refuses a change of another
# version; Remit asks for that all the same.
MICROSOFT_MAIL = Provider(
    name="microsoft_mail",
    label="Microsoft 365",
    connectors=(
        Connector(
            source="microsoft_mail",
            kind="mail",
            label="Mailbox (Microsoft)",
            content_type="email",
            item_type=Email,
            window=timedelta(days=30),
            is_synced=True,
            is_writable=True,
            is_watched=True,
            capabilities=Capabilities(
                grade="B",
                repeat="by_key",
                repeats={"send_email": "never", "forward_email": "never", "create_draft": "never"},
            ),
            starts_turns=True,
            news="pushed",
            subscribes=True,
        ),
    ),
)
# A calendar of somebody's own. Its server creates under a name once and changes only the version
# that was looked at, so a repeat does no harm; which write made an event stands in the event.
CALDAV = Provider(
    name="caldav",
    label="Calendar server",
    connectors=(
        Connector(
            source="caldav",
            kind="calendar",
            label="Calendar",
            content_type="event",
            item_type=Event,
            window=timedelta(days=30),
            is_synced=True,
            is_writable=True,
            is_watched=True,
            capabilities=Capabilities(
                grade="A",
                conditional_write=True,
                repeat="by_precondition",
                repeats={"create_event": "by_key"},
            ),
            starts_turns=True,
        ),
    ),
)
# The same at Google, over its own API.
GOOGLE_CALENDAR = Provider(
    name="google_calendar",
    label="Google Calendar",
    connectors=(
        Connector(
            source="google_calendar",
            kind="calendar",
            label="Calendar (Google)",
            content_type="event",
            item_type=Event,
            window=timedelta(days=30),
            is_synced=True,
            is_writable=True,
            is_watched=True,
            capabilities=Capabilities(
                grade="A",
                conditional_write=True,
                repeat="by_precondition",
                repeats={"create_event": "by_key"},
            ),
            starts_turns=True,
        ),
    ),
)
# The same at Microsoft, over Graph. Its documents say that it creates once under the id of a
# transaction, and not that it refuses a change of another version; Remit asks for that all the
# same.
MICROSOFT_CALENDAR = Provider(
    name="microsoft_calendar",
    label="Microsoft calendar",
    connectors=(
        Connector(
            source="microsoft_calendar",
            kind="calendar",
            label="Calendar (Microsoft)",
            content_type="event",
            item_type=Event,
            window=timedelta(days=30),
            is_synced=True,
            is_writable=True,
            is_watched=True,
            capabilities=Capabilities(
                grade="B",
                repeat="by_key",
                repeats={"answer_event": "never"},
            ),
            starts_turns=True,
            news="pushed",
            subscribes=True,
        ),
    ),
)
# Whom somebody knows, by their own address books. Nothing of them is searched, and nothing that
# happens there sets anything off: see `integrations.accounts.contacts`.
CARDDAV = Provider(
    name="carddav",
    label="Contacts server",
    connectors=(
        Connector(
            source="carddav",
            kind="contacts",
            label="Contacts",
            content_type="document",
            item_type=Document,
            window=timedelta(0),
            is_watched=True,
        ),
    ),
)
# Files of somebody's own. Their server takes a new file under its name once and changes only the
# version that was looked at; a move that was made cannot be made again.
WEBDAV = Provider(
    name="webdav",
    label="File server",
    connectors=(
        Connector(
            source="webdav",
            kind="files",
            label="Files",
            content_type="document",
            item_type=Document,
            window=timedelta(days=183),
            is_synced=True,
            is_writable=True,
            is_watched=True,
            capabilities=Capabilities(
                grade="B",
                conditional_write=True,
                repeat="by_precondition",
                repeats={"create_document": "by_key"},
            ),
            starts_turns=True,
        ),
    ),
)
# The same at Google, which takes the id of a new file once, and refuses no write for a version.
GOOGLE_DRIVE = Provider(
    name="google_drive",
    label="Google Drive",
    connectors=(
        Connector(
            source="google_drive",
            kind="files",
            label="Files (Google Drive)",
            content_type="document",
            item_type=Document,
            window=timedelta(days=183),
            is_synced=True,
            is_writable=True,
            is_watched=True,
            capabilities=Capabilities(grade="B", repeat="by_key"),
            starts_turns=True,
        ),
    ),
)
# The same at Microsoft, over Graph. It takes a new file under its name once, and its documents say
# that it moves and throws away the version alone that was looked at; of added text they do not.
MICROSOFT_FILES = Provider(
    name="microsoft_files",
    label="OneDrive",
    connectors=(
        Connector(
            source="microsoft_files",
            kind="files",
            label="Files (OneDrive)",
            content_type="document",
            item_type=Document,
            window=timedelta(days=183),
            is_synced=True,
            is_writable=True,
            is_watched=True,
            capabilities=Capabilities(
                grade="B",
                repeat="by_precondition",
                repeats={"create_document": "by_key"},
            ),
            starts_turns=True,
            news="pushed",
            subscribes=True,
        ),
    ),
)
# Issues of somebody's own, at a tracker that keeps no keys and holds no write to a version:
# what became of a write is searched for, and nothing is repeated by itself.
_tracker = partial(
    Connector,
    kind="issues",
    content_type="issue",
    item_type=Issue,
    window=timedelta(days=92),
    is_synced=True,
    is_writable=True,
    is_watched=True,
    capabilities=Capabilities(grade="C"),
    starts_turns=True,
    news="pushed",
)
GITHUB = Provider(
    name="github",
    label="GitHub",
    connectors=(_tracker(source="github_issues", label="GitHub issues"),),
)
JIRA = Provider(
    name="jira",
    label="Jira",
    connectors=(_tracker(source="jira_issues", label="Jira issues"),),
)
# It refuses a write to another version itself, and keeps no keys either. Its scrips run a program
# of the administrator's: there is no webhook to set up.
REQUEST_TRACKER = Provider(
    name="request_tracker",
    label="Request Tracker",
    connectors=(
        _tracker(
            source="rt_tickets",
            label="Request Tracker",
            capabilities=Capabilities(grade="C", conditional_write=True),
            news="looked",
        ),
    ),
)
# What `manage.py import_mailbox` and `manage.py import_calendar` bring in. Nobody can be asked
# about it again.
IMPORTS = Provider(
    name="imports",
    label="Import",
    connectors=(
        Connector(
            source="mailbox",
            kind="mail",
            label="Imported mail",
            content_type="email",
            item_type=Email,
            window=timedelta(days=30),
        ),
        Connector(
            source="calendar_file",
            kind="calendar",
            label="Imported calendar",
            content_type="event",
            item_type=Event,
            window=timedelta(days=400),
        ),
    ),
)
# Tools are called, and nothing of them is kept to be searched.
MCP = Provider(
    name="mcp",
    label="MCP servers",
    connectors=(
        Connector(
            source="mcp",
            kind="tools",
            label="MCP servers",
            content_type="document",
            item_type=Document,
            window=timedelta(0),
            is_writable=True,
        ),
    ),
)

PROVIDERS: tuple[Provider, ...] = (
    DATA_SERVICE,
    IMAP,
    JMAP,
    GOOGLE_MAIL,
    MICROSOFT_MAIL,
    CALDAV,
    GOOGLE_CALENDAR,
    MICROSOFT_CALENDAR,
    CARDDAV,
    WEBDAV,
    GOOGLE_DRIVE,
    MICROSOFT_FILES,
    GITHUB,
    JIRA,
    REQUEST_TRACKER,
    IMPORTS,
    MCP,
)
BY_SOURCE: dict[str, Connector] = {
    one.source: one for provider in PROVIDERS for one in provider.connectors
}
PROVIDER_OF: dict[str, Provider] = {
    one.source: provider for provider in PROVIDERS for one in provider.connectors
}
# Those that a sync reads, and those of them for which one is begun from time to time.
SYNCED = tuple(one.source for one in BY_SOURCE.values() if one.is_synced)
SYNCED_AGAIN = tuple(one for one in SYNCED if not BY_SOURCE[one].is_watched)


def source_choices() -> list[tuple[str, str]]:
    return [(one.source, one.label) for one in BY_SOURCE.values()]


def writable(kind: Kind) -> tuple[Source, ...]:
    """The sources where actions of this kind can be carried out."""
    return tuple(one.source for one in BY_SOURCE.values() if one.kind == kind and one.is_writable)


def _check(source: str) -> str:
    if source not in BY_SOURCE:
        raise ValueError(f"one of {', '.join(BY_SOURCE)}")
    return source


# For what strangers and models name.
KnownSource = Annotated[
    Source, AfterValidator(_check), WithJsonSchema({"type": "string", "enum": list(BY_SOURCE)})
]
