"""Who is known to tell people about their accounts: the list that ships with Remit, and how an
operator's own is read. Pure.

A line names a domain with its subdomains, or one address; `dmarc` or `open`; and what they send.
"""

from collections.abc import Mapping
from importlib import resources
from typing import Literal, NamedTuple, get_args

from guardrails.facts.targets import address, domain

Kind = Literal["access", "account", "code", "payment", "signin"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Authentication = Literal["dmarc", "open"]


class Sender(NamedTuple):
    """`must_pass`: mail of theirs that does not pass DMARC is to be doubted."""

    name: str
    must_pass: bool
    kinds: tuple[Kind, ...]


def read(text: str) -> dict[str, Sender]:
    """The senders of a list by name. Raises ValueError with a sentence that names the line."""
    found: dict[str, Sender] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            sender = _sender(line.split())
        except ValueError as error:
            raise ValueError(f"Line {number} {error}.") from error
        if sender.name in found:
            raise ValueError(f"Line {number} names {sender.name} again.")
        found[sender.name] = sender
    return found


def find(sender: str, known: Mapping[str, Sender]) -> Sender | None:
    """Who it is that sends from this address: listed by it, by its domain or one above that."""
    folded = sender.casefold()
    if folded in known:
        return known[folded]
    name = folded.rpartition("@")[2]
    while "." in name:
        if name in known:
            return known[name]
        name = name.partition(".")[2]
    return None


def _sender(words: list[str]) -> Sender:
    if len(words) != 3:
        raise ValueError("is not a sender, “dmarc” or “open”, and kinds")
    name, authentication, listed = words
    if (address(name) if "@" in name else domain(name)) != name or name != name.lower():
        raise ValueError("does not name a sender in small letters")
    if authentication not in get_args(Authentication):
        raise ValueError(f"says “{authentication}” and not “dmarc” or “open”")
    kinds = tuple(kind for kind in KINDS if kind in listed.split(","))
    if ",".join(kinds) != listed:
        raise ValueError(f"says “{listed}” and not some of {', '.join(KINDS)}, in this order")
    return Sender(name=name, must_pass=authentication == "dmarc", kinds=kinds)


SHIPPED: Mapping[str, Sender] = read(
    resources.files("guardrails.facts").joinpath("security_senders.txt").read_text("utf-8")
)
