"""“Always archive mail like the newsletter from Acme”: a pattern, proposed for an operator to
approve."""

import re

from sandbox.offline_model.language import content_words, quoted, word_set
from sandbox.offline_model.rules.item_facts import cite, title_of
from sandbox.offline_model.rules.skills import meant_mail
from sandbox.offline_model.script import Script, call
from sandbox.offline_model.transcript import Transcript, as_objects, as_text

_WISH = re.compile(
    r"(?:(?:always|from now on|in future|immer|künftig|ab jetzt),?\s+(?:archive|archiviere)|"
    r"(?:archive|archiviere)\s+(?:always|immer))\s+(?:all\s+|any\s+|every\s+|alle\s+)?"
    r"(?P<which>.+)",
    re.IGNORECASE | re.DOTALL,
)
_MAIL_WORDS = word_set(
    """mail mails email emails message messages newsletter newsletters like from the wie von all"""
)


def wish_in(request: str) -> str:
    """Which mail is always to be archived; nothing where that is not asked for."""
    found = _WISH.fullmatch(request.strip().rstrip(".! "))
    return found["which"] if found else ""


def script(transcript: Transcript, which: str) -> Script:
    """Find one such mail as the example, then propose to treat all of its sender alike."""
    if "propose_pattern" not in transcript.tools:
        return "I cannot propose patterns here."
    wanted = content_words(which, without=_MAIL_WORDS) or content_words(which)
    query = " ".join(wanted)[:300]
    [found] = yield call("retrieve_context", query=query, types=["email"], limit=5)
    if not found.success:
        return f"I could not search your mail. {quoted(found.refusal, limit=400)}"
    mail = meant_mail(as_objects(found.data.get("items")), query)
    if mail is None:
        return f"I found no mail that matches “{quoted(query)}”."
    [proposed] = yield call(
        "propose_pattern",
        email_id=as_text(mail.get("id")),
        match="sender",
        actions=[{"action_type": "archive"}],
        reason="The user asked for it.",
    )
    about = f"“{title_of(mail)}”{cite(mail)}"
    if not proposed.success:
        return f"I could not propose a pattern like {about}. {quoted(proposed.refusal, limit=400)}"
    return (
        f"I proposed a pattern: mail from the sender of {about} is always archived. An operator "
        "approves it; until then nothing changes."
    )
