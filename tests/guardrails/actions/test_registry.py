"""Actions and sources: which works on which, and that nothing else does."""

from itertools import product
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from guardrails.actions.registry import ACTIONS, BY_NAME
from guardrails.execute.executor import execute
from guardrails.models import AllowedAction
from integrations.models import Account
from integrations.registry import CONNECTORS
from tests.guardrails.arguments import BASE
from tests.guardrails.office import Office

WRITTEN_TO = {"gmail", "gdrive", "calendar", "jira", "mcp"}


def test_actions_work_on_five_sources_and_the_others_are_read_alone() -> None:
    assert {action.source for action in BY_NAME.values()} == WRITTEN_TO
    assert [one.source for one in CONNECTORS if one.starts_turns] == ["gmail"]
    assert {one.source for one in CONNECTORS} - WRITTEN_TO == {
        *("outlook", "github", "slack", "mailbox", "calendar_file")
    }


@pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
def test_no_action_can_be_done_through_an_account_of_a_source_it_does_not_work_on(
    office: Office,
) -> None:
    """Not even where somebody wrote the permission into the database by hand."""
    others = [one.source for one in CONNECTORS if one.source not in WRITTEN_TO]
    permitted = {action.name: office.permit(action.name).pk for action in ACTIONS}
    for source, action in product(others, ACTIONS):
        account, _ = Account.objects.get_or_create(
            organisation=office.organisation, external_user_id=office.user_id, source=source
        )
        with pytest.raises(ValidationError):
            AllowedAction.objects.create(
                account=account, action_type=action.name, approval_mode="auto"
            )
        AllowedAction.objects.filter(pk=permitted[action.name]).update(account=account)
        arguments: dict[str, Any] = BASE[action.name]

        result = execute(office.request(action.name, arguments, account=office.ref(account)))

        assert (result.status, result.reason) == ("refused", "unknown_action")
    assert office.calls() == []
