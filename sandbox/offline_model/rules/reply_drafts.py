"""“You draft a reply.”: what is to be said, or that an answer follows, signed by the user."""

import html
import json
import re

from sandbox.offline_model import german
from sandbox.offline_model.language import first_upper, one_line
from sandbox.offline_model.transcript import Reply, Transcript, as_object, as_text, marked_value

_POINTS = re.compile(r"^The answer is to say: (?P<points>.*)$", re.MULTILINE)
_MAIL = re.compile(r'<untrusted id="mail">\n(?P<mail>.*?)\n</untrusted>', re.DOTALL)
_SUBJECT = re.compile(
    r"^Subject: (?:(?:re|aw|fwd?|wg)\s*:\s*)*(?P<subject>.*)$", re.IGNORECASE | re.MULTILINE
)
_SENDER = re.compile(r"^From: (?P<name>[^<\n]*?)\s*<", re.MULTILINE)


def draft(transcript: Transcript) -> Reply:
    """In the language of the mail, with the user's name below it."""
    request = transcript.request
    mail = _MAIL.search(request)
    text = html.unescape(mail["mail"]) if mail else ""
    is_german = german.is_german(text)
    subject, sender = _SUBJECT.search(text), _SENDER.search(text)
    about = one_line(subject["subject"]) if subject else ""
    points = _POINTS.search(request)
    name = as_text(as_object(marked_value(request, "user")).get("name"))
    first = one_line(sender["name"]).split(" ")[0] if sender and sender["name"].strip() else ""
    lines = [
        f"{'Hallo' if is_german else 'Hi'}{' ' + first if first else ''},",
        "",
        first_upper(points["points"].strip()) if points else _holding(about, is_german),
    ]
    lines += ["", name] if name else []
    return Reply(text=json.dumps({"body": "\n".join(lines)}, ensure_ascii=False))


def _holding(about: str, is_german: bool) -> str:
    if is_german:
        said = f" zu „{about}“" if about else ""
        return f"danke für Ihre Nachricht{said}. Ich sehe es mir an und melde mich."
    said = f" about “{about}”" if about else ""
    return f"thanks for your message{said}. I will look into it and get back to you."
