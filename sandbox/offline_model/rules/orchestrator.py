"""“You are Remit's orchestrator.”: which rule a request belongs to, first match first."""

import re

from sandbox.offline_model.rules import (
    actions,
    decisions,
    handing_over,
    questions,
    tasks_from_mail,
)
from sandbox.offline_model.transcript import Reply, Transcript

LONGEST_REQUEST = 4000
HELP = (
    "I am the offline stand-in: I follow fixed rules and am not a language model. "
    "I can answer questions about your mail, documents, calendar and issues, create tasks "
    "from a mail, create an issue, archive or label a mail, draft a reply and send a mail. "
    "Try: “Create Jira tasks from John's proposal email”, “Which mails mention the invoice?” "
    "or “Draft a reply to Anna's mail about the budget”."
)
_POLITE = re.compile(
    r"\A(?:(?:hi|hello|hey|please|can you|could you|would you|i want you to|now)\b[\s,!]*)+",
    re.IGNORECASE,
)
_ABOUT_ITSELF = re.compile(
    r"(?:what can you do|who are you|what are you|help(?: me)?|are you .{0,60})[\s?.!]*",
    re.IGNORECASE,
)


def next_reply(transcript: Transcript) -> Reply:
    if transcript.decisions:
        return Reply(text=decisions.describe_decisions(transcript.decisions))
    request = _POLITE.sub("", transcript.request[:LONGEST_REQUEST].strip(), count=1)
    if _ABOUT_ITSELF.fullmatch(request):
        return Reply(text=HELP)
    if handing_over.is_wish(request):
        return handing_over.next_reply(transcript)
    wish = tasks_from_mail.wish_in(request)
    if wish is not None:
        return tasks_from_mail.next_reply(transcript, wish)
    action = actions.next_reply(transcript, request)
    if action is not None:
        return action
    if questions.is_question(request):
        return questions.next_reply(transcript)
    return Reply(text=HELP)
