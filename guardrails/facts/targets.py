"""Whom and what an action reaches: strict addresses, and the targets of arguments. Pure.

An address is one ASCII addr-spec and nothing else. What is compared is what is sent: only
the case of the domain is folded, and the folded form is the one that goes out.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, Field

from guardrails.facts.classes import Is

TargetKind = Literal[
    "label", "recipient", "recipient_domain", "project", "assignee", "folder", "status", "tool"
]
Role = Literal["to", "cc", "bcc", "audience", "target"]
Catalogue = Literal["labels", "projects", "mail_folders", "drive_folders"]

MAX_ADDRESS = 254
MAX_LOCAL = 64
MAX_DOMAIN = 253
INDEX = re.compile(r"\[\d+\]")
# Without ! and %, which some servers route by, and ?, which encoded words need.
ATOM = r"[A-Za-z0-9#$&'*+/=^_`{|}~-]+"
LOCAL = re.compile(rf"{ATOM}(?:\.{ATOM})*")
LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
TOP_LEVEL = re.compile(r"[a-z]{2,63}")
WORDS = re.compile(r"[a-z0-9]+")
# How such names begin, without their hyphens and dots.
UNATTENDED = ("noreply", "donotreply", "notreply", "mailerdaemon", "bounce", "autoreply")


@lru_cache(maxsize=1024)
def place_of(path: str) -> str:
    """What a path such as `to[0]` or `event.attendees[1]` stands in, in words: “to”, “event
    attendees”."""
    return INDEX.sub("", path).replace(".", " ").replace("_", " ")


class Target(NamedTuple):
    """One value that decides where an action goes. `path` names it, such as `to[0]`.

    `catalogue` is the provider's list in which the value must still be found, under the name
    the operator saw when it was listed.
    """

    path: str
    kind: TargetKind
    value: str
    role: Role = "target"
    catalogue: Catalogue | None = None

    @property
    def place(self) -> str:
        return place_of(self.path)

    @property
    def is_receiver(self) -> bool:
        return self.kind == "recipient"

    @property
    def is_person(self) -> bool:
        """Whether it is the address of a person: a receiver, or who is given an issue."""
        return self.kind in ("recipient", "assignee")


def audience(path: str, addresses: Iterable[str]) -> tuple[Target, ...] | None:
    """People who are reached without being named in the arguments, as targets. None when one
    of them is not one plain address: then nobody knows who that is."""
    found = []
    for index, text in enumerate(addresses):
        plain = address_or_none(text)
        if plain is None:
            return None
        found.append(
            Target(path=f"{path}[{index}]", kind="recipient", value=plain, role="audience")
        )
    return tuple(found)


@lru_cache(maxsize=4096)
def domain(text: str) -> str:
    """The domain in lower case. Raises ValueError with a sentence for anything but a plain
    ASCII host name of two or more labels (no `xn--`, no trailing dot, no IP address)."""
    folded = text.lower() if text.isascii() else text
    labels = folded.split(".")
    if not folded.isascii():
        raise ValueError("has a domain with letters outside ASCII")
    if len(labels) < 2 or len(folded) > MAX_DOMAIN:
        raise ValueError("has no plain domain such as company.com")
    if any(not LABEL.fullmatch(label) for label in labels):
        raise ValueError("has no plain domain such as company.com")
    if any(label.startswith("xn--") for label in labels):
        raise ValueError("has a domain in punycode, which can imitate another one")
    if not TOP_LEVEL.fullmatch(labels[-1]):
        raise ValueError("has no plain domain such as company.com")
    return folded


@lru_cache(maxsize=4096)
def address(text: str) -> str:
    """One addr-spec, its domain in lower case. Raises ValueError with a sentence.

    Refused: display names, several addresses, groups, quoted local parts, comments, blanks,
    hidden characters, letters outside ASCII, punycode, trailing dots, IP domains.
    """
    local, at, host = text.rpartition("@")
    if not at or len(text) > MAX_ADDRESS or len(local) > MAX_LOCAL:
        raise ValueError("is not one plain address such as ada@company.com")
    if not LOCAL.fullmatch(local):
        raise ValueError("is not one plain address such as ada@company.com")
    return f"{local}@{domain(host)}"


def address_or_none(text: str) -> str | None:
    """The address of provider data, or None when it is not one plain address."""
    try:
        return address(text)
    except ValueError:
        return None


def domain_of(plain_address: str) -> str:
    """The domain of an address that `address` returned. Subdomains are other domains."""
    return plain_address.rpartition("@")[2]


def is_unattended(plain_address: str) -> bool:
    """Whether the address says of itself that nobody reads what is sent to it: in its first words
    (`no-reply+7`) or after others (`orders.noreply`)."""
    words = WORDS.findall(plain_address.rpartition("@")[0].lower())
    return any("".join(words[start:]).startswith(UNATTENDED) for start in range(len(words)))


def plain_addresses(texts: Iterable[str]) -> frozenset[str]:
    """Those of the texts that are one plain address."""
    return frozenset([found for text in texts if (found := address_or_none(text)) is not None])


Address = Annotated[str, Field(max_length=MAX_ADDRESS), AfterValidator(address), Is("target")]
Domain = Annotated[str, Field(max_length=MAX_DOMAIN), AfterValidator(domain)]
# JSON has lists where a value of ours is a tuple; the items stay strict.
Addresses = Annotated[tuple[Address, ...], Field(strict=False, max_length=50)]
Domains = Annotated[tuple[Domain, ...], Field(strict=False, max_length=200)]
