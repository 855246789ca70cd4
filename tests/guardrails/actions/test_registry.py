"""Actions and kinds of accounts: which works on which, and that nothing else does."""

from itertools import product
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from guardrails.actions.registry import ACTIONS, UNDOING
from guardrails.execute.executor import execute
from guardrails.models import AllowedAction
from integrations.accounts import writes
from integrations.exceptions import Rejected
from integrations.models import Account
from integrations.ports.calendar import CalendarWriter
from integrations.ports.files import FilesWriter
from integrations.ports.issues import IssuesWriter
from integrations.ports.mail import MailWriter
from integrations.ports.registry import BY_SOURCE, PROVIDER_OF
from integrations.ports.tools import ToolsWriter
from tests.guardrails.arguments import BASE
from tests.guardrails.office import Office
from tests.guardrails.values import account

WRITTEN_TO = {
    *("gmail", "imap", "jmap", "google_mail", "gdrive", "calendar", "caldav", "google_calendar"),
    *("github_issues", "jira", "jira_issues", "mcp", "microsoft_mail", "rt_tickets", "webdav"),
    *("google_drive", "microsoft_calendar", "microsoft_files"),
}
WRITERS: dict[str, type] = {
    "mail": MailWriter,
    "files": FilesWriter,
    "calendar": CalendarWriter,
    "issues": IssuesWriter,
    "tools": ToolsWriter,
}


def test_actions_work_on_five_kinds_and_other_sources_are_read_alone() -> None:
    assert {action.kind for action in (*ACTIONS, *UNDOING)} == WRITERS.keys()
    assert [one.source for one in BY_SOURCE.values() if one.starts_turns] == [
        "gmail",
        "gdrive",
        "calendar",
        "jira",
        "imap",
        "jmap",
        "google_mail",
        "microsoft_mail",
        "caldav",
        "google_calendar",
        "microsoft_calendar",
        "webdav",
        "google_drive",
        "microsoft_files",
        "github_issues",
        "jira_issues",
        "rt_tickets",
    ]
    assert {one.source for one in BY_SOURCE.values() if one.is_writable} == WRITTEN_TO
    assert {
        source for source in BY_SOURCE if any(action.works_on(source) for action in ACTIONS)
    } == WRITTEN_TO


@pytest.mark.parametrize("source", sorted(WRITTEN_TO))
def test_the_writer_of_a_source_can_do_everything_of_its_kind(source: str) -> None:
    kind = BY_SOURCE[source].kind
    ref = account(source=source, kind=kind, provider=PROVIDER_OF[source].name)

    assert isinstance(writes.writer(ref), WRITERS[kind])


def test_nothing_can_be_written_to_what_was_imported() -> None:
    with pytest.raises(Rejected):
        writes.writer(account(source="mailbox", provider="imports"))


@pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
def test_no_action_can_be_done_through_an_account_of_a_source_it_does_not_work_on(
    office: Office,
) -> None:
    """Not even where somebody wrote the allowed action into the database by hand."""
    others = [source for source in BY_SOURCE if source not in WRITTEN_TO]
    permitted = {action.name: office.permit(action.name).pk for action in ACTIONS}
    for source, action in product(others, ACTIONS):
        row, _ = Account.objects.get_or_create(
            organisation=office.organisation, external_user_id=office.user_id, source=source
        )
        with pytest.raises(ValidationError):
            AllowedAction.objects.create(account=row, action_type=action.name, approval_mode="auto")
        AllowedAction.objects.filter(pk=permitted[action.name]).update(account=row)
        arguments: dict[str, Any] = BASE[action.name]

        result = execute(office.request(action.name, arguments, account=office.ref(row)))

        assert (result.status, result.reason) == ("refused", "unknown_action")
    assert office.calls() == []
