"""What drafts and sent mail have in common: receivers in headers, and text."""

from collections.abc import Iterable, Sequence

from guardrails.facts.content import Content
from guardrails.facts.exposure import PASSAGE, Exposure, Reader, with_readers
from guardrails.facts.facts import Facts
from guardrails.facts.targets import Role, Target


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
    return (
        Exposure(
            kind="email",
            id=mail.id,
            title=mail.subject,
            owner=mail.sender,
            before=before,
            after=after,
            passage=mail.body_text[:PASSAGE],
            digest=content.digest,
            chars=content.chars,
            sensitive=content.sensitive,
            places=facts.object_places,
        ),
    )
