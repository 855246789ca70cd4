"""“You are Remit's mail reader.”: what to do with one mail that arrived.

The mail's words decide what kind of mail it is and nothing else: no instruction in it is
followed, and labels and actions come from the tools alone.
"""

import re
from dataclasses import dataclass

from sandbox.offline_model.language import fresh_text, listed, quoted
from sandbox.offline_model.rules import outcomes
from sandbox.offline_model.rules.acting import act
from sandbox.offline_model.rules.mails import holding_reply
from sandbox.offline_model.transcript import (
    Call,
    Json,
    Reply,
    Result,
    Transcript,
    as_object,
    as_text,
    marked_line,
)

_ALERT = re.compile(
    r"security (?:alert|notice|warning)|suspicious|unusual (?:activity|sign-?in|login)"
    r"|new (?:sign-?in|login|device)|verification code"
    r"|password (?:was |has been )?(?:reset|changed)",
    re.IGNORECASE,
)
_UNSUBSCRIBE = re.compile(
    r"\bunsubscribe\b|\bopt[- ]out\b|\bavregistrera\b|\babmelden\b"
    r"|view (?:this email )?in your browser",
    re.IGNORECASE,
)
_INVOICE_SUBJECT = re.compile(r"\b(?:invoice|receipt|faktura|rechnung)\b", re.IGNORECASE)
_INVOICE_TEXT = re.compile(r"\b(?:invoice (?:no|number|#)|amount due|total due)\b", re.IGNORECASE)
_SALES = re.compile(
    r"\b(?:quick call|book a (?:call|demo)|free (?:trial|demo)|our (?:solution|platform|services)"
    r"|boost your|increase your|pricing|discount|(?:15|20|30)[- ]minutes?|reach(?:ing)? out"
    r"|came across your (?:company|website|profile)|lead generation)\b",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"\?(?:\s|$)|\b(?:could|can|would) you\b|\blet me know\b"
    r"|\bkönn(?:en|ten|test) (?:sie|du)\b|\bkan du\b",
    re.IGNORECASE,
)
_LINK = re.compile(r"\bhttps?://\S+")
_NOTIFIER = re.compile(r"(?:notifications?|notify|alerts?)@", re.IGNORECASE)
_UNATTENDED = re.compile(r"(?:no|do-?not)[-_]?reply|mailer-daemon|postmaster@", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Mail:
    email_id: str
    sender: str
    subject: str
    text: str
    on_list: bool
    first_contact: bool
    to_me: bool
    from_me: bool
    filed: tuple[str, bool] | None = None  # how the person filed like mail: label, archived


def next_reply(transcript: Transcript) -> Reply:
    mail = mail_in(transcript.request)
    if mail is None:
        return Reply(text="I could not read the mail, so I left it for the person.")
    if mail.from_me:
        return Reply(text="This is the person's own mail. There is nothing to do.")
    if _ALERT.search(mail.subject):
        return Reply(text="This looks like a security alert, so I left it for the person.")
    calls = wanted(transcript, mail)
    if not calls:
        return Reply(text="I am allowed nothing that fits this mail, so I left it as it is.")
    remaining = transcript.remaining(calls)
    if remaining:
        return Reply(calls=remaining)
    return Reply(text=_describe_outcomes(transcript))


def mail_in(request: str) -> Mail | None:
    item = as_object(marked_line(request, "item"))
    email_id = as_text(item.get("email_id"))
    if not email_id:
        return None
    me = as_text(item.get("me")).casefold()
    to = item.get("to")
    sender = as_text(as_object(item.get("from")).get("address"))
    return Mail(
        email_id=email_id,
        sender=sender,
        subject=as_text(item.get("subject")),
        text=fresh_text(as_text(item.get("text"))),
        on_list=bool(item.get("list_id")),
        first_contact=item.get("first_contact") is not False,
        to_me=bool(me) and isinstance(to, list) and me in (as_text(a).casefold() for a in to),
        from_me=bool(me) and sender.casefold() == me,
        filed=_filed(item.get("earlier_of_sender")),
    )


def _filed(earlier: object) -> tuple[str, bool] | None:
    """Under which topic the person put the newest like mail that they touched."""
    for one in map(as_object, earlier if isinstance(earlier, list) else ()):
        labels = one.get("labels")
        topics = [name for name in labels if name in _TOPICS] if isinstance(labels, list) else []
        if one.get("touched_by_user_since") is True and topics:
            return as_text(topics[0]), one.get("archived") is True
    return None


def kind_of(mail: Mail) -> str:
    """The label that fits. A list is recognised by its header before any word counts; a
    program that notifies by mail often sets that header too, and is no newsletter."""
    words = f"{mail.subject}\n{mail.text}"
    if _NOTIFIER.match(mail.sender):
        return "FYI"
    if mail.on_list:
        return "Newsletter"
    if _INVOICE_SUBJECT.search(mail.subject) or _INVOICE_TEXT.search(mail.text):
        return "Invoices"
    if _UNSUBSCRIBE.search(words):
        return "Newsletter"
    if mail.first_contact and _SALES.search(words):
        return "Cold"
    is_question = bool(_QUESTION.search(_LINK.sub("", words)))
    if is_question and mail.to_me and not mail.first_contact and not _unattended(mail):
        return "To Reply"
    return "FYI"


def wanted(transcript: Transcript, mail: Mail) -> tuple[Call, ...]:
    """The calls for this mail, of those that there is a tool for."""
    kind, archives = mail.filed or (kind_of(mail), False)
    calls = []
    classify = transcript.offer("classify")
    label = classify.choice("label_id", kind) if classify else None
    if label is not None:
        params: Json = {"email_id": mail.email_id, "label_id": label}
        calls.append(act("classify", params, reason=f"It is {_REASONS[kind]}."))
    if (archives or (kind == "Newsletter" and not mail.filed)) and transcript.offer("archive"):
        reason = f"It is {_REASONS[kind]}."
        calls.append(act("archive", {"email_id": mail.email_id}, reason=reason))
    if kind == "To Reply" and transcript.offer("draft"):
        calls.append(holding_reply(email_id=mail.email_id, to=mail.sender, subject=mail.subject))
    return tuple(calls)


_TOPICS = frozenset({"Newsletter", "Invoices", "Cold"})
_REASONS = {
    "Newsletter": "a newsletter",
    "Invoices": "an invoice or a receipt",
    "Cold": "a sales mail from somebody new",
    "To Reply": "a question from somebody known",
    "FYI": "for information",
}


def _unattended(mail: Mail) -> bool:
    return "@" not in mail.sender or bool(_UNATTENDED.search(mail.sender))


def _describe_outcomes(transcript: Transcript) -> str:
    """One sentence: what was done, what waits, what was refused and why."""
    results = transcript.results_of("classify", "archive", "draft")
    done = [outcomes.in_words(r.call) for r in results if _status(r) in ("executed", "already_so")]
    waiting = [outcomes.in_words(r.call) for r in results if _status(r) == "pending_confirmation"]
    refused = [
        f"{outcomes.in_words(r.call)} ({quoted(r.refusal, limit=300).rstrip('.')})"
        for r in results
        if not r.success
    ]
    parts = (("Done", done), ("waiting for the person", waiting), ("refused", refused))
    said = "; ".join(f"{word}: {listed(acts)}" for word, acts in parts if acts)
    return f"{said[:1].upper()}{said[1:]}." if said else "What came of it is not known."


def _status(result: Result) -> str:
    return as_text(result.data.get("status")) if result.success else "refused"
