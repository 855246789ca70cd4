"""The one door to provider writes. Only `guardrails.execute.executor` may import this module,
and only this module a provider's writer (import-linter holds both), so that
no write happens without a decision and a ledger row."""

from collections.abc import Callable

from integrations.contracts import AccountRef
from integrations.exceptions import Rejected
from integrations.ports.account import Writer
from integrations.providers.caldav.writer import CalDavWriter
from integrations.providers.data_service.writer import DataServiceWriter
from integrations.providers.github.writer import GitHubWriter
from integrations.providers.google_mail.writer import GmailWriter
from integrations.providers.imap.writer import ImapWriter
from integrations.providers.jira.writer import JiraWriter
from integrations.providers.jmap.writer import JmapWriter
from integrations.providers.mcp.writer import McpWriter
from integrations.providers.webdav.writer import WebDavWriter

WRITERS: dict[str, Callable[[AccountRef], Writer]] = {
    "caldav": CalDavWriter,
    "data_service": DataServiceWriter,
    "github": GitHubWriter,
    "google_mail": GmailWriter,
    "imap": ImapWriter,
    "jira": JiraWriter,
    "jmap": JmapWriter,
    "mcp": McpWriter,
    "webdav": WebDavWriter,
}


def writer(account: AccountRef) -> Writer:
    """Raises Rejected for an account that nothing can be written to."""
    if account.provider not in WRITERS:
        raise Rejected(f"nothing can be written to {account.source}")
    return WRITERS[account.provider](account)
