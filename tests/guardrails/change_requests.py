"""Refused actions, and what a user asks for after them."""

from typing import Any

from guardrails.approve import change_requests
from guardrails.approve.requested_change import Proposal
from guardrails.contracts import ActionResult
from guardrails.execute.executor import execute
from guardrails.models import ChangeRequest
from tests.guardrails.office import Office

BY = "operator:olga"


def refuse(
    office: Office, action_type: str = "archive", arguments: Any = None, **changes: Any
) -> ActionResult:
    """One action that the guardrails refuse; by default of one mail."""
    given = arguments or {"email_id": office.receive()}
    result = execute(office.request(action_type, given, **changes))
    assert result.status == "refused"
    return result


def ask_for(office: Office, result: ActionResult) -> ChangeRequest:
    """The user asks operators to permit what was refused."""
    card, _ = change_requests.ask(
        organisation_id=office.organisation.id,
        external_user_id=office.user_id,
        action_id=result.action_id,
        asked_by="token:test",
    )
    return load(card.id)


def load(id: Any) -> ChangeRequest:
    return ChangeRequest.objects.select_related("account__organisation").get(id=id)


def digest_of(request: ChangeRequest) -> str:
    """What stands for the change that an operator would see now."""
    found = change_requests.load_proposal(request)
    assert isinstance(found, Proposal), found
    return found.digest


def approve(request: ChangeRequest) -> None:
    change_requests.approve(request.id, digest=digest_of(request), by=BY)
