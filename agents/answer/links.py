"""What leads out of an answer: nothing of a stranger's is a live image or link in it.

A model repeats what it has read. A markdown image of a stranger's loads from their host when the
answer is shown, with whatever the model wrote into the address; a link of theirs looks like
Remit's own. So whatever does not lead to a host that the user typed, an operator listed or a
provider named is written as plain text, with its host in it and no program making a link of it.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from guardrails.facts import links

# A link or image of markdown: `![text](https://a.b/c "title")`, or `[text](<https://a.b/c>)`.
INLINE = re.compile(
    r"!?\[(?P<text>[^\[\]]{0,500})\]\(\s*+<?(?P<to>[^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*)>?"
    r"(?:\s[^()]{0,500})?\)"
)
BY_REFERENCE = re.compile(r"!?\[(?P<text>(?!\d{1,3}\])[^\[\]]{1,500})\]\s?\[[^\[\]]{0,500}\]")
DEFINITION = re.compile(r"^[ \t]{0,3}\[(?P<name>[^\]\n]+)\]:\s*<?(?P<to>\S+)", re.MULTILINE)
TAG = re.compile(r"<(?=[a-z/!?])([^<>]*)>?", re.IGNORECASE)
WEB = re.compile(r"(?:https?|ftps?|wss?):[/\\]*([^\s/\\?#<>()\[\]\"'`|]*)", re.IGNORECASE)
SLASHES = re.compile(r"(^|[\s\"'(<=\[])[/\\]{2,}(?=[^/?#\s\"<>])")
SCHEME = re.compile(
    r"(?<![\w.+-])(data|javascript|vbscript|blob|cid|file|mailto|tel|sms):(?=\S)", re.IGNORECASE
)
OTHER_SCHEME = re.compile(
    r"(?<!http)(?<!https)(?<!ftp)(?<!ftps)(?<!ws)(?<!wss):[/\\]{2}", re.IGNORECASE
)
LONGEST = 1000  # characters that wait for the end of a link
DEAD_DOT = "[.]"
DOT = "\ue000"  # in its place while brackets still mean something
APART = {ord(one): f" {one} " for one in "./\\:()[]<>=@"}


class Cleaner:
    """Makes text of a model's fit for people and their frontends. What hosts are trusted is looked
    up only where the text leads anywhere."""

    def __init__(self, list_trusted: Callable[[], Collection[str]]) -> None:
        self._list_trusted = list_trusted

    def __call__(self, text: str) -> str:
        return deaden(text, self._list_trusted()) if leads_out(text, ()) else text


def split_ready(text: str) -> tuple[str, str]:
    """What of a text that is still being written can be cleaned and passed on, and the rest: a
    link that is not whole yet waits."""
    at = max(text.rfind(" "), text.rfind("\n")) + 1
    for opening, closing in (("[", "]"), ("<", ">"), ("(", ")")):
        began = text.rfind(opening, 0, at)
        if began >= 0 and closing not in text[began:at]:
            at = min(at, max(text.rfind(" ", 0, began), text.rfind("\n", 0, began)) + 1)
    return (text, "") if len(text) - at > LONGEST else (text[:at], text[at:])


def hosts_of(words: str) -> frozenset[str]:
    """The hosts that a text of the user's names."""
    return links.hosts(words) - {links.UNKNOWN}


def hosts_in_results(actions: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """Where the things are that the providers named when actions were carried out."""
    places = [
        str(place.get("url", ""))
        for action in actions
        for place in (action.get("result") or {}, *(action.get("artifacts") or ()))
        if isinstance(place, Mapping)
    ]
    return hosts_of(" ".join(places))


def leads_out(text: str, trusted: Collection[str]) -> bool:
    """Whether something in the text leads anywhere but to these hosts."""
    return not links.hosts(text) <= frozenset(trusted)


def deaden(text: str, trusted: Collection[str] = ()) -> str:
    """The text, in which whatever leads to another host than these is plain text. A link or image
    becomes its words with the host behind them."""
    if not leads_out(text, trusted):
        return text
    known = frozenset(trusted)
    dead = _deaden(text, known)
    if leads_out(dead, known):  # hidden in entities, or in other forms of letters
        dead = _deaden(links.unveiled(text), known)
    if leads_out(dead, known):  # nothing of it is a link then
        dead = _deaden(links.unveiled(text), frozenset())
        dead = dead.translate(APART)
    return dead


def deaden_all(value: Any) -> Any:
    """The same of every text in a value of JSON, with no host trusted."""
    if isinstance(value, str):
        return deaden(value)
    if isinstance(value, Mapping):
        return {name: deaden_all(one) for name, one in value.items()}
    return [deaden_all(one) for one in value] if isinstance(value, list | tuple) else value


def _deaden(text: str, known: frozenset[str]) -> str:
    found = TAG.sub(lambda tag: _tag(tag, known), text.replace(DOT, ""))
    for _ in range(3):  # an image may stand in the text of a link
        found = INLINE.sub(lambda link: _flat(link, known), found)
    found = BY_REFERENCE.sub(lambda link: link["text"], found)
    found = DEFINITION.sub(
        lambda one: one[0] if _is_known(one["to"], known) else f"{one['name']}: {one['to']}", found
    )
    found = WEB.sub(lambda web: web[0] if _is_known(web[0], known) else _dead(web[1]), found)
    found = SLASHES.sub(lambda one: one[1], found)
    found = links.BARE.sub(lambda bare: _bare(bare, known), found)
    found = links.NUMBERED.sub(lambda one: _dead(one[0]), found)
    found = OTHER_SCHEME.sub(": ", SCHEME.sub(r"\1: ", found))
    found = found.replace("url(", "url: (").replace("@import", "@ import")
    return found.replace(DOT, DEAD_DOT)


def _flat(link: re.Match[str], known: frozenset[str]) -> str:
    """A link as its words, with the host that it leads to."""
    if _is_known(link["to"], known):
        return link[0]
    hosts = sorted(links.hosts(link["to"]) - {links.UNKNOWN})
    where = f" ({_dead(hosts[0])})" if len(hosts) == 1 else ""
    return f"{link['text']}{where}"


def _tag(tag: re.Match[str], known: frozenset[str]) -> str:
    """A tag as text; `<https://…>` is a link of markdown."""
    return tag[0] if _is_known(tag[1], known) else f"({tag[1]})"


def _bare(bare: re.Match[str], known: frozenset[str]) -> str:
    host, ending, path = bare[1], bare[2], bare[3]
    leads = path or ending.casefold() in links.ENDINGS.split()
    return bare[0] if host.casefold() in known or not leads else _dead(bare[0])


def _is_known(address: str, known: frozenset[str]) -> bool:
    """Whether it is a plain web address at one of these hosts."""
    found = links.hosts(address)
    return bool(found) and found <= known and WEB.match(address) is not None


def _dead(host: str) -> str:
    """The host as people read it, and no program takes it."""
    return host.replace(".", DOT)
