"""What came of an action, in words: done, already like that, waiting, or refused and why."""

from collections import defaultdict

from sandbox.offline_model.language import first_upper, listed, quoted
from sandbox.offline_model.transcript import Call, Json, Result, as_text

# Each action in words; what stands in braces is of the call's own arguments.
_WORDS = {
    "archive": "archive the mail",
    "classify": "label the mail",
    "mark_read": "mark the mail as read",
    "move_email": "move the mail",
    "trash_email": "put the mail into the trash",
    "draft": "draft a mail to {to}",
    "send_email": "send a mail to {to}",
    "forward_email": "forward a mail to {to}",
    "create_jira_task": "create “{summary}”",
    "update_jira_task": "change {issue_key}",
    "comment_jira_task": "comment on {issue_key}",
    "create_calendar_event": "enter “{title}”",
    "update_calendar_event": "change the event",
    "cancel_calendar_event": "cancel the event",
    "create_document": "create “{name}”",
    "append_document": "add to the document",
    "move_document": "move the document",
    "share_document": "share the document",
    "trash_document": "put the document into the trash",
}


def describe_outcome(result: Result) -> str:
    """One sentence about what came of one action. A refusal is never dressed up."""
    what = quoted(as_text(result.data.get("description"))) or first_upper(in_words(result.call))
    if not result.success:
        return f"Refused: {in_words(result.call)}. {quoted(result.refusal, limit=400)}"
    match result.data.get("status"):
        case "pending_confirmation":
            return f"Waiting for your confirmation: {what}."
        case "held":
            when = quoted(as_text(result.data.get("sentence")))
            return f"Not sent yet: {what}. {when}"
        case "executed":
            return f"Done: {what}."
        case "already_so":
            return f"It was already like that: {what}."
    return f"What came of this is not known: {what}."


def in_words(call: Call) -> str:
    """The action that was asked for, from the call's own arguments."""
    said = defaultdict(str, {key: quoted(as_text(one)) for key, one in call.arguments.items()})
    said["to"] = _receivers(call.arguments)
    known = _WORDS.get(call.name)
    return known.format_map(said) if known else quoted(call.name) or "an unnamed action"


def _receivers(params: Json) -> str:
    to = params.get("to")
    receivers = [quoted(as_text(one)) for one in to] if isinstance(to, list) else []
    return listed(receivers) or "nobody"
