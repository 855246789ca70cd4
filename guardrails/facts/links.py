"""Where a text leads to, as programs that show it make links of it. Pure.

In doubt something is a link, and in doubt nobody knows where it leads: only a plain host name
in ASCII is known.
"""

import re
from collections.abc import Iterator

from guardrails.facts import targets
from guardrails.facts.text import LINE, is_hidden
from integrations.mail.text import normalised, unescaped

UNKNOWN = ""
# Browsers forgive any number of slashes, and take what stands before an @ for a user's name.
# What follows is looked at and not taken, because another link may begin in it; and only so far,
# because each of many may begin in the one before it.
AUTHORITY = r"[^/?#\s\"<>]"
MOST_AUTHORITY = 300  # characters; a host has 253 at most
WEB = re.compile(
    rf"(?:https?|ftps?|wss?):[/\\]*(?=({AUTHORITY}{{0,{MOST_AUTHORITY + 1}}}))", re.IGNORECASE
)
OTHER = re.compile(
    r"(?<![\w.+-])(?:data|javascript|vbscript|blob|cid|file|mailto|tel|sms):(?=\S)"
    r"|(?<!http)(?<!https)(?<!ftp)(?<!ftps)(?<!ws)(?<!wss):[/\\]{2}|url\s*\(|@import",
    re.IGNORECASE,
)
SLASHES = re.compile(rf"(?:^|[\s\"'(<=\[])[/\\]{{2}}(?=({AUTHORITY}{{1,{MOST_AUTHORITY + 1}}}))")
BARE = re.compile(
    r"(?<![\w@./\\+%-])((?:[\w-]+\.)+([^\W\d_]{2,63}))(?!\.?[\w@-])(?::\d+)?(/?)", re.IGNORECASE
)
NUMBERED = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?/")
# What markdown and HTML point at: inline, by reference, by attribute of a tag that is open.
POINTING = (
    re.compile(r"\]\(\s*(?:<\s*)?([^\s)>]+)"),
    re.compile(r"^\s{0,3}\[[^\]\n]+\]:\s*<?([^\s>]+)", re.MULTILINE),
)
TAG = re.compile(r"<[a-z]", re.IGNORECASE)
ATTRIBUTE = re.compile(
    r"[\s/\"'](?:href|src|srcset|background|action|formaction|poster|data|cite|ping)"
    r"\s*=\s*(?:[\"']\s*)?([^\s\"'>]+)",
    re.IGNORECASE,
)
WITH_HOST = re.compile(r"(?:(?:https?|ftps?|wss?):|[/\\]{2})", re.IGNORECASE)
# What follows a link in a sentence, and is no part of it.
AFTER = ".,;:!?)]}'*_~`”’"  # noqa: RUF001
# Endings of which programs make links by themselves. Others count with a path behind them,
# so that a file called notes.md is none.
ENDINGS = (
    "com org net edu gov mil int info biz io dev app co me ai xyz online site store shop tech "
    "cloud link click top live page web name pro blog news email support zone world life today "
    "agency digital systems services example ru cn eu uk us de fr nl se no dk fi it es pt ch at "
    "be ie in jp kr br ca au nz za mx ar cl pl cz hu ro gr tr ua il ae sa sg hk tw th vn id рф"
)


def hosts(text: str) -> frozenset[str]:
    """The host of every link and remote image in the text; `UNKNOWN` stands for each whose
    host is not plain. Empty: there are none."""
    plain = unveiled(text)
    found = {_plain(authority) for authority in WEB.findall(plain) + SLASHES.findall(plain)}
    found |= {
        _plain(host)
        for host, ending, path in BARE.findall(plain)
        if path or ending.casefold() in ENDINGS.split()
    }
    leads_on = any(
        not (destination.startswith("#") or WITH_HOST.match(destination))
        for destination in _destinations(plain)
    )
    if leads_on or OTHER.search(plain) or NUMBERED.search(plain):
        found.add(UNKNOWN)
    return frozenset(found)


def _destinations(plain: str) -> Iterator[str]:
    for pattern in POINTING:
        yield from pattern.findall(plain)
    for part in plain.split(">"):  # which ends every tag
        if opened := TAG.search(part):
            yield from ATTRIBUTE.findall(part, opened.end())


def unveiled(text: str) -> str:
    """The text as a program takes it: entities written out, other forms of letters and digits
    as the plain ones, and nothing that is hidden."""
    whole = unescaped(text)
    hidden = {ord(one): None for one in set(whole) if one not in LINE and is_hidden(one)}
    return normalised("NFKC", whole.translate(hidden)).replace("\u3002", ".")


def _plain(authority: str) -> str:
    """The host as it is compared, without its port."""
    if len(authority) > MOST_AUTHORITY:
        return UNKNOWN
    host = authority.partition("](")[0].rstrip(AFTER)
    host = re.sub(r":\d{1,5}\Z", "", host)
    try:
        return targets.domain(host)
    except ValueError:
        return UNKNOWN
