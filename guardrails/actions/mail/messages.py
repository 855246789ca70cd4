"""What drafts and sent mail have in common: receivers in headers, and text."""

from collections.abc import Iterable, Sequence

from guardrails.facts.content import Content
from guardrails.facts.exposure import ExposedObject, Exposure, Reader, expose, with_readers
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from guardrails.facts.targets import Role, Target
from guardrails.facts.text import quote


def receivers(role: Role, addresses: Sequence[str], *, field: str = "") -> tuple[Target, ...]:
    """The addresses of one argument as targets; `field` names it where it isn't the role."""
    if not addresses:
        return ()
    name = field or role
    return tuple(
        [
            Target(path=f"{name}[{index}]", kind="recipient", value=address, role=role)
            for index, address in enumerate(addresses)
        ]
    )


def named(addresses: Sequence[str]) -> str:
    """The receivers in words, every one of them: the last may be the one that matters."""
    return ", ".join(addresses)


def exposed(facts: Facts, coming: Iterable[Reader]) -> tuple[Exposure, ...]:
    """The whole mail at hand, with its attachments, for these receivers."""
    mail, content = facts.email, facts.content or Content()
    if mail is None:
        return ()
    addresses = facts.others((mail.sender, *mail.to, *mail.cc))
    before, after = with_readers([Reader(one, "receiver") for one in addresses], coming)
    found = ExposedObject("email", mail.id, mail.subject, mail.sender, facts.object_places)
    return expose(found, mail.body_text, content, before=before, after=after)


def subject_of(facts: Facts) -> str:
    """The subject of the mail or draft at hand, quoted."""
    mail = facts.email or facts.draft
    return quote(mail.subject if mail else "", empty=phrase("no subject"))
