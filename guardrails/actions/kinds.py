"""What actions on accounts of one kind have in common: what writes for them. Pure."""

from guardrails.actions.base import A, Action
from integrations.ports.calendar import CalendarWriter
from integrations.ports.files import FilesWriter
from integrations.ports.issues import IssuesWriter
from integrations.ports.mail import MailWriter
from integrations.ports.tools import ToolsWriter


class MailAction(Action[A, MailWriter]):
    kind = "mail"


class FilesAction(Action[A, FilesWriter]):
    kind = "files"


class CalendarAction(Action[A, CalendarWriter]):
    kind = "calendar"


class IssuesAction(Action[A, IssuesWriter]):
    kind = "issues"


class ToolsAction(Action[A, ToolsWriter]):
    kind = "tools"
