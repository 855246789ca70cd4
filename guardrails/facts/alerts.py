"""Which mail warns its owner: of a sign-in, a code, a payment, a change of an account, or of mail
that could not be delivered. Pure.

It is known by who sends it (`senders`), by how it is built, and by words of its subject in many
languages. None of that needs proof: a mail that only claims to be an alert is asked about too.
"""

import re
from collections.abc import Mapping

from guardrails.facts import alert_words, senders
from guardrails.facts.phrases import phrase
from guardrails.facts.senders import Sender
from guardrails.facts.text import is_hidden, is_plain
from integrations.contracts import Email
from integrations.mail.html import html_to_text

# Who tells people about their accounts, in any language: by the part before the @, whole or
# one word of it.
ALERTING = frozenset({"abuse", "alert", "alerts", "mailer-daemon", "postmaster"})
SECURITY = frozenset({"security", "accountsecurity"})
REPLY = re.compile(r"(?:re|aw|sv|antw|vs|odp|rif|ynt|回复|答复|返信)\s*(?:\[\d+\])?\s*[::]")
SUBJECT_CHARS = 2_000
BODY_CHARS = 4_000  # a code or a link for one use stands at the top
HTML_CHARS = 40_000
NUMBER = re.compile(
    r"(?<![a-z0-9.,/+-])(?:\d{4,8}|\d{3}[ -]\d{3}|\d{4}[ -]\d{4})(?![a-z0-9-]|[.,:/]\d)"
)
NEAR = 60  # characters between a code and the word for it
URL = re.compile(r"https?://[^\s<>\"')\]]{8,2000}")
FOR_ONE_USE = re.compile(
    r"reset|passw|verif|activat|magic|one-?time|recover|confirm|log-?in|sign-?in|[/=?&.](?:2fa|mfa|otp)"
)
SECRET_PART = re.compile(r"[/=](?=[\w~-]*\d)[\w~-]{20,}")


def describe(mail: Email, known: Mapping[str, Sender] = senders.SHIPPED) -> str:
    """What kind of alert the mail is, in words; empty: none."""
    subject = _seen(mail.subject[:SUBJECT_CHARS])
    if mail.report_type == "delivery-status" or (
        mail.auto_submitted not in ("", "no") and alert_words.DELIVERY.search(subject)
    ):
        return phrase("the mail reports a failed delivery")
    sender = senders.find(mail.sender, known)
    if sender is not None and _is_notice(subject, sender):
        if sender.must_pass and mail.authentication.dmarc != "pass":
            return phrase(
                "the mail is a notice in the name of %(name)s, and nobody proved its sender",
                name=sender.name,
            )
        return phrase(
            "the mail is a notice of %(name)s about an account, a sign-in or money",
            name=sender.name,
        )
    by_words = alert_words.ANYBODY.search(subject) and not REPLY.match(subject)
    if _is_alerting(mail.sender) or by_words:
        return phrase("the mail is a security or delivery alert")
    if not REPLY.match(subject) and _is_for_one_use(mail):
        return phrase("the mail holds a code or a link for one use")
    return ""


def _is_alerting(sender: str) -> bool:
    mailbox = sender.casefold().rpartition("@")[0]
    words = mailbox.replace("-", ".").replace("_", ".").replace("+", ".").split(".")
    return mailbox in ALERTING or not SECURITY.isdisjoint(words)


def _is_notice(subject: str, sender: Sender) -> bool:
    return any(alert_words.OF_SENDERS[kind].search(subject) for kind in sender.kinds)


def _is_for_one_use(mail: Email) -> bool:
    """Whether a code stands beside a word for such codes, or a link with a secret part says that
    it confirms, resets or signs in."""
    body = mail.body_text.strip() or html_to_text((mail.body_html or "")[:HTML_CHARS])
    text = _seen(f"{mail.subject[:SUBJECT_CHARS]}\n{body[:BODY_CHARS]}")
    for word in alert_words.CODE.finditer(text):
        if NUMBER.search(text, max(0, word.start() - NEAR), word.end() + NEAR):
            return True
    return any(
        FOR_ONE_USE.search(one[0]) and SECRET_PART.search(one[0]) for one in URL.finditer(text)
    )


def _seen(text: str) -> str:
    """The text as it is compared: without hidden characters, other forms of letters, accents,
    capitals and spare blanks."""
    if not is_plain(text):
        text = "".join(one for one in text if one.isspace() or not is_hidden(one))
    return alert_words.folded(text)
