"""Rows of `integrations`, split by what they are about."""

from integrations.models.accounts import Account, Organisation, ProviderResource
from integrations.models.calendars import CalendarMark, CalendarPlace, CalendarWrite
from integrations.models.contacts import AddressBook, ContactCard
from integrations.models.credentials import Credential
from integrations.models.deliveries import Delivery, Outage
from integrations.models.files import FilePlace, FileWrite, FolderTree
from integrations.models.kept_answers import KeptAnswer
from integrations.models.mailboxes import MailFolderLink, MailMark, MailPlace, MailState, MailWrite
from integrations.models.mcp import McpCall, McpServer, McpTool
from integrations.models.metering import Budget, ModelCall
from integrations.models.personal import PersonalSettings
from integrations.models.preferences import UserPreferences
from integrations.models.sessions import Session
from integrations.models.shared import SharedEntry
from integrations.models.staff import Membership, SignInIdentity
from integrations.models.subscriptions import Subscription
from integrations.models.tokens import ServiceToken
from integrations.models.trackers import IssueMark, IssueWrite
from integrations.models.upstreams import Upstream

__all__ = [
    "Account",
    "AddressBook",
    "Budget",
    "CalendarMark",
    "CalendarPlace",
    "CalendarWrite",
    "ContactCard",
    "Credential",
    "Delivery",
    "FilePlace",
    "FileWrite",
    "FolderTree",
    "IssueMark",
    "IssueWrite",
    "KeptAnswer",
    "MailFolderLink",
    "MailMark",
    "MailPlace",
    "MailState",
    "MailWrite",
    "McpCall",
    "McpServer",
    "McpTool",
    "Membership",
    "ModelCall",
    "Organisation",
    "Outage",
    "PersonalSettings",
    "ProviderResource",
    "ServiceToken",
    "Session",
    "SharedEntry",
    "SignInIdentity",
    "Subscription",
    "Upstream",
    "UserPreferences",
]
