"""What waits for a person in the office, and their word on it."""

from typing import Any

from guardrails.approve import approvals
from guardrails.contracts import ActionResult
from guardrails.execute.executor import execute
from guardrails.models import Approval
from tests.guardrails.office import Office


def ask(office: Office, action_type: str, arguments: Any, **changes: Any) -> Approval:
    """The approval that an agent's request waits for."""
    result = execute(office.request(action_type, arguments, **changes))
    assert result.status == "pending", result.sentence
    return Approval.objects.get(action_id=result.action_id)


def confirm(approval: Approval, **changes: Any) -> ActionResult:
    return approvals.confirm(**(word_on(approval) | changes))


def reject(approval: Approval, **changes: Any) -> ActionResult:
    return approvals.reject(**(word_on(approval) | changes))


def edit(approval: Approval, arguments: dict[str, Any], **changes: Any) -> ActionResult:
    return approvals.edit(**(word_on(approval) | {"changes": arguments} | changes))


def word_on(approval: Approval) -> dict[str, Any]:
    return {
        "organisation_id": approval.organisation_id,
        "approval_id": approval.id,
        "decided_by": "token:web",
    }
