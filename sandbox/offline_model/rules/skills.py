"""“Deal with the invoice from CloudNest”: the mail, the skill that fits it, and what that says.

A skill's lines are followed as far as they name what these rules can do: label, look in the
calendar, draft a reply, note who, which number, how much and when. The rest is left to the person,
and said to be.
"""

import re
from collections.abc import Generator, Sequence
from datetime import timedelta

from sandbox.offline_model.language import content_words, listed, quoted, word_set
from sandbox.offline_model.rules import agenda, dates, mails, outcomes
from sandbox.offline_model.rules.acting import act
from sandbox.offline_model.rules.concepts import Text, concepts_of
from sandbox.offline_model.rules.item_facts import cite, title_of
from sandbox.offline_model.script import Results, Script, call, side_by_side
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
from sandbox.offline_model.vectors import stem, words_of

WISH = re.compile(
    r"(?:deal with|handle|take care of|process|see to|work through|kümmere? dich um|bearbeite|"
    r"erledige)\s+(?P<which>.+)",
    re.IGNORECASE | re.DOTALL,
)
_MAIL_WORDS = word_set("mail mails email emails message request the from of vom von die der das")
_COMMON = word_set("mail mails how what when use answer do with that holds asks a an to")
_LABEL = re.compile(r"\blabel\b.{0,60}?[“\"](?P<label>[^”\"]{1,60})[”\"]", re.IGNORECASE)
_NEVER = re.compile(r"\b(?:never|do not|don't|nie|nicht)\b", re.IGNORECASE)
_AMOUNT = re.compile(
    r"(?P<value>(?:[$€£]\s?|\b(?:EUR|USD|SEK|GBP)\s?)\d[\d.,]*\d|"
    r"\b\d[\d.,]*\s?(?:EUR|USD|SEK|GBP|kr|€|euros?)\b)"
)
_DUE = re.compile(
    r"\b(?:due|payable|charged|fällig)\b.{0,40}?(?P<value>\d{4}-\d\d-\d\d|\d{1,2}\.? [A-Z]\w+|"
    r"[A-Z][a-z]+ \d{1,2}\b|the \d{1,2}(?:st|nd|rd|th))",
    re.DOTALL,
)
_INVOICE = re.compile(r"\b(?P<value>[A-Z]{1,4}-?\d{3,})\b")
_HOUR = re.compile(r"\b\d{2}:\d{2}\b")
REASON = "The skill says so."
AHEAD = 7  # days that hold five working days
OFFERED = 2


def fitting(transcript: Transcript, text: str) -> Json | None:
    """The listed skill whose description has most of the words of a text."""
    held = {stem(word) for word in words_of(text)}

    def hits(skill: Json) -> int:
        said = f"{as_text(skill.get('name'))} {as_text(skill.get('description'))}"
        return len(held & {stem(word) for word in words_of(said)} - {stem(w) for w in _COMMON})

    best = max(transcript.skills, key=hits, default=None)
    return best if best and hits(best) else None


def script(transcript: Transcript, which: str) -> Script:
    """Find the mail that is meant, load the skill that fits, and follow it."""
    wanted = content_words(which, without=_MAIL_WORDS)
    if not wanted:
        return "Which mail do you mean? Please name its subject or its sender."
    [found] = yield call("retrieve_context", query=" ".join(wanted)[:300], types=["email"], limit=5)
    if not found.success:
        return f"I could not search your mail. {quoted(found.refusal, limit=400)}"
    mail = meant_mail(as_objects(found.data.get("items")), " ".join(wanted))
    if mail is None:
        return f"I found no mail that matches “{quoted(' '.join(wanted))}”."
    skill = fitting(transcript, f"{which} {as_text(mail.get('title'))}")
    if skill is None or "load_skill" not in transcript.tools:
        return f"I found “{title_of(mail)}”{cite(mail)}, but no skill says what to do with it."
    loaded, opened = yield side_by_side(
        call("load_skill", name=as_text(skill.get("name"))),
        call("open_item", item_id=as_text(mail.get("id"))),
    )
    if not loaded.success:
        return f"I could not read the skill. {quoted(loaded.refusal, limit=400)}"
    mail = mail | (opened.data if opened.success else {})
    name = quoted(as_text(skill.get("name")))
    head = f"I followed the skill “{name}” for “{title_of(mail)}”{cite(mail)}:"
    done = yield from _followed(transcript, as_text(loaded.data.get("content")), mail)
    return "\n".join([head, *(f"- {line}" for line in done)])


def meant_mail(items: Sequence[Json], wanted: str) -> Json | None:
    concepts = concepts_of(wanted)

    def hits(mail: Json) -> int:
        sender = sender_of(mail)
        parts = (mail.get("title"), said_in(mail), sender.get("name"), sender.get("address"))
        text = Text(" ".join(map(as_text, parts)))
        return sum(concept.is_in(text) for concept in concepts)

    best = max(items, key=hits, default=None)
    return best if best is not None and hits(best) else None


def _followed(
    transcript: Transcript, skill: str, mail: Json
) -> Generator[Reply, Results, list[str]]:
    """What came of each line of the skill that can be followed, in its order."""
    done: list[str] = []
    times: list[str] = []
    for line in map(str.strip, skill.splitlines()):
        if not line or _NEVER.match(line.lstrip("0123456789.) ")):
            continue
        if label := _LABEL.search(line):
            done.append((yield from _act(_classify(transcript, mail, label["label"]))))
        elif re.search(r"\b(?:calendar|kalender)\b", line, re.IGNORECASE):
            times = yield from _look_for_times(transcript, line)
            done.append(f"Free in your calendar: {listed(times)}." if times else "Nothing is free.")
        elif re.search(r"\b(?:draft|entwirf)\b", line, re.IGNORECASE):
            done.append((yield from _act(_draft(transcript, mail, times))))
        elif re.search(r"\b(?:note|notiere)\b", line, re.IGNORECASE):
            done.append(_noted(mail))
    return done or ["It names nothing that I can do. Please read it yourself."]


def _act(wanted: Call | str) -> Script:
    """What came of an action, or why it is not tried."""
    if isinstance(wanted, str):
        return wanted
    [result] = yield Reply(calls=(wanted,))
    return outcomes.describe_outcome(result)


def _classify(transcript: Transcript, mail: Json, named: str) -> Call | str:
    offer = transcript.offer("classify")
    label = offer.choice("label_id", named) if offer else named
    if label is None:
        return f"There is no label “{quoted(named)}” that I may use."
    params: Json = {"email_id": as_text(mail.get("id")), "label_id": label}
    return act("classify", params, reason=REASON)


def _draft(transcript: Transcript, mail: Json, times: Sequence[str]) -> Call | str:
    to = as_text(sender_of(mail).get("address"))
    if not to:
        return "The mail names nobody to answer."
    name = as_text(transcript.user.get("name"))
    zone = as_text(transcript.user.get("time_zone"))
    holding = mails.holding_reply(
        email_id=as_text(mail.get("id")), to=to, subject=as_text(mail.get("title"))
    )
    if not times:
        return holding
    offer = " or ".join(times) + (f" ({zone})" if zone else "")
    body = f"Thank you for your message. Would one of these times suit you: {offer}?"
    params = holding.arguments | {"body": f"{body}\n\n{name}".strip()}
    return act("draft", params, reason=REASON)


def _look_for_times(transcript: Transcript, line: str) -> Generator[Reply, Results, list[str]]:
    """A free time on each of the next working days, between the hours that the line names."""
    since = transcript.now.date() + timedelta(days=1)
    hours = [found[0] for found in _HOUR.finditer(line)][:2]
    edges = dict(zip(("day_begins", "day_ends"), hours, strict=False)) if len(hours) == 2 else {}
    [found] = yield call(
        "read_calendar",
        since=since.isoformat(),
        until=(since + timedelta(days=AHEAD)).isoformat(),
        free_minutes=agenda.FREE_MINUTES,
        **edges,
    )
    return _free_times(as_objects(found.data.get("free"))) if found.success else []


def _noted(mail: Json) -> str:
    """Who, which number, how much, when: as it stands in the mail."""
    text = f"{as_text(mail.get('title'))}\n{as_text(mail.get('text'))}"
    sender = sender_of(mail)
    found = {
        "from": quoted(as_text(sender.get("name")) or as_text(sender.get("address"))),
        "number": _first(_INVOICE, text),
        "amount": _first(_AMOUNT, text),
        "due": _first(_DUE, text),
    }
    return (
        "Noted: " + ", ".join(f"{key} {value or 'not named'}" for key, value in found.items()) + "."
    )


def _first(how: re.Pattern[str], text: str) -> str:
    found = how.search(text)
    return quoted(found["value"]) if found else ""


def _free_times(slots: Sequence[Json]) -> list[str]:
    """The first slot of each of two days."""
    by_day: dict[str, str] = {}
    for slot in slots:
        begins = dates.moment(slot.get("begins"))
        if begins and len(by_day) < OFFERED:
            by_day.setdefault(begins.date().isoformat(), agenda.slot_in_words(slot, False))
    return list(by_day.values())
