"""Where a value that nobody typed or listed was found: in which mail, by whom; and who let in whom
the action reaches without naming them. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from guardrails.facts.belonging import how_let_in
from guardrails.facts.facts import Facts, ObjectKind
from guardrails.facts.phrases import phrase
from guardrails.facts.text import visible
from integrations.contracts import Email

LONGEST = 320  # an address; whole texts are looked for nowhere
SHORTEST = 3
SUBJECT_SHOWN = 80


def first_seen(
    arguments: Mapping[str, Any],
    *,
    reached: Mapping[str, str],
    kind: ObjectKind | None,
    provenance: Mapping[str, str],
    facts: Facts,
) -> dict[str, str]:
    """By path, for values of unknown provenance: the oldest mail of the thread at hand that
    has the value in its headers or text, in words; for people of the user's own object of this
    kind, also those `reached` by no argument, who let them in. What was found nowhere is left
    out."""
    mails = sorted(facts.thread or ((facts.email,) if facts.email else ()), key=_age)
    found = {}
    for path, value in (*_texts(arguments), *reached.items()):
        if provenance.get(path) != "X" or not SHORTEST <= len(value) <= LONGEST:
            continue
        if how := how_let_in(facts, kind, value):
            found[path] = how
            continue
        mail = next((mail for mail in mails if value.casefold() in _text_of(mail)), None)
        if mail is not None:
            subject = visible(" ".join(mail.subject.split()), limit=SUBJECT_SHOWN)
            found[path] = phrase(
                "NEW: first seen in a mail from %(who)s of %(day)s (“%(subject)s”)",
                who=visible(mail.sender, limit=LONGEST),
                day=f"{mail.date:%Y-%m-%d}",
                subject=subject,
            )
    return found


def _age(mail: Email) -> tuple[Any, str]:
    return mail.date, mail.id


def _text_of(mail: Email) -> str:
    parts = (mail.sender, mail.sender_name, *mail.to, *mail.cc, *mail.reply_to, mail.subject)
    return "\n".join((*parts, mail.body_text, mail.body_html or "")).casefold()


def _texts(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in arguments.items():
        if isinstance(value, str):
            yield name, value
        elif isinstance(value, list | tuple):
            yield from ((f"{name}[{at}]", one) for at, one in enumerate(value) if one)
