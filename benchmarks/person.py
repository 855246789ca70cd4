"""Whose mailbox the folder of real mail is: the person, their mail, and where they want it."""

import email.utils
import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from benchmarks import corpus

OFTEN = 5  # mails of a sender on no list, before they have a label
TOPICS = ("label_newsletter", "label_invoices", "label_cold")


@dataclass(kw_only=True)
class Person:
    """Whose mailbox it is, and where their mail belongs by their own rule."""

    address: str
    often: frozenset[str]

    def topic_of(self, mail: dict[str, Any]) -> str | None:
        anchor = mail.get("list_id") or (mail["from"] if mail["from"] in self.often else "")
        if not anchor:
            return None
        return TOPICS[hashlib.sha256(anchor.encode()).digest()[0] % len(TOPICS)]


def load(most: int) -> tuple[list[dict[str, Any]], Person]:
    """The mails in the data service's shape, in the order of their dates, and their owner."""
    from integrations.mail.mail import parse, wire

    found: dict[str, dict[str, Any]] = {}
    for raw in _raws():
        mail = wire(parse(raw, fallback_date=corpus.READ).email)
        if not mail["from"]:  # the lists' archives write “name at host (Name)”
            name, address = email.utils.parseaddr(corpus._header(raw, b"from").replace(" at ", "@"))
            mail |= {"from": address, "from_name": name}
        mail |= {"authentication": {"spf": "pass", "dkim": "pass", "dmarc": "pass"}}
        if mail["from"] and len(json.dumps(mail)) < 100_000:
            found[mail["id"]] = mail | {"from": mail["from"].lower()}
    mails = sorted(found.values(), key=lambda one: (datetime.fromisoformat(one["date"]), one["id"]))
    threads: dict[str, list[dict[str, Any]]] = defaultdict(list)
    answered: Counter[str] = Counter()
    for mail in mails:
        before = threads[mail["thread_id"]]
        if before and before[-1]["from"] != mail["from"]:
            answered[mail["from"]] += 1
        before.append(mail)
    owner = answered.most_common(1)[0][0]
    chosen = choose(threads, owner, most)
    for mail in chosen:
        address_mail(mail, threads[mail["thread_id"]], owner)
    senders = Counter(one["from"] for one in chosen if not one.get("list_id"))
    often = {one for one, count in senders.items() if count >= OFTEN and one != owner}
    return chosen, Person(address=owner, often=frozenset(often))


def bytes_of(ids: Collection[str]) -> dict[str, bytes]:
    """The mails as they are in the folder, by the id that is made from their bytes."""
    found = {f"mail-{hashlib.sha256(raw).hexdigest()[:32]}": raw for raw in _raws()}
    return {id: found[id] for id in ids}


def _raws() -> Iterator[bytes]:
    for one in corpus.lines("mail"):
        raw = one["raw"].encode("latin-1")
        yield raw.partition(b"\n")[2] if raw.startswith(b"From ") else raw


def choose(threads: dict[str, list[dict[str, Any]]], owner: str, most: int) -> list[dict[str, Any]]:
    """So many mails in order of time: half of them in threads that the person wrote most in, the
    rest from the lists and senders that write most."""
    own = [one for one in threads.values() if any(mail["from"] == owner for mail in one)]
    others = [one for one in threads.values() if all(mail["from"] != owner for mail in one)]
    own.sort(key=lambda one: -sum(mail["from"] == owner for mail in one))
    volume: Counter[str] = Counter()
    for thread in others:
        volume[thread[0].get("list_id") or thread[0]["from"]] += len(thread)
    others.sort(key=lambda one: -volume[one[0].get("list_id") or one[0]["from"]])
    chosen: list[dict[str, Any]] = []
    for group, room in ((own, most // 2), (others, most)):
        for thread in group:
            if len(chosen) + len(thread) <= room:
                chosen += thread
    return sorted(chosen, key=lambda one: (datetime.fromisoformat(one["date"]), one["id"]))


def address_mail(mail: dict[str, Any], thread: Sequence[dict[str, Any]], owner: str) -> None:
    """Archives have no receivers: what is said to nobody is said to the person, and what they say
    to who wrote before them."""
    place = [one["id"] for one in thread].index(mail["id"])
    before = [one["from"] for one in thread[:place] if one["from"] != owner]
    if mail["from"] == owner:
        mail |= {"labels": ["SENT"], "to": before[-1:] or mail["to"], "list_id": None}
    elif any(one["from"] == owner for one in thread):
        mail |= {"to": [owner], "list_id": None}
    else:
        mail |= {"to": mail["to"] or [owner]}
