"""Every action Remit can perform: one file each in `actions/`, one line each here. Pure."""

from collections.abc import Mapping
from typing import Any

from guardrails.actions.base import AnyAction, InvalidArguments
from guardrails.actions.calendar.answer_invitation import AnswerInvitation
from guardrails.actions.calendar.cancel_calendar_event import CancelCalendarEvent
from guardrails.actions.calendar.create_calendar_event import CreateCalendarEvent
from guardrails.actions.calendar.restore_event import RestoreEvent
from guardrails.actions.calendar.update_calendar_event import UpdateCalendarEvent
from guardrails.actions.files.append_document import AppendDocument
from guardrails.actions.files.create_document import CreateDocument
from guardrails.actions.files.move_document import MoveDocument
from guardrails.actions.files.restore_document import RestoreDocument
from guardrails.actions.files.share_document import ShareDocument
from guardrails.actions.files.trash_document import TrashDocument
from guardrails.actions.files.unshare_document import UnshareDocument
from guardrails.actions.issues.comment_jira_task import CommentJiraTask
from guardrails.actions.issues.create_jira_task import CreateJiraTask
from guardrails.actions.issues.restore_issue import RestoreIssue
from guardrails.actions.issues.sort_issue import SortIssue
from guardrails.actions.issues.update_jira_task import UpdateJiraTask
from guardrails.actions.mail.archive import Archive
from guardrails.actions.mail.classify import Classify
from guardrails.actions.mail.delete_draft import DeleteDraft
from guardrails.actions.mail.draft import Draft
from guardrails.actions.mail.forward_email import ForwardEmail
from guardrails.actions.mail.mark_read import MarkRead
from guardrails.actions.mail.move_email import MoveEmail
from guardrails.actions.mail.recall_email import RecallEmail
from guardrails.actions.mail.restore_labels import RestoreLabels
from guardrails.actions.mail.send_email import SendEmail
from guardrails.actions.mail.trash_email import TrashEmail
from guardrails.actions.mail.withdraw_draft import WithdrawDraft
from guardrails.actions.tools.call_mcp_tool import CallMcpTool
from guardrails.actions.upkeep.close_subscription import CloseSubscription
from guardrails.actions.upkeep.open_subscription import OpenSubscription
from guardrails.actions.upkeep.renew_subscription import RenewSubscription

ACTIONS: tuple[AnyAction, ...] = (
    Archive(),
    Classify(),
    MarkRead(),
    MoveEmail(),
    TrashEmail(),
    Draft(),
    DeleteDraft(),
    SendEmail(),
    ForwardEmail(),
    CreateJiraTask(),
    UpdateJiraTask(),
    CommentJiraTask(),
    SortIssue(),
    CreateCalendarEvent(),
    UpdateCalendarEvent(),
    CancelCalendarEvent(),
    AnswerInvitation(),
    CreateDocument(),
    AppendDocument(),
    MoveDocument(),
    ShareDocument(),
    TrashDocument(),
    CallMcpTool(),
)
# What taking something back may need beside these. No agent is offered one of them.
UNDOING: tuple[AnyAction, ...] = (
    RestoreLabels(),
    WithdrawDraft(),
    RecallEmail(),
    RestoreEvent(),
    RestoreIssue(),
    UnshareDocument(),
    RestoreDocument(),
)
# What Remit does for itself at an account. No agent is offered one of them.
UPKEEP: tuple[AnyAction, ...] = (
    OpenSubscription(),
    RenewSubscription(),
    CloseSubscription(),
)
BY_NAME: Mapping[str, AnyAction] = {action.name: action for action in (*ACTIONS, *UNDOING, *UPKEEP)}


def pattern_arguments(
    action_type: str, arguments: Mapping[str, Any], *, item_id: str
) -> dict[str, Any]:
    """A pattern's arguments for one mail: its own, and the mail's id where the action takes
    it. Raises KeyError for an action that patterns cannot have."""
    action = BY_NAME[action_type]
    if not (action.in_patterns and action.object_field):
        raise KeyError(action_type)
    return {**arguments, action.object_field: item_id}


def check_in_pattern(action_type: str, arguments: Mapping[str, Any]) -> None:
    """Raises InvalidArguments for what no pattern may do, whatever the mail."""
    action = BY_NAME.get(action_type)
    if action is None or not action.in_patterns:
        raise InvalidArguments("Patterns cannot do this")
    if action.object_field in arguments:
        raise InvalidArguments("The item is filled in for each mail")
    action.parse(pattern_arguments(action_type, arguments, item_id="item"))


def action_choices() -> list[tuple[str, str]]:
    return [(action.name, action.title) for action in ACTIONS]


def pattern_action_choices() -> list[tuple[str, str]]:
    return [(action.name, action.title) for action in ACTIONS if action.in_patterns]


def resource_type_choices() -> list[tuple[str, str]]:
    names = dict.fromkeys(action.resource_type for action in ACTIONS)
    return [(name, name.capitalize()) for name in names]


def target_kind_choices() -> list[tuple[str, str]]:
    kinds = dict.fromkeys(kind for action in ACTIONS for kind in action.takes)
    return [(kind, kind.replace("_", " ").capitalize()) for kind in kinds]
