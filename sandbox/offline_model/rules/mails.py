"""“Archive …”, “label … as …”, “mark … as read”, “move … to Receipts”, “forward … to …”,
“delete …”, “draft a reply to …”: commands on mail that came, in English, German, French or
Spanish."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sandbox.offline_model import german
from sandbox.offline_model.language import (
    ADDRESS,
    content_words,
    first_upper,
    listed,
    one_line,
    quoted,
    shortened,
    word_set,
)
from sandbox.offline_model.rules import dates, named, questions
from sandbox.offline_model.rules.acting import UNSAID, act, carry_out, say_only
from sandbox.offline_model.rules.people import address_of, mails_in, people_called
from sandbox.offline_model.script import Script, call
from sandbox.offline_model.transcript import Call, Json, Transcript, as_text, said_in, sender_of
from sandbox.offline_model.vectors import stem

MOST_MAILS = 5
MOST_FOUND = 10
FLAGS = re.IGNORECASE | re.DOTALL
MAIL = r"(?:e-?mails?|mails?|messages?|letters?|newsletters?|courriels?|correos?|nachricht(?:en)?)"
_ARCHIVE = re.compile(r"(?:archive|archiviere?|archiva)\s+(?P<which>.+)", FLAGS)
_READ = re.compile(
    r"(?:mark|markiere?)\s+(?P<which>.+?)\s+(?:as|als)\s+(?:read|gelesen)|"
    r"(?:marca|marque)\s+(?:como\s+leíd[oa]s?|comme\s+lue?s?)\s+(?P<other>.+)",
    FLAGS,
)
_LABEL = re.compile(
    r"(?:label|tag|mark|classify)\s+(?P<which>.+?)\s+as\s+[“\"']?(?P<label>[^“”\"]+?)[”\"']?",
    FLAGS,
)
_MOVE = re.compile(
    r"(?:move|file|verschiebe?|déplace|mueve)\s+(?P<which>.+?)\s+"
    r"(?:to|into|under|nach|in|vers|dans|a)\s+(?:the\s+|my\s+|den\s+|le\s+|la\s+)?"
    r"(?:folder\s+|ordner\s+|dossier\s+|carpeta\s+)?[“„«\"]?(?P<folder>[\w /-]+?)[”“»\"]?",
    FLAGS,
)
_FORWARD = re.compile(
    r"forward\s+(?P<which>.+?)\s+to\s+(?P<to>.+)|"
    r"leite?\s+(?P<other>.+?)\s+an\s+(?P<an>.+?)\s+weiter",
    FLAGS,
)
_TRASH = re.compile(
    r"(?:delete|trash|lösche?|supprime|borra|elimina)\s+(?P<which>.+?)"
    r"(?:\s+for good|\s+endgültig)?",
    FLAGS,
)
_REPLY = re.compile(
    r"(?:(?:draft|write|prepare)\s+(?:an?\s+|the\s+)?(?:\w+\s+)?(?:reply|answer|response)\s+to|"
    r"(?:entwirf|schreibe?|verfasse?)\s+(?:eine\s+)?antwort\s+(?:an|auf)|"
    r"(?:prépare|rédige|écris)\s+(?:un\s+brouillon\s+de\s+|une\s+)?réponse\s+(?:à|pour)|"
    r"(?:prepara|escribe|redacta)\s+(?:un\s+borrador\s+de\s+|una\s+)?respuesta\s+(?:a|para)|"
    r"responde\s+con\s+un\s+borrador\s+a)\s+(?P<rest>.+)",
    FLAGS,
)
_SAYING = re.compile(
    r"(?P<which>.+?)(?:\s+(?:saying|that says|die sagt|qui dit|que diga):?\s+(?:that\s+|dass\s+)?|"
    r"\s?:\s+)(?P<text>.+)",
    FLAGS,
)
# Orders about a text, and words that say what is to be in it: no rule can follow them.
ORDER = re.compile(
    r"(?:\A|[.!?;]\s+)(?:say|mention|tell|ask|explain|add|propose|give|sage?|erwähne|dis|di)\b",
    re.IGNORECASE,
)
_UNDICTATED = re.compile(
    r"\b(?:with|that|telling|thanking|explaining|mit|dass|avec|con)\b", re.IGNORECASE
)
ABOUT = re.compile(r"\b(?:about|über|zu[rm]?|sur|sobre|on)\s+(?P<topic>.+)", FLAGS)
_SEVERAL = re.compile(r"(?:all|every|alle|tous|toutes|todos|todas)\b", re.IGNORECASE)
_NEWEST = re.compile(
    r"\b(?:latest|last|newest|most recent|neueste[nrs]?|letzte[nrs]?|dernier|dernière|últim[oa])\b",
    re.IGNORECASE,
)
_OWNER = re.compile(
    r"(?:the\s+)?(?P<person>[^\W\d_a-zß-ÿ][\w. -]{0,60}?)['\u2019]s?\s+(?P<what>.+)", re.DOTALL
)
_FROM = re.compile(
    rf"\b(?i:{MAIL})\s+(?i:from|of|by|von|de)\s+(?P<person>[^\W\d_a-zß-ÿ].*)", re.DOTALL
)
_NAME = re.compile(
    r"(?P<person>[^\W\d_a-zß-ÿ][\w'\u2019-]*(?:\s+[^\W\d_a-zß-ÿ][\w'\u2019-]*){0,3})\b"
)
_LITTLE = word_set(
    """all every rückfrage courriel correo le la les l de du des d un une mon ma mes el los las una
    mi mis al au aux"""
)
MailCall = Callable[[Json], Call | None]


@dataclass(frozen=True, kw_only=True)
class Which:
    """Which mail is meant: whose, about what, the newest, or all that fit."""

    person: str
    words: Sequence[str]
    is_newest: bool
    several: bool


def script(transcript: Transcript, request: str) -> Script | None:
    """The steps of such a command; None where the request is none."""
    plain = request.rstrip(".!? ")
    if match := _REPLY.fullmatch(request):
        return _reply(match["rest"])
    if match := _ARCHIVE.fullmatch(plain):
        return _on_mail(match["which"], _with("archive"))
    if match := _READ.fullmatch(plain):
        return _on_mail(match["which"] or match["other"], _with("mark_read"))
    if match := _LABEL.fullmatch(plain):
        return _label(transcript, match)
    if match := _FORWARD.fullmatch(plain):
        return _forward(request, match["which"] or match["other"], match["to"] or match["an"])
    if (match := _MOVE.fullmatch(plain)) and (folder := _folder(transcript, match["folder"])):
        return _on_mail(match["which"], _with("move_email", folder_id=folder))
    if match := _TRASH.fullmatch(plain):
        return _on_mail(match["which"], _with("trash_email"))
    return None


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


def _with(action: str, **fields: str) -> MailCall:
    return lambda mail: act(action, {"email_id": as_text(mail.get("id")), **fields})


def _reply(rest: str) -> Script:
    """What is dictated, as a draft; else one that promises an answer. What only somebody who has
    read and understood could write is left alone."""
    said = _SAYING.fullmatch(rest)
    which, text = (said["which"], one_line(said["text"])) if said else (rest.rstrip(".!? "), "")
    is_open = not text and _UNDICTATED.search(ABOUT.sub("", which))
    if is_open or ORDER.search(text):
        return say_only(f"I drafted nothing. {UNSAID}")

    def draft(mail: Json) -> Call | None:
        to = as_text(sender_of(mail).get("address"))
        if not to:
            return None
        holding = holding_reply(
            email_id=as_text(mail.get("id")), to=to, subject=as_text(mail.get("title"))
        )
        return act("draft", holding.arguments | ({"body": first_upper(text)} if text else {}))

    return _on_mail(which, draft)


def _label(transcript: Transcript, match: re.Match[str]) -> Script:
    offer = transcript.offer("classify")
    label = offer.choice("label_id", match["label"]) if offer else None
    if offer and label is None:
        names = [quoted(name) for name in offer.choices("label_id")]
        known = f" I may use {listed(names)}." if names else ""
        return say_only(f"There is no label “{quoted(match['label'])}” that I may use.{known}")
    return _on_mail(match["which"], _with("classify", label_id=label or match["label"]))


def _folder(transcript: Transcript, said: str) -> str:
    offer = transcript.offer("move_email")
    return (offer and offer.choice("folder_id", said)) or ""


def _forward(request: str, which: str, to: str) -> Script:
    people = ADDRESS.findall(to)
    if not people:
        return say_only(
            "An wen? Bitte geben Sie die ganze Adresse an; weitergeleitet wurde nichts."
            if german.is_german(request)
            else "To whom? Please give the whole address; nothing was forwarded."
        )
    return _on_mail(
        which, lambda mail: act("forward_email", {"to": people, "email_id": mail.get("id")})
    )


def _on_mail(which: str, call_for: MailCall) -> Script:
    """Find the mail that is meant, then act on it."""
    mails = yield from _find(which)
    if isinstance(mails, str):
        return mails
    calls = [one for one in map(call_for, mails) if one is not None]
    if not calls:
        return "I found no mail whose sender has an address."
    return (yield from carry_out(*calls))


def _read(which: str) -> Which:
    newest, several = bool(_NEWEST.search(which)), bool(_SEVERAL.match(which))
    bare = _NEWEST.sub(" ", which)
    about = ABOUT.search(bare)
    head = bare[: about.start()] if about else bare
    found = _OWNER.fullmatch(head.strip()) or _FROM.search(head) or _NAME.fullmatch(head.strip())
    person = found["person"].strip() if found and not several else ""
    topic = re.sub(rf"{re.escape(person)}(?:['\u2019]s?)?", " ", bare, count=1) if person else bare
    left_out = questions.SOURCE_WORDS["gmail"] | _LITTLE | german.LITTLE_WORDS
    words = content_words(topic, without=left_out)
    return Which(person=person, words=words, is_newest=newest, several=several)


def _find(which: str) -> named.Finding:
    """The mails that are meant, or the sentence that says why none is. The user is asked where a
    name is that of several who wrote."""
    meant = _read(which)
    query = " ".join([*meant.words, *([meant.person] if meant.person else [])])[:300]
    if not query:
        return "Which mail do you mean? Please name its subject or its sender."
    search = {"query": query, "sources": ["gmail"], "limit": MOST_FOUND}
    [found] = yield call("retrieve_context", entity_filter=meant.person, **search)
    if meant.person and found.success and not mails_in(found):
        [found] = yield call("retrieve_context", **search)
    if not found.success:
        return f"I could not search your mail. {quoted(found.refusal, limit=400)}"
    mails = mails_in(found)
    people = people_called(meant.person, found)
    if people:
        addresses = {one.address for one in people}
        mails = [one for one in mails if address_of(one) in addresses]
    wanted = meant.words or ([] if people else [meant.person])
    stems = {stem(part) for word in wanted for part in re.findall(r"\w+", word.casefold())}
    rated = [(len(stems & _stems(one)), one) for one in mails]
    best = max((hits for hits, _ in rated), default=0)
    if not rated or (stems and not best):
        return f"I found no mail that matches “{quoted(query)}”."
    if meant.several:
        return [one for hits, one in rated if hits][:MOST_MAILS]
    alike = [one for hits, one in rated if hits == best]
    writers = {address_of(one) for one in alike}
    if people and len(writers) > 1:
        options = {one.option: one.address for one in people if one.address in writers}
        answer = yield from named.ask(f"Which {quoted(meant.person)} did you mean?", [*options])
        if answer is None:
            return f"I could not tell which {quoted(meant.person)} you mean."
        alike = [one for one in alike if address_of(one) == options[answer]]
    is_by_date = meant.is_newest or (people and not meant.words)
    return [max(alike, key=_date) if is_by_date else alike[0]]


def _date(mail: Json) -> float:
    moment = dates.moment(mail.get("date"))
    return moment.timestamp() if moment else 0.0


def _stems(mail: Json) -> set[str]:
    sender = sender_of(mail)
    parts = (mail.get("title"), said_in(mail), sender.get("name"), sender.get("address"))
    text = " ".join(map(as_text, parts)).casefold()
    return {stem(word) for word in re.findall(r"\w+", text)}
