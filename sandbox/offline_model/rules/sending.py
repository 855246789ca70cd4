"""“Send … a mail that says …”, “write to … about …”, “draft a mail to …”: new mail, in English and
German. What may not be sent is drafted."""

import re

from sandbox.offline_model.language import first_upper, one_line, shortened
from sandbox.offline_model.rules import named, outcomes
from sandbox.offline_model.rules.acting import UNSAID, act, carry_out
from sandbox.offline_model.rules.mails import ABOUT, FLAGS, MAIL, ORDER
from sandbox.offline_model.script import Script
from sandbox.offline_model.transcript import Json, Reply, Transcript

# Among what Remit suggests where mail may not be sent.
DRAFT_INSTEAD = "with draft instead"
_SAYING = (
    r"(?:(?:that says|saying|die sagt|mit dem text)\s*:?|:)\s+(?:that\s+|dass\s+)?(?P<text>.+)"
)
_SEND = re.compile(
    r"send\s+(?P<what>.+?)\s+to\s+(?P<to>.+?)\s+saying:?\s+(?:that\s+)?(?P<text>.+)", FLAGS
)
_SEND_THEM = re.compile(
    rf"(?:send|write|sende?|schicke?)\s+(?P<to>.+?)\s+(?:an?|eine)\s+{MAIL}\s*{_SAYING}", FLAGS
)
_WRITE_TO = re.compile(
    rf"(?:(?P<draft>(?:draft|prepare|entwirf)\s+(?:an?|eine))\s+{MAIL}|write|schreibe?)\s+"
    rf"(?:to|an)\s+(?P<to>.+?)(?:\s+(?:about|über|wegen)\s+(?P<topic>.+?))?\s*{_SAYING}",
    FLAGS,
)


def script(transcript: Transcript, request: str) -> Script | None:
    """The steps of such a command; None where the request is none."""
    if match := _SEND.fullmatch(request):
        about = ABOUT.search(match["what"])
        return _write(transcript, match["to"], about["topic"] if about else "", match["text"])
    if match := _SEND_THEM.fullmatch(request):
        return _write(transcript, match["to"], "", match["text"])
    if match := _WRITE_TO.fullmatch(request):
        to, topic, text = match["to"], match["topic"] or "", match["text"]
        return _write(transcript, to, topic, text, only_draft=bool(match["draft"]))
    return None


def _write(
    transcript: Transcript, to: str, topic: str, text: str, *, only_draft: bool = False
) -> Script:
    """The dictated mail, sent; drafted where that is asked for, or where none may be sent."""
    if ORDER.search(text):
        return f"I {'drafted' if only_draft else 'sent'} nothing. {UNSAID}"
    people = yield from named.person(to)
    if isinstance(people, str):
        return people
    text = text.strip().strip("“”\"'")
    params: Json = {
        "to": people,
        "subject": first_upper(shortened(one_line(topic or text), limit=60)),
        "body": first_upper(text),
    }
    if only_draft:
        return (yield from carry_out(act("draft", params)))
    [sent] = yield Reply(calls=(act("send_email", params),))
    if sent.success or DRAFT_INSTEAD not in sent.advice or not transcript.offer("draft"):
        return outcomes.describe_outcome(sent)
    [drafted] = yield Reply(calls=(act("draft", params, reason="It may not be sent."),))
    return outcomes.describe_drafted(sent, drafted)
