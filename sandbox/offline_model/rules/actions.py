"""“archive …”, “label … as …”, “draft a reply to …”, “send …”, “create a task in …”."""

import re
from collections.abc import Callable

from sandbox.offline_model.language import (
    ADDRESS,
    content_words,
    first_upper,
    listed,
    one_line,
    quoted,
    shortened,
)
from sandbox.offline_model.rules import outcomes, questions
from sandbox.offline_model.transcript import (
    Call,
    Json,
    Reply,
    Transcript,
    as_objects,
    as_text,
    said_in,
    sender_of,
)
from sandbox.offline_model.vectors import stem

MOST_MAILS = 5
_FLAGS = re.IGNORECASE | re.DOTALL
_ARCHIVE = re.compile(r"archive\s+(?P<which>.+)", _FLAGS)
_LABEL = re.compile(
    r"(?:label|tag|mark|classify)\s+(?P<which>.+?)\s+as\s+[“\"']?(?P<label>[^“”\"]+?)[”\"']?",
    _FLAGS,
)
_REPLY = re.compile(
    r"(?:draft|write|prepare)\s+(?:an?\s+|the\s+)?(?:\w+\s+)?(?:reply|answer|response)\s+to\s+"
    r"(?P<which>.+?)(?:\s+saying:?\s+(?:that\s+)?(?P<text>.+))?",
    _FLAGS,
)
_SEND = re.compile(
    r"send\s+(?P<what>.+?)\s+to\s+(?P<to>.+?)\s+saying:?\s+(?:that\s+)?(?P<text>.+)", _FLAGS
)
_CREATE = re.compile(
    r"(?:create|add|open|file|make)\s+(?:an?\s+|the\s+|one\s+)?(?:new\s+)?(?:jira\s+)?"
    r"(?P<type>task|issue|ticket|bug|story)(?:\s+in\s+(?:project\s+)?(?P<project>\w{2,10}))?"
    r"\s*:\s*(?P<summary>.+)",
    _FLAGS,
)
_ABOUT = re.compile(r"\babout\s+(?P<subject>.+)", _FLAGS)

MailCall = Callable[[Json], Call | None]


def next_reply(transcript: Transcript, request: str) -> Reply | None:
    """The next step of the action asked for; None when the request asks for none."""
    request = request.strip()
    plain = request.rstrip(".!? ")
    if match := _CREATE.fullmatch(request):
        return _create_issue(transcript, match)
    if match := _SEND.fullmatch(request):
        return _send(transcript, match)
    if match := _ARCHIVE.fullmatch(plain):
        return _on_mail(transcript, which=match["which"], call=_archive)
    if match := _LABEL.fullmatch(plain):
        return _label(transcript, match)
    if match := _REPLY.fullmatch(request):
        text = one_line(match["text"] or "")

        def reply(mail: Json) -> Call | None:
            return _reply(mail, text=text)

        return _on_mail(transcript, which=match["which"], call=reply)
    return None


def act(action_type: str, params: Json, *, reason: str = "The user asked for it.") -> Call:
    """The tool that is named after the action."""
    return Call(name=action_type, arguments=params | {"reason": reason})


def first_project(transcript: Transcript) -> str:
    """The first project that tasks may be created in; else PROJ."""
    offer = transcript.offer("create_jira_task")
    projects = offer.choices("project_key") if offer else ()
    return next(filter(None, projects), "PROJ")


def holding_reply(*, email_id: str, to: str, subject: str) -> Call:
    """A draft that promises an answer and nothing else."""
    subject = shortened(one_line(subject), limit=200)
    bare = re.sub(r"^(?:(?:re|sv|aw|fwd?|vb|wg)\s*:\s*)+", "", subject, flags=re.IGNORECASE)
    body = (
        f"Thanks for your message about “{bare}”. I will look into it and get back to you."
        if bare
        else "Thanks for your message. I will look into it and get back to you."
    )
    params: Json = {"reply_to_id": email_id, "to": [to], "subject": f"Re: {bare}", "body": body}
    return act("draft", params, reason="The sender expects an answer.")


def _archive(mail: Json) -> Call:
    return act("archive", {"email_id": as_text(mail.get("id"))})


def _reply(mail: Json, *, text: str) -> Call | None:
    to = as_text(sender_of(mail).get("address"))
    if not to:
        return None
    call = holding_reply(
        email_id=as_text(mail.get("id")), to=to, subject=as_text(mail.get("title"))
    )
    return act("draft", call.arguments | ({"body": first_upper(text)} if text else {}))


def _label(transcript: Transcript, match: re.Match[str]) -> Reply:
    offer = transcript.offer("classify")
    label = offer.choice("label_id", match["label"]) if offer else None
    if offer and label is None:
        names = [quoted(name) for name in offer.choices("label_id")]
        known = f" I may use {listed(names)}." if names else ""
        return Reply(text=f"There is no label “{quoted(match['label'])}” that I may use.{known}")

    def classify(mail: Json) -> Call:
        params: Json = {"email_id": as_text(mail.get("id")), "label_id": label or match["label"]}
        return act("classify", params)

    return _on_mail(transcript, which=match["which"], call=classify)


def _create_issue(transcript: Transcript, match: re.Match[str]) -> Reply:
    kind = match["type"].lower()
    summary, _, description = match["summary"].partition("\n")
    params: Json = {
        "project_key": (match["project"] or first_project(transcript)).upper(),
        "summary": shortened(one_line(summary), limit=200),
        "type": kind if kind in ("bug", "story") else "task",
    }
    if description.strip():
        params["description"] = description.strip()
    return _carried_out(transcript, (act("create_jira_task", params),))


def _send(transcript: Transcript, match: re.Match[str]) -> Reply:
    to = ADDRESS.findall(match["to"])
    if not to:
        return Reply(text="To whom? Please give the whole address, such as name@example.com.")
    text = match["text"].strip().strip("“”\"'")
    about = _ABOUT.search(match["what"])
    subject = about["subject"] if about else text
    params: Json = {
        "to": to,
        "subject": first_upper(shortened(one_line(subject), limit=60)),
        "body": first_upper(text),
    }
    return _carried_out(transcript, (act("send_email", params),))


def _on_mail(transcript: Transcript, *, which: str, call: MailCall) -> Reply:
    """Search the mail that is meant, then act on it."""
    wanted = content_words(which, without=questions.SOURCE_WORDS["gmail"] | {"all", "every"})
    if not wanted:
        return Reply(text="Which mail do you mean? Please name its subject or its sender.")
    found = transcript.results_of("retrieve_context")
    if not found:
        arguments: Json = {"query": " ".join(wanted)[:300], "sources": ["gmail"], "limit": 5}
        return Reply(calls=(Call(name="retrieve_context", arguments=arguments),))
    if not found[0].success:
        return Reply(text=f"I could not search your mail. {quoted(found[0].refusal, limit=400)}")
    several = bool(re.match(r"(?:all|every)\b", which, re.IGNORECASE))
    mails = _meant(as_objects(found[0].data.get("items")), wanted=wanted, several=several)
    calls = tuple(one for one in (call(mail) for mail in mails) if one is not None)
    if not calls:
        return Reply(text=f"I found no mail that matches “{quoted(' '.join(wanted))}”.")
    return _carried_out(transcript, calls)


def _meant(items: tuple[Json, ...], *, wanted: list[str], several: bool) -> list[Json]:
    """The mail with most of the words asked for; every mail with one, when all are meant."""
    stems = {stem(word.casefold()) for word in wanted}

    def hits(mail: Json) -> int:
        sender = sender_of(mail)
        parts = (mail.get("title"), said_in(mail), sender.get("name"), sender.get("address"))
        text = " ".join(map(as_text, parts)).casefold()
        return len(stems & {stem(word) for word in re.findall(r"\w+", text)})

    matching = [mail for mail in items if mail.get("type") == "email" and hits(mail)]
    return matching[:MOST_MAILS] if several else sorted(matching, key=hits, reverse=True)[:1]


def _carried_out(transcript: Transcript, calls: tuple[Call, ...]) -> Reply:
    """The calls that are left to make, or what came of all. One that nothing is named after is made
    all the same: then its refusal is recorded."""
    remaining = transcript.remaining(calls)
    if remaining:
        return Reply(calls=remaining)
    results = transcript.results_of(*(call.name for call in calls))
    return Reply(text="\n".join(outcomes.describe_outcome(result) for result in results))
