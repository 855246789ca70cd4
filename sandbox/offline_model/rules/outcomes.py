"""What came of an action, in words: done, already like that, waiting, or refused and why."""

from sandbox.offline_model.language import first_upper, listed, quoted
from sandbox.offline_model.transcript import Call, Json, Result, as_text


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
    name, params = call.name, call.arguments
    match name:
        case "archive":
            return "archive the mail"
        case "classify":
            return "label the mail"
        case "draft":
            return f"draft a mail to {_receivers(params)}"
        case "send_email":
            return f"send a mail to {_receivers(params)}"
        case "create_jira_task":
            return f"create “{quoted(as_text(params.get('summary')))}”"
    return quoted(name) or "an unnamed action"


def _receivers(params: Json) -> str:
    to = params.get("to")
    receivers = [quoted(as_text(one)) for one in to] if isinstance(to, list) else []
    return listed(receivers) or "nobody"
