"""Which addresses are mailing lists: one address, and nobody knows how many readers. Pure.

What says so was written by strangers. It only narrows: a false claim costs a question.
"""

from guardrails.facts.targets import address_or_none, domain_of
from integrations.contracts import Email

# Domains of nothing but lists, and how hosts of lists are named.
DOMAINS = frozenset({"freelists.org", "googlegroups.com", "groups.io", "yahoogroups.com"})
HOST_NAMES = frozenset({"groups", "lists", "listserv", "mailman"})


def is_list_host(plain_address: str) -> bool:
    """Whether there are only lists at the address's domain: `lists.debian.org`."""
    labels = domain_of(plain_address).lower().split(".")
    return ".".join(labels[-2:]) in DOMAINS or not HOST_NAMES.isdisjoint(labels[:-2])


def posted_to(mail: Email) -> frozenset[str]:
    """The addresses of the list that the mail came through, in small letters: as its headers
    name it. Where they say only that there is one, everybody whom the mail names could be it."""
    if not (mail.list_post or mail.list_id or mail.precedence == "list"):
        return frozenset()
    named = {one.lower() for one in (mail.list_post, _address_of(mail.list_id)) if one}
    nameless = mail.precedence == "list" and mail.list_post is None
    written = [one.lower() for one in (*mail.to, *mail.cc, *mail.reply_to)]
    if nameless and named.isdisjoint([*written, mail.sender.lower()]):
        named |= {one for one in written if one != mail.sender.lower()}
    return frozenset(named)


def _address_of(list_id: str | None) -> str | None:
    """The address of a list by its id, as list servers make ids: `<dev.python.org>` is that of
    `dev@python.org`. Some give the address itself."""
    name = (list_id or "").strip("<>")
    return address_or_none(name if "@" in name else name.replace(".", "@", 1))
