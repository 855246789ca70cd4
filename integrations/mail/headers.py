"""Dates, threads, lists and authentication findings from the headers of a mail. Pure.

Headers are values by lower-case name, in the order of the message, raw bytes as surrogates.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import unquote

from integrations.contracts import Authentication
from integrations.mail.addresses import is_addr_spec
from integrations.mail.text import header_text, unfolded

Headers = Mapping[str, Sequence[str]]

_MESSAGE_ID = re.compile(r"<[^<>\s]{1,250}>")
_REPLY_PREFIX = re.compile(r"(?i)(?:(?:re|aw|sv|antw|fwd?|wg|vs)(?:\[\d+\])?\s*:|\[[^\]]*\])\s*")
_ANGLES = re.compile(r"<([^<>]+)>")
_MAILING_LIST = re.compile(r"(?i)\blist\s+([^\s;,]+)")
_UNSUBSCRIBE_HOST = re.compile(
    r"(?i)(?:mailto:[^@<>\s]{1,200}@|https?://(?:[^/@<>\s]{0,200}@)?)([a-z0-9.-]+)"
)
_POST = re.compile(r"(?i)<\s*mailto:([^<>?\s]{1,254})")
_WORD = re.compile(r"[a-z][a-z-]*")
_QUOTED_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|\((?:\\.|[^()\\])*\)')
_MAX_FINDINGS_CHARS = 4_000
_FINDING = re.compile(r"(?i)\s*(spf|dkim|dmarc)(?:/\d+)?\s*=\s*([a-z]+)(?=\s|$)")
_SIGNER = {
    "spf": re.compile(r"(?i)smtp\.mailfrom\s*=\s*(?:[^\s@]*@)?([a-z0-9.-]+)(?=\s|$)"),
    "dkim": re.compile(r"(?i)header\.(?:d\s*=\s*|i\s*=\s*[^\s@]*@)([a-z0-9.-]+)(?=\s|$)"),
}
_VERDICTS = {"pass": "pass", "fail": "fail", "softfail": "fail", "permerror": "fail"}
_EARLIEST, _LATEST = datetime(1971, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)


def parse_date(value: str) -> datetime | None:
    """An RFC 822 (or ctime) date in UTC; None when it is no date or cannot be true.

    A date without a zone is taken as UTC, as RFC 5322 does for -0000.
    """
    try:
        date = parsedate_to_datetime(unfolded(value))
        date = (date if date.tzinfo else date.replace(tzinfo=UTC)).astimezone(UTC)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    return date if _EARLIEST <= date < _LATEST else None


def sent_at(headers: Headers, *, fallback: datetime) -> tuple[datetime, bool]:
    """When the mail was sent, and whether that is what its Date header says."""
    claimed = parse_date(next(iter(headers.get("date", ())), ""))
    if claimed:
        return claimed, True
    for received in headers.get("received", ()):
        date = parse_date(received.rpartition(";")[2])
        if date:
            return date, False
    return fallback.astimezone(UTC), False


def message_ids(value: str) -> list[str]:
    """The message ids of one header, with their angle brackets, in order."""
    return _MESSAGE_ID.findall(unfolded(value))


def thread_key(headers: Headers, *, subject: str) -> str:
    """What the messages of one thread have in common; empty when there is nothing to go by.

    The first of References is the thread's first message; In-Reply-To comes next. An answer
    that names no message belongs to its subject. Anything else starts a thread.
    """
    for name in ("references", "in-reply-to"):
        for value in headers.get(name, ()):
            for message_id in message_ids(value):
                return message_id
    topic = normalised_subject(subject)
    if topic and _REPLY_PREFIX.match(subject) and not subject.startswith("["):
        return f"subject:{topic}"
    for value in headers.get("message-id", ()):
        for message_id in message_ids(value):
            return message_id
    return f"subject:{topic}" if topic else ""


def normalised_subject(subject: str) -> str:
    """`subject` without reply and forward marks and list tags, in lower case."""
    text, begin = subject.strip(), 0
    while (match := _REPLY_PREFIX.match(text, begin)) and match.end() < len(text):
        begin = match.end()
    return text[begin:].casefold()


def list_id(headers: Headers) -> str | None:
    """The mailing list or bulk sender the mail came through, as <id> in lower case.

    From List-Id, else Mailing-List, else the host of List-Unsubscribe.
    """
    for name, pattern in (
        ("list-id", _ANGLES),
        ("mailing-list", _MAILING_LIST),
        ("list-unsubscribe", _UNSUBSCRIBE_HOST),
    ):
        for value in headers.get(name, ()):
            text = header_text(value)
            match = pattern.search(text)
            found = match[1] if match else text if name == "list-id" else ""
            if identity := re.sub(r"[<>\s]", "", found).lower()[:250]:
                return f"<{identity}>"
    return None


def list_post(headers: Headers) -> str | None:
    """Where mail to the whole list goes, as List-Post says (RFC 2369): one plain address. None
    where it says nothing, or that nobody may post."""
    for value in headers.get("list-post", ()):
        match = _POST.search(header_text(value))
        found = unquote(match[1]).lower() if match else ""
        if is_addr_spec(found):
            return found
    return None


def first_word(headers: Headers, name: str) -> str:
    """The first word of a header whose meaning is one word, in lower case; empty without one."""
    text = header_text(next(iter(headers.get(name, ())), ""))
    match = _WORD.match(text.lower())
    return match[0][:40] if match else ""


def authentication(topmost: str, *, trusted_server: str | None, sender: str) -> Authentication:
    """What `trusted_server` found about `sender`, from the topmost Authentication-Results.

    Other servers' findings are none at all: anybody can write that header. SPF and DKIM
    pass only for the sender's own domain or a parent of it; a pass for another domain says
    nothing about this sender and is "none".
    """
    text = unfolded(topmost)
    if not trusted_server or not text or len(text) > _MAX_FINDINGS_CHARS:
        return Authentication()
    for _ in range(5):  # comments nest
        text = _QUOTED_OR_COMMENT.sub(" ", text)
    server, *clauses = text.split(";")
    if any(mark in text for mark in '"()\\') or not _is_server(server, trusted_server):
        return Authentication()
    found: dict[str, list[str]] = {"spf": [], "dkim": [], "dmarc": []}
    for clause in clauses:
        if finding := _FINDING.match(clause):
            method, verdict = finding[1].lower(), _VERDICTS.get(finding[2].lower(), "none")
            if verdict == "pass" and method in _SIGNER:
                signer = _SIGNER[method].search(clause)
                verdict = "pass" if signer and _aligned(signer[1], sender) else "none"
            found[method].append(verdict)
    return Authentication(
        spf=_all_of(found["spf"]), dkim=_any_of(found["dkim"]), dmarc=_all_of(found["dmarc"])
    )


def _is_server(text: str, trusted_server: str) -> bool:
    words = text.lower().split()
    return bool(words) and words[0] == trusted_server.lower() and words[1:] in ([], ["1"])


def _aligned(signer: str, sender: str) -> bool:
    signer, domain = signer.lower(), sender.rpartition("@")[2].lower()
    return "." in signer and (domain == signer or domain.endswith(f".{signer}"))


def _all_of(verdicts: list[str]) -> str:
    if "fail" in verdicts:
        return "fail"
    return "pass" if verdicts and set(verdicts) == {"pass"} else "none"


def _any_of(verdicts: list[str]) -> str:
    """A mail may carry signatures of several domains: one good one of its own is enough."""
    return next((verdict for verdict in ("pass", "fail") if verdict in verdicts), "none")
